"""What the elements of a tensor may be called in C: a pointer to elements of another size would read what is not there."""

from __future__ import annotations

import re

#: Families and sizes of C's own types. Other names, such as those of structs, can be anything.
_TYPES = {
    "float": "f4",
    "double": "f8",
    "_Float16": "f2",
    **dict.fromkeys(["bool", "_Bool", "char", "signed char", "unsigned char", "int8_t", "uint8_t"], "i1"),
    **dict.fromkeys(["short", "short int", "unsigned short", "unsigned short int", "int16_t", "uint16_t"], "i2"),
    **dict.fromkeys(["int", "signed", "unsigned", "signed int", "unsigned int", "int32_t", "uint32_t"], "i4"),
    **dict.fromkeys(["long", "long int", "unsigned long", "unsigned long int", "long long", "unsigned long long"], "i8"),
    **dict.fromkeys(["int64_t", "uint64_t", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"], "i8"),
}

#: What pointers to the elements of a type may point to, and its usual name.
_ELEMENTS = {
    "bool": (["i1"], "bool *"),
    "int8": (["i1"], "int8_t *"),
    "uint8": (["i1"], "uint8_t *"),
    "int16": (["i2"], "int16_t *"),
    "uint16": (["i2"], "uint16_t *"),
    "int32": (["i4"], "int32_t *"),
    "uint32": (["i4"], "uint32_t *"),
    "int64": (["i8"], "int64_t *"),
    "uint64": (["i8"], "uint64_t *"),
    "float16": (["f2", "i2"], "_Float16 *, or uint16_t * with its bits"),
    "bfloat16": (["i2"], "uint16_t * with its bits"),
    "float32": (["f4"], "float *"),
    "float64": (["f8"], "double *"),
    "float8_e4m3": (["i1"], "uint8_t * with its bits"),
    "float8_e5m2": (["i1"], "uint8_t * with its bits"),
}


def elements_differ(declared: str, dtype: str | None) -> str | None:
    """What a pointer to the elements of a type is declared as, if this declaration is of a pointer to something else."""
    if dtype is None:
        return None
    known, usual = _ELEMENTS[dtype]
    words = re.sub(r"\b(const|volatile|restrict|__restrict|__restrict__)\b", " ", declared)
    if words.count("*") > 1:
        return usual
    found = _TYPES.get(" ".join(words.replace("*", " ").split()))
    return usual if found is not None and found not in known else None
