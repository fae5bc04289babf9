"""Data types: their names, and what NumPy calls them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import make

#: Each name that is accepted, and the NumPy type of its arrays. NumPy has no bfloat16 and no 8-bit floats: kernels get the bits.
_NUMPY: dict[str, str] = {
    "bool": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "uint16",
    "f32": "float32",
    "f64": "float64",
    "f8_e4m3": "uint8",
    "f8_e5m2": "uint8",
}

#: The names that artifacts use.
_LONG = {
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "uint32": "u32",
    "int64": "i64",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3": "f8_e4m3",
    "float8_e5m2": "f8_e5m2",
}


def name_of(dtype: Any) -> str:
    """The short name of a data type, given by its short or long name, as a NumPy type or as a Python type."""
    if isinstance(dtype, str):
        short = _LONG.get(dtype, dtype)
        if short in _NUMPY:
            return short
    else:
        try:
            short = _LONG.get(np.dtype(dtype).name, np.dtype(dtype).name)
        except TypeError:
            short = ""
        if short in _NUMPY:
            return short
    known = ", ".join(_NUMPY)
    raise make("UnknownDType", "a data type is not known", f"{dtype!r}", f"one of {known}")


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy type of arrays of this data type."""
    return np.dtype(_NUMPY[name_of(dtype)])
