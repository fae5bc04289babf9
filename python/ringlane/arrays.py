"""Arrays of the caller on their way into a run: where they are, without copies."""

from __future__ import annotations

import array
import ctypes
import math
import mmap
from typing import Any

import numpy as np

from .dtypes import name_of
from .errors import make
from .params import long_name

#: Address, data type, lengths, strides in elements, whether tasks may write it, the array.
Lent = tuple[int, str, list[int], list[int], bool, np.ndarray[Any, Any]]


class Typed:
    """An array whose elements are of a type that NumPy does not have."""

    def __init__(self, array: Any, dtype: str) -> None:
        self.array, self.dtype = as_array(array), long_name(dtype)
        if self.array is None or np.dtype(self.array.dtype).itemsize != {"bf16": 2, "f8_e4m3": 1, "f8_e5m2": 1}.get(name_of(dtype), -1):
            raise _bad(array, f"as {dtype}", "an array of integers of the same size, as bf16, f8_e4m3 or f8_e5m2")


def typed(array: Any, dtype: str) -> Typed:
    """An array of ``uint16`` as bfloat16, or of ``uint8`` as an 8-bit float: NumPy does not have these types."""
    return Typed(array, dtype)


def _bad(value: Any, why: str, hint: str) -> Exception:
    return make("BadArray", "an array cannot be used where it is", f"{type(value).__name__}: {why}", hint)


#: Before 2.1, NumPy makes every array of DLPack read-only. The DLPack that it understands has no read-only arrays.
_KEEPS_WRITABLE = np.from_dlpack(np.zeros(1)).flags.writeable


class _Interface:
    """The memory of an array, to be written. It keeps the array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def _writable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(_Interface(array))


def as_array(value: Any) -> np.ndarray[Any, Any] | None:
    """The value as an array on the same memory; ``None`` if it is no array."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__"):
        try:
            array = np.from_dlpack(value)
            return array if _KEEPS_WRITABLE else _writable(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            hint = "an array in the memory of the host; tensor.detach() if it needs gradients; 16-bit floats of another kind by their bits:"
            raise _bad(value, str(error), hint + ' rl.typed(tensor.view(torch.uint16), "bf16")') from None
    if isinstance(value, (str, bytes, int, float, complex)):
        return None
    try:
        view = memoryview(value)
    except TypeError:
        return None
    return np.asarray(view)


def is_array(value: Any) -> bool:
    """Whether a value is lent to a run as an array."""
    if isinstance(value, (np.ndarray, Typed)) or hasattr(value, "__dlpack__"):
        return True
    return isinstance(value, (bytearray, memoryview, array.array, ctypes.Array, mmap.mmap))


def lend(value: Any) -> Lent:
    """The description of an array for the engine."""
    array = value.array if isinstance(value, Typed) else as_array(value)
    assert array is not None
    if isinstance(array, np.ma.MaskedArray):
        raise _bad(value, "kernels would not see its mask", "its values, array.data, or array.filled(value)")
    if array.dtype.hasobject or array.dtype.fields is not None or array.dtype.kind not in "biuf":
        raise _bad(value, f"its elements are {array.dtype}", "numbers: bool, integers, or floats of 16 to 64 bits")
    if not array.dtype.isnative:
        raise _bad(value, f"its elements are {array.dtype}, in the other byte order", "array.astype(array.dtype.newbyteorder('='))")
    dtype = value.dtype if isinstance(value, Typed) else long_name(array.dtype)
    if not array.flags.aligned:
        raise _bad(value, "its elements are not aligned", "a copy: array.copy()")
    if array.flags.c_contiguous:
        # NumPy's strides of dimensions of one element, and of empty arrays, may be anything.
        shape = list(array.shape) or [1]
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    else:
        shape, strides = list(array.shape), _strides(value, array)
    if any(length > 0xFFFFFFFF for length in shape) or any(stride > 0xFFFFFFFF for stride in strides):
        raise _bad(value, f"its shape is {array.shape}", "at most 2^32 - 1 elements along a dimension")
    return array.ctypes.data, dtype, shape, strides, bool(array.flags.writeable), array


def _strides(value: Any, array: np.ndarray[Any, Any]) -> list[int]:
    """The strides in elements."""
    strides = []
    for length, stride in zip(array.shape, array.strides):
        elements, odd = divmod(stride, array.itemsize)
        if length == 1:
            elements, odd = 1, 0
        if odd or elements < 0:
            raise _bad(value, f"a stride of {stride} bytes", "strides that are multiples of the element's size, not negative: array.copy()")
        if elements == 0 and array.flags.writeable:
            raise _bad(value, "elements repeat, and it is writable", "array.copy(); or, if it is only read, np.broadcast_to, which is read only")
        strides.append(elements)
    return strides
