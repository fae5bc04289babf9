"""Parameters of kernels: what a kernel takes, and what it does with it."""

from __future__ import annotations

from typing import Any

from .dtypes import _LONG, name_of
from .errors import make

_SHORT_TO_LONG = {short: long for long, short in _LONG.items()}


def long_name(dtype: Any) -> str:
    """The name of a data type in artifacts."""
    short = name_of(dtype)
    return _SHORT_TO_LONG.get(short, short)


class Param:
    """A parameter: its role, and what it accepts."""

    role = ""

    def __init__(self, dtype: Any = None, *, ndim: int | None = None, contiguous: bool = False) -> None:
        #: The data type; ``None`` accepts any.
        self.dtype = None if dtype is None else long_name(dtype)
        #: The number of dimensions; ``None`` accepts any.
        self.ndim = ndim
        if ndim is not None and not (isinstance(ndim, int) and 0 < ndim <= 8):
            raise make("BadKernel", "a kernel's declaration is not valid", f"a tensor of {ndim!r} dimensions", "ndim=1 to 8, or none for any")
        #: Whether the elements must be contiguous.
        self.contiguous = contiguous

    def declared(self, rest: bool = False) -> tuple[str, str | None, int | None, bool, bool]:
        return (self.role, self.dtype, self.ndim, self.contiguous, rest)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype or ''})"


class In(Param):
    """A tensor that is read."""

    role = "in"


class Out(Param):
    """A tensor that is overwritten."""

    role = "out"


class InOut(Param):
    """A tensor that is read and written."""

    role = "inout"


class Block(Param):
    """Takes no argument: the block's own index and the number of blocks, as a pair."""

    role = "block"


class Scalar(Param):
    """A value."""

    role = "scalar"

    def __init__(self, dtype: Any) -> None:
        super().__init__(dtype)


#: Values of these types.
i8, i16, i32, i64 = Scalar("i8"), Scalar("i16"), Scalar("i32"), Scalar("i64")
u8, u16, u32, u64 = Scalar("u8"), Scalar("u16"), Scalar("u32"), Scalar("u64")
f16, f32, f64 = Scalar("f16"), Scalar("f32"), Scalar("f64")
bool_ = Scalar("bool")

_PYTHON = {"float": f64, "int": i64, "bool": bool_, float: f64, int: i64, bool: bool_}


def param_of(annotation: Any) -> Param | None:
    """The parameter that an annotation describes: ``rl.In``, ``rl.In("f32")``, ``rl.f32``, ``float``, ``int`` or ``bool``."""
    if isinstance(annotation, Param):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, Param) and annotation is not Scalar:
        return annotation()
    return _PYTHON.get(annotation) if isinstance(annotation, (str, type)) else None
