#!/usr/bin/env python3
"""Compiles a generated program with NVRTC, without a GPU: to a cubin for sm_90 and to PTX for compute_90.

    cargo run -p ringlane-chip-cuda --example source -- gpu > program.cu
    tests/nvrtc/check.py program.cu

NVRTC comes from PyPI. The check fails if the program does not compile, or if its PTX has a non-coherent load
(ld.global.nc): such a load can be stale in a kernel that does not end. It reports the registers, the stack and the
spills of each function.
"""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGE = "nvidia-cuda-nvrtc==13.0.*"
OPTIONS = ["--std=c++17"]


def library(folder):
    """The path of libnvrtc in a folder, installed there if it is missing."""
    found = sorted(folder.rglob("libnvrtc.so.*"))
    if not found:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), PACKAGE]
        subprocess.run(pip, check=True)
        found = sorted(folder.rglob("libnvrtc.so.*"))
    if not found:
        sys.exit(f"error: {PACKAGE} has no libnvrtc in {folder}")
    return found[0]


class Nvrtc:
    """The functions of libnvrtc that a compilation needs."""

    def __init__(self, path):
        # libnvrtc opens its builtins by name, without a path.
        for builtins in path.parent.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(str(path))
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name, *args):
        code = getattr(self.lib, name)(*args)
        if code:
            sys.exit(f"error: {name}: {self.lib.nvrtcGetErrorString(code).decode()}")

    def text(self, program, what):
        """An output of a compilation, such as "PTX" or "CUBIN"."""
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, data)
        return data.raw

    def compile(self, source, name, options, what):
        """The output of a compilation, or None, and its log."""
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), source, name.encode(), 0, None, None)
        words = [option.encode() for option in options]
        failed = self.lib.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        log = self.text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
        output = None if failed else self.text(program, what)
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return output, log


def with_entries(source, kernels):
    """The program with an entry for each kernel: the assembler reports the registers of entries only."""
    entry = 'extern "C" __global__ void rl_entry_{0}(rl_args a) {{ rl_kernel_{0}(a); }}\n'
    return source + "".join(entry.format(number) for number in kernels)


def report(log, kernels):
    """Prints a table of the kernels from the log of the assembler, and the lines that say something else."""
    registers, frames, rest, function = {}, {}, [], None
    for line in log.splitlines():
        if start := re.search(r"(?:Compiling entry function|Function properties for) '?(\w+)", line):
            number = re.search(r"rl_(?:kernel|entry)_(\d+)", start[1])
            function = kernels[number[1]] if number else start[1]
        elif frame := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            # Of a kernel, its entry comes first.
            frames[function] = frame.groups()
        elif used := re.search(r"Used (\d+) registers", line):
            registers[function] = used[1]
        elif line.strip() and not re.search(r"Compile time|bytes gmem", line):
            rest.append(line)
    print(f"  {'kernel':16}{'registers':>10}{'stack':>8}{'spill stores':>14}{'spill loads':>13}")
    for name in [*kernels.values(), "rl_main"]:
        stack, stores, loads = frames[name]
        print(f"  {name:16}{registers[name]:>10}{stack:>8}{stores:>14}{loads:>13}")
    for line in rest:
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path, help="the program")
    parser.add_argument("--nvrtc", type=pathlib.Path, help="folder with NVRTC; installed there if it is missing")
    parser.add_argument("--ptx", type=pathlib.Path, help="where to store the PTX")
    args = parser.parse_args()
    folder = args.nvrtc or pathlib.Path(tempfile.gettempdir()) / "ringlane-nvrtc"
    nvrtc, source = Nvrtc(library(folder)), args.source.read_text()

    ptx, log = nvrtc.compile(source.encode(), args.source.name, [*OPTIONS, "--gpu-architecture=compute_90"], "PTX")
    if ptx is None:
        sys.exit(f"{log}\nerror: {args.source} does not compile")
    if log:
        print(log)
    if args.ptx:
        args.ptx.write_bytes(ptx.rstrip(b"\0"))
    stale = [line.strip() for line in ptx.decode().splitlines() if "ld.global.nc" in line]

    kernels = dict(re.findall(r"case (\d+): .*// (.*)", source))
    options = [*OPTIONS, "--gpu-architecture=sm_90", "--ptxas-options=-v"]
    whole = with_entries(source, kernels).encode()
    cubin, log = nvrtc.compile(whole, args.source.name, options, "CUBIN")
    if cubin is None:
        sys.exit(f"{log}\nerror: {args.source} does not assemble for sm_90")
    print(f"{args.source}: {len(ptx):,} bytes of PTX; assembles for sm_90")
    report(log, kernels)
    if stale:
        sys.exit("\n".join(stale) + f"\nerror: {len(stale)} non-coherent loads, which can be stale")


if __name__ == "__main__":
    main()
