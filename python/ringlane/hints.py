"""Hints of the engine, which name what a program in Rust has, in the words of this package."""

from __future__ import annotations

import re

#: What to do about an error, by its name. Other hints are as the engine gives them.
_HINTS = {
    "ArgKind": "`rl.In`, `rl.Out` and `rl.InOut` take tensors: arrays that `rt.run` was given, `rl.out(…)`, `o.upload(array)`; "
    "`float`, `rl.f32`, … take numbers",
    "ArgRank": "reshape the tensor, or declare the parameter without `ndim`",
    "BadMark": "`dump=[…]` counts the arguments of this submit from 0",
    "BadSplit": "split a tensor along one of its axes, which are counted from 0",
    "ForeignHandle": "read the tensor in its own run, and pass the array to the other one",
    "NoReplay": "use `rt.run`",
    "NoThread": "use fewer threads (`rl.Runtime(threads=N)`), or raise the limit (`ulimit -u`)",
    "NotContiguous": "declare the parameter without `contiguous=True`; a kernel in C asks for the strides (NAME_stride0); or copy the array",
    "PlatformNotAvailable": 'run on "cpu", which every machine has',
    "ReadInCapture": "a captured graph has no values yet: use `rt.run`, or leave the read out",
    "ReadOnly": "pass an array that is writable, or a copy of this one",
    "UnsplitWrite": "pass `tensor.split(axis)`, so that each block writes its own part",
}

#: Source lines of the extension module, which say nothing about the program.
_SITE = re.compile(r"^crates/python/src/\w+\.rs:\d+: |, (?:submitted|scope) at crates/python/src/\w+\.rs:\d+")
_SETTING = re.compile(r"`CallConfig::(?:default\(\)\.)?with_(\w+)\((?:\[(\d+); 4\]|([^`]*))\)`")
_CHIP = re.compile(r"`spec::builtin_text(?:\(\"(\w+)\"\))?`")
_SCOPE = re.compile(r"put `o\.scope\(.*\)\?` around the body of the loop that submits at .*?(?=;|$)")


def in_python(name: str, hint: str) -> str:
    """The hint of an error in the words of this package."""
    found = _HINTS.get(name)
    if found is not None:
        return found
    hint = _SETTING.sub(lambda option: f"`rl.Runtime({option[1]}={option[2] or option[3]})`", hint)
    hint = _CHIP.sub(lambda chip: f"what `ringlane chips show {chip[1] or 'a2a3sim'}` prints", hint)
    hint = _SCOPE.sub("put the body of the loop that submits into `with o.scope():`", hint)
    return hint.replace("`.inout()`", "`rl.InOut`").replace("`param(", "`rl.param(").replace("`with_threads`", "`threads`")


def without_sites(detail: str) -> str:
    """The detail of an error without the source lines of the extension module."""
    return _SITE.sub("", detail)
