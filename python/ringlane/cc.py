"""Kernels in C, compiled by the system's compiler, and kernels by the address of a function.

For each kernel this module generates a function with one signature, which the runtime calls; it calls the kernel with the arguments
that the kernel's own signature asks for:

* one parameter for each tensor (a pointer to its first element) and for each value of the kernel, in order;
* anywhere between them, parameters of type ``size_t`` with these names, which take no argument: ``n`` (elements of the tensor before
  it), ``NAME_n`` (elements of tensor ``NAME``), ``NAME_dim0`` … ``NAME_dim7``, ``NAME_stride0`` … ``NAME_stride7`` (in elements),
  ``block`` and ``blocks``.

A tensor whose strides are not asked for must be contiguous.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import _ringlane
from ._ringlane import Kernel
from .elements import elements_differ
from .errors import make
from .kernels import Cost, bad_kernel
from .params import Param, Scalar, param_of

__all__ = ["Library", "cc", "function", "load"]

#: Options of every compilation. The optimisation keeps the bits of IEEE arithmetic.
OPTIONS = ("-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared", "-std=gnu11", "-fvisibility=hidden", "-w")

_PRELUDE = """#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
"""

_ARG = """
struct rl_arg { void *data; uint64_t bits; uint32_t lengths[8]; uint32_t strides[8]; };
"""

_C_TYPES = {
    "bool": "bool",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float16": "_Float16",
    "float32": "float",
    "float64": "double",
}


class _Given(NamedTuple):
    """A parameter of the C function: its name, and the expression that the generated function passes."""

    name: str
    expression: str


class _Signature(NamedTuple):
    declaration: str
    returns: str
    name: str
    parameters: list[tuple[str, str]]


_LOCK = threading.Lock()
_MADE: dict[Any, Kernel] = {}
_LIBRARIES: dict[str, ctypes.CDLL] = {}


def cc(
    source: str,
    name: str,
    params: Sequence[Any],
    *,
    core: str = "aiv",
    options: Sequence[str] = (),
    cost: Cost | None = None,
    cuda: str | None = None,
) -> Kernel:
    """Makes a kernel of a function in C. It runs without the interpreter's lock.

    ``source`` defines the function ``name``; ``params`` says what it does with each tensor and value, in order. The library is kept
    in ``~/.cache/ringlane`` (or ``$RINGLANE_CACHE``), by source, options and compiler. The same call returns the same kernel.
    """
    roles = _roles(name, params)
    key = ("cc", source, name, tuple(role.declared() for role in roles), core, tuple(options), cost, cuda)
    return _made(key, lambda: _compile(source, name, roles, core, options, cost, cuda))


def _made(key: Any, build: Any) -> Kernel:
    try:
        found = _MADE.get(key)
    except TypeError:  # A cost that cannot be hashed.
        return build()  # type: ignore[no-any-return]
    if found is not None:
        return found
    with _LOCK:
        if key not in _MADE:
            _MADE[key] = build()
        return _MADE[key]


def _compile(
    source: str, name: str, roles: list[Param], core: str, options: Sequence[str], cost: Cost | None, cuda: str | None
) -> Kernel:
    signature = _signature(source, name)
    wrapper, declared = _wrapper(signature, roles, name)
    text = f"{_PRELUDE}#line 1 \"{name}.c\"\n{source}\n#line 1 \"generated\"\n{_ARG}{wrapper}"
    library = _library(text, name, options)
    address = ctypes.cast(library.rl_generated, ctypes.c_void_p).value
    body = None if cuda is None else (cuda, [one for one, _ in signature.parameters if not _is_size(one, roles, signature)], f"{name}.c", 1)
    return _ringlane.Kernel(name, core, declared, address, _Source(signature.declaration), cost, body)


def function(
    address: Any, declaration: str, params: Sequence[Any], *, core: str = "aiv", cost: Cost | None = None, keep: Any = None
) -> Kernel:
    """Makes a kernel of a function that exists: its address, or a function of ctypes, of cffi, or a ``cfunc`` of numba.

    ``declaration`` is its declaration in C, for example ``"void scale(const float *x, float *y, size_t n, float a)"``, by the rules
    of :func:`cc`. The function is kept, and so is ``keep``.
    """
    value = _address(address)
    signature = _declared(declaration)
    roles = _roles(signature.name, params)
    wrapper, declared = _wrapper(signature, roles, signature.name, call="((rl_function)rl_target)")
    types = ", ".join(f"{kind} {one}" for one, kind in signature.parameters) or "void"
    text = (
        f"{_PRELUDE}typedef {signature.returns} (*rl_function)({types});\n"
        f"__attribute__((visibility(\"default\"))) void *volatile rl_target;\n{_ARG}{wrapper}"
    )
    # A library for each function: the address is in it. The loader gives the same one for the same file, so the file is copied.
    library = _library(text, signature.name, (), copy=True)
    ctypes.c_void_p.in_dll(library, "rl_target").value = value
    _KEPT.append((address, keep))
    generated = ctypes.cast(library.rl_generated, ctypes.c_void_p).value
    return _ringlane.Kernel(signature.name, core, declared, generated, _Source(declaration), cost, None)


_KEPT: list[Any] = []


class Library:
    """The functions of a shared library, as kernels."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._library = ctypes.CDLL(os.fspath(self.path.resolve()))
        except OSError as error:
            raise make("CannotLoad", "a shared library cannot be loaded", str(error), "check the path and what it depends on") from None

    def kernel(self, declaration: str, params: Sequence[Any], *, core: str = "aiv", cost: Cost | None = None) -> Kernel:
        """A kernel of one of its functions; see :func:`function`."""
        signature = _declared(declaration)
        roles = _roles(signature.name, params)
        key = (str(self.path.resolve()), declaration, tuple(role.declared() for role in roles), core, cost)
        return _made(key, lambda: function(self._symbol(signature.name), declaration, params, core=core, cost=cost, keep=self))

    def _symbol(self, name: str) -> Any:
        try:
            return getattr(self._library, name)
        except AttributeError:
            detail = f"{name} in {self.path}"
            raise make("NoSuchSymbol", "a shared library does not have this function", detail, "nm -D lists what it has") from None

    def __repr__(self) -> str:
        return f"<ringlane.Library {str(self.path)!r}>"


def load(path: str | os.PathLike[str]) -> Library:
    """Loads a shared library, whose functions can then be kernels: ``rl.load("libmine.so").kernel("void scale(…)", […])``."""
    return Library(path)


class _Source:
    """Takes the place of the Python function of a kernel that has none."""

    def __init__(self, declaration: str) -> None:
        self.declaration = declaration

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise make("NotCallable", "a kernel in C is called outside of a run", self.declaration, "submit it: o.submit(kernel, …)")


def _roles(name: str, params: Sequence[Any]) -> list[Param]:
    if not isinstance(params, Sequence) or isinstance(params, (str, bytes)):
        raise bad_kernel(name, f"`params` is {params!r}", 'a list: [rl.In("f32"), rl.f32]')
    roles = [param_of(param) for param in params]
    for role in roles:
        if role is None or (role.dtype is None and role.role != "block"):
            raise bad_kernel(name, f"parameter {params[roles.index(role)]!r}", 'rl.In("f32"), rl.Out("f32"), rl.InOut("f32"), rl.f32, …')
    return [role for role in roles if role is not None]


#: What a definition does not consist of: comments, and lines of the preprocessor, which a backslash continues.
_NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)


def _signature(source: str, name: str | None) -> _Signature:
    if not isinstance(source, str):
        raise bad_kernel(name or "function", f"its source is {type(source).__name__}", "a str")
    text = _NO_CODE.sub(" ", source)
    pattern = r"([A-Za-z_][\w\s\*]*?)\b" + (re.escape(name) if name else r"([A-Za-z_]\w*)") + r"\s*\(([^()]*)\)\s*[{;]"
    found = re.search(pattern, text)
    if found is None:
        raise bad_kernel(name or "function", f"there is no definition of it in {source[:80]!r}", "void NAME(const float *x, size_t n) { … }")
    returns = re.sub(r"\b(static|inline|extern)\b", " ", found.group(1)).strip()
    own = name or found.group(2)
    if returns not in ("void", "int"):
        raise bad_kernel(own, f"it returns {returns!r}", "void, or int: another value than 0 fails the task")
    inside = found.group(found.lastindex or 1).strip()
    parameters = []
    for one in [] if inside in ("", "void") else inside.split(","):
        parts = re.fullmatch(r"\s*(.*?[\s\*])([A-Za-z_]\w*)\s*(\[\s*\w*\s*\])?\s*", one, re.S)
        if parts is None:
            raise bad_kernel(own, f"parameter {one.strip()!r}", "a type and a name")
        kind = re.sub(r"\s+", " ", parts.group(1)).strip() + (" *" if parts.group(3) else "")
        parameters.append((parts.group(2), kind))
    return _Signature(f"{returns} {own}({inside})", returns, own, parameters)


def _declared(declaration: str) -> _Signature:
    return _signature(f"{declaration.rstrip().rstrip(';')};" if isinstance(declaration, str) else declaration, None)


_SIZE = re.compile(r"(?:(?P<of>\w+?)_)?(?:(?P<n>n)|dim(?P<dim>[0-7])|stride(?P<stride>[0-7]))")


def _tensor_names(signature: _Signature) -> list[str]:
    return [name for name, kind in signature.parameters if "*" in kind]


def _is_size(name: str, roles: list[Param], signature: _Signature) -> bool:
    if name in ("n", "block", "blocks"):
        return True
    found = _SIZE.fullmatch(name)
    return found is not None and found.group("of") in _tensor_names(signature)


def _wrapper(signature: _Signature, roles: list[Param], name: str, call: str | None = None) -> tuple[str, list[Any]]:
    tensors = _tensor_names(signature)
    takers = [role for role in roles if role.role != "block"]
    places: dict[str, int] = {}
    expressions, at, last = [], 0, None
    for own, kind in signature.parameters:
        if "*" not in kind and _is_size(own, roles, signature):
            continue
        if at >= len(takers):
            raise bad_kernel(name, f"{own} has no entry in `params`", "one entry for each pointer and each value of the function")
        role, is_pointer = takers[at], "*" in kind
        if is_pointer == isinstance(role, Scalar):
            raise bad_kernel(name, f"{own} is declared as {kind!r}, and as {role!r} in `params`", "a pointer for each tensor")
        wrong = elements_differ(kind, role.dtype) if is_pointer else None
        if wrong:
            raise bad_kernel(name, f"{own} is declared as {kind!r}, and as {role.dtype} in `params`", f"{wrong} for {role.dtype}")
        if is_pointer and role.role != "in" and re.search(r"\bconst\b", kind):
            raise bad_kernel(name, f"{own} is written, but declared as {kind!r}", "without const")
        places[own] = at
        at += 1
    if at != len(takers):
        raise bad_kernel(name, f"`params` has {len(takers)} entries, the function takes {at}", "one entry for each pointer and each value")
    strided: set[str] = set()
    for own, kind in signature.parameters:
        if own in places:
            place, role = places[own], takers[places[own]]
            if isinstance(role, Scalar):
                kind_c = _C_TYPES.get(role.dtype or "")
                if kind_c is None:
                    raise bad_kernel(name, f"{own}: values of type {role.dtype} in C", "pass it in a tensor")
                expressions.append(f"(*(const {kind_c} *)&a[{place}].bits)")
            else:
                expressions.append(f"({kind})a[{place}].data")
                last = own
            continue
        if own in ("block", "blocks"):
            expressions.append(own)
            continue
        found = _SIZE.fullmatch(own)
        tensor = (found.group("of") if found else None) or last
        if found is None or tensor is None or tensor not in tensors:
            raise bad_kernel(name, f"{own}: there is no tensor before it", "n after a pointer, or NAME_n")
        place = places[tensor]
        if found.group("n"):
            expressions.append(f"(size_t)a[{place}].bits")
        elif found.group("dim"):
            expressions.append(f"(size_t)a[{place}].lengths[{found.group('dim')}]")
        else:
            strided.add(tensor)
            expressions.append(f"(size_t)a[{place}].strides[{found.group('stride')}]")
    declared: list[tuple[str, Any]] = []
    for role in roles:
        entry = list(role.declared())
        if role.role in ("in", "out", "inout"):
            own = next(own for own, place in places.items() if takers[place] is role and own not in {d[0] for d in declared})
            entry[3] = entry[3] or own not in strided
            declared.append((own, tuple(entry)))
        else:
            declared.append(("", tuple(entry)))
    called = f"{call or signature.name}({', '.join(expressions)})"
    body = f"return {called};" if signature.returns == "int" else f"{called}; return 0;"
    text = (
        "__attribute__((visibility(\"default\"))) int rl_generated(const struct rl_arg *a, uint32_t block, uint32_t blocks) "
        f"{{ (void)a; (void)block; (void)blocks; {body} }}\n"
    )
    return text, [entry for _, entry in declared]


def _address(given: Any) -> int:
    value: Any = given
    if hasattr(given, "address") and isinstance(given.address, int):  # numba
        value = given.address
    elif isinstance(given, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        value = ctypes.cast(given, ctypes.c_void_p).value
    elif type(given).__module__.split(".")[0] in ("_cffi_backend", "cffi"):
        import cffi  # type: ignore[import-not-found,import-untyped,unused-ignore]

        value = int(cffi.FFI().cast("uintptr_t", given))
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 1 << 63:
        raise bad_kernel("function", f"{given!r} is not the address of a function", "an int, or a function of ctypes, cffi or numba")
    return value


# The compiler, and the libraries that it made.


@cache
def _compiler() -> tuple[str, str]:
    """The compiler and what identifies it: its path, size and time."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for name in names:
        path = shutil.which(name)
        if path is not None:
            real = os.path.realpath(path)
            stat = os.stat(real)
            return path, f"{real} {stat.st_size} {stat.st_mtime_ns} {_processor()}"
    detail = f"none of {', '.join(names)} is in PATH"
    raise make("NoCompiler", "there is no C compiler", detail, "install gcc or clang, or set CC")


def _processor() -> str:
    """What the compiler's code may use of this processor."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return ""


def _cache_dir() -> Path:
    own = os.environ.get("RINGLANE_CACHE")
    base = Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ringlane"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    return base


def _library(text: str, name: str, options: Sequence[str], copy: bool = False) -> ctypes.CDLL:
    compiler, identity = _compiler()
    key = hashlib.sha256("\0".join([identity, *OPTIONS, *options, text]).encode()).hexdigest()[:32]
    path = _cache_dir() / f"{key}.so"
    if not path.exists():
        _build(compiler, text, name, options, path)
    if copy:
        with tempfile.TemporaryDirectory() as place:
            own = shutil.copy(path, Path(place) / path.name)
            return ctypes.CDLL(os.fspath(own))
    found = _LIBRARIES.get(key)
    if found is None:
        try:
            found = _LIBRARIES[key] = ctypes.CDLL(os.fspath(path))
        except OSError as error:
            hint = "define every function that it calls, or name its library: options=[\"-lNAME\"]"
            raise make("CannotLoad", "a shared library cannot be loaded", f"{name}: {error}", hint) from None
    return found


def _build(compiler: str, text: str, name: str, options: Sequence[str], path: Path) -> None:
    # Built beside and moved: another process that builds the same sees none of it or all of it.
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        source, made = Path(place) / f"{name}.c", Path(place) / "made.so"
        source.write_text(text)
        command = [compiler, *OPTIONS, *options, "-o", str(made), str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            detail = f"{name}: {done.stderr.strip()}"
            raise make("CannotCompile", "a kernel in C does not compile", detail, "lines are those of the source that was passed")
        os.replace(made, path)


