"""Kernels that are Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, overload

from . import _ringlane
from ._ringlane import Kernel
from .errors import make
from .params import param_of

__all__ = ["Kernel", "kernel"]

#: Seconds of a block on a modelled chip, or a function of shapes and values that returns them.
Cost = float | Callable[..., float]


def bad_kernel(name: str, detail: str, hint: str) -> Exception:
    """The error of a kernel whose declaration is not valid."""
    return make("BadKernel", "a kernel's declaration is not valid", f"{name!r}: {detail}", hint)


@overload
def kernel(function: Callable[..., None], /) -> Kernel: ...
@overload
def kernel(
    *, core: str = ..., name: str | None = ..., params: Sequence[Any] | None = ..., cost: Cost | None = ..., cuda: str | None = ...
) -> Callable[[Callable[..., None]], Kernel]: ...


def kernel(
    function: Callable[..., None] | None = None,
    /,
    *,
    core: str = "aiv",
    name: str | None = None,
    params: Sequence[Any] | None = None,
    cost: Cost | None = None,
    cuda: str | None = None,
) -> Kernel | Callable[[Callable[..., None]], Kernel]:
    """Makes a kernel of a Python function.

    Its annotations say what it does with each parameter: ``rl.In``, ``rl.Out`` and ``rl.InOut`` for tensors, ``float``, ``int``,
    ``bool`` or ``rl.f32`` and the like for values, ``rl.Block`` for the block's own index. ``*parts: rl.In`` takes any number.
    Tensors arrive as NumPy arrays on the runtime's own memory; the function writes its results there and returns ``None``.
    It must not keep the arrays.

    ``cost`` is for modelled chips: seconds of a block, or a function that takes the shapes of the tensors and then the values.
    ``cuda`` is a body in CUDA C++ for the platform ``cuda``.
    """

    def make_one(function: Callable[..., None]) -> Kernel:
        own = str(name or getattr(function, "__name__", "kernel"))
        try:
            found = inspect.signature(function).parameters
        except (TypeError, ValueError) as error:
            raise bad_kernel(own, str(error), "a Python function; for others, one that calls it") from None
        annotations = list(params) if params is not None else list(_annotations(function, found))
        if len(annotations) != len(found):
            raise bad_kernel(own, f"{len(found)} parameters, but `params` has {len(annotations)}", "one for each parameter")
        declared = []
        for parameter, annotation in zip(found.values(), annotations):
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                raise bad_kernel(own, f"{parameter.name} is given by name", "arguments of a task are given by position")
            role = param_of(annotation)
            if role is None:
                hint = "annotate it: rl.In, rl.Out, rl.InOut for tensors; float, int, bool, rl.f32, … for values; rl.Block"
                given = "has no annotation" if annotation is parameter.empty else f"is annotated as {annotation!r}"
                raise bad_kernel(own, f"parameter {parameter.name} {given}", hint)
            declared.append(role.declared(parameter.kind == parameter.VAR_POSITIONAL))
        source = getattr(function, "__code__", None)
        place = (getattr(source, "co_filename", "<python>"), getattr(source, "co_firstlineno", 0))
        body = None if cuda is None else (cuda, list(found), *place)
        return _ringlane.Kernel(own, core, declared, function, function, cost, body)

    return make_one if function is None else make_one(function)


def _annotations(function: Callable[..., None], found: Any) -> Any:
    try:
        resolved = inspect.get_annotations(function, eval_str=True)
    except (NameError, AttributeError, SyntaxError, TypeError):
        resolved = {}
    for name, parameter in found.items():
        yield resolved.get(name, parameter.annotation)


