#!/usr/bin/env python3
"""Compiles a generated program with NVRTC, without a GPU: to a cubin for sm_90 and to PTX for compute_90.

    cargo run -p ringlane-chip-cuda --example source -- gpu > program.cu
    tests/nvrtc/check.py program.cu

NVRTC comes from PyPI. The check fails if the program does not compile, or if its PTX has a non-coherent load
(ld.global.nc): such a load can be stale in a kernel that does not end. `ringlane kernels -p cuda` reports the registers
and the spills of each kernel.
"""

import argparse
import ctypes
import pathlib
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

    options = [*OPTIONS, "--gpu-architecture=sm_90"]
    cubin, log = nvrtc.compile(source.encode(), args.source.name, options, "CUBIN")
    if cubin is None:
        sys.exit(f"{log}\nerror: {args.source} does not assemble for sm_90")
    print(f"{args.source}: {len(ptx):,} bytes of PTX, {len(cubin):,} bytes for sm_90")
    if stale:
        sys.exit("\n".join(stale) + f"\nerror: {len(stale)} non-coherent loads, which can be stale")


if __name__ == "__main__":
    main()
