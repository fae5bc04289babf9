"""Ringlane: a task-graph runtime for many-core accelerators with built-in observability.

Kernels are functions on arrays, in Python or in C; an orchestration submits them one after another, and Ringlane runs what is
independent in parallel, with exactly the results of sequential execution. ``docs/from-python.md`` is the guide.
"""

from . import answers, errors
from ._ringlane import Graph, Kernel, Task, Tensor
from .arrays import typed
from .cc import Library, cc, function, load
from .errors import Error
from .kernels import kernel
from .params import Block, In, InOut, Out, bool_, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from .runs import Run, open
from .runtime import Orch, Runtime, out, param
from .scenes import SceneTest

__version__ = "0.1.0"

__all__ = [
    "Block", "Error", "Graph", "In", "InOut", "Kernel", "Library", "Orch", "Out", "Run", "Runtime", "SceneTest", "Task", "Tensor",
    "answers", "bool_", "cc", "errors", "f16", "f32", "f64", "function", "i16", "i32", "i64", "i8", "kernel", "load", "open", "out",
    "param", "typed", "u16", "u32", "u64", "u8",
]
