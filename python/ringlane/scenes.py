"""Scenes as tests: a program, its cases and a known answer; see :mod:`ringlane.pytest`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

__all__ = ["SceneTest"]


class SceneTest:
    """A scene for the pytest plugin. Subclass it, name the class ``Test…`` and fill in what is below; each case is a test.

    ::

        class TestAxpy(rl.SceneTest):
            cases = {"small": {"n": 64}, "large": {"n": 1 << 20}}

            def inputs(self, n):
                return {"x": np.arange(n, dtype=np.float32), "y": np.ones(n, np.float32)}

            def orchestrate(self, o, t, n):
                o.submit(axpy, t["x"], t["y"], 2.0)

            def golden(self, inputs, n):
                return {"y": inputs["y"] + 2.0 * inputs["x"]}
    """

    #: The parameters of each case.
    cases: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}
    #: Options of :class:`ringlane.Runtime` for all cases.
    runtime: ClassVar[Mapping[str, Any]] = {}
    #: How far a value may be from the golden's, relative to the larger of 1 and the golden's.
    tolerance: ClassVar[float] = 0.0

    def inputs(self, **params: Any) -> dict[str, np.ndarray[Any, Any]]:
        """The arrays of a case, by name."""
        raise NotImplementedError

    def orchestrate(self, o: Any, tensors: dict[str, Any], **params: Any) -> Any:
        """Submits the tasks."""
        raise NotImplementedError

    def golden(self, inputs: dict[str, np.ndarray[Any, Any]], **params: Any) -> dict[str, np.ndarray[Any, Any]]:
        """What the arrays hold afterwards, computed by other code."""
        raise NotImplementedError

    def compare(self, name: str, found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> str | None:
        """What is wrong with an array, in words; ``None`` if nothing is."""
        expected = np.asarray(expected)
        if found.shape != expected.shape:
            return f"{name}: its shape is {found.shape}, not {expected.shape}"
        left, right = found.astype(np.float64), expected.astype(np.float64)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(left - right) <= self.tolerance * np.maximum(1.0, np.abs(right)))
        wrong &= ~((left == right) | (np.isnan(left) & np.isnan(right)))
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return None
        first = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape)) if wrong.shape else ()
        return f"{name}: {count} of {wrong.size} values differ, the first at {list(first)}: {found[first]} instead of {expected[first]}"
