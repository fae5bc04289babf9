"""The runtime: runs orchestrations on a platform."""

from __future__ import annotations

import atexit
import inspect
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from . import _ringlane, arrays
from ._ringlane import Graph, Output, Parameter, Task, Tensor
from .arrays import Lent
from .errors import Error, make
from .params import long_name
from .runs import Run, open

__all__ = ["Orch", "Runtime", "out", "param"]

R = TypeVar("R")

#: The flags of ``record``: names, and bits of ``dfx_flags``.
_FLAGS = {"swimlane": 0b111, "dump": 1 << 3, "pmu": 1 << 4, "deps": 1 << 5, "scopes": 1 << 6}
#: What ``record=True`` and ``output=…`` alone record: everything but the data of tasks.
_REPORTED = ("swimlane", "pmu", "deps", "scopes")

#: What ``record`` accepts: ``"all"``, a name, several, or a dict with the swimlane's level, the kernels to dump, the group of counters.
Record = bool | str | Sequence[str] | Mapping[str, Any] | None


def out(dtype: Any, shape: int | Sequence[int]) -> Output:
    """A tensor that the task makes: it is ``o.submit(…).out(0)`` afterwards, and its kernel overwrites it."""
    return Output(long_name(dtype), shape)


def _bad_value(detail: str, hint: str) -> Exception:
    return make("BadValue", "an option has a value that is not allowed", detail, hint)


def param(name: str, value: float) -> Parameter:
    """A value that a captured graph knows by this name: ``graph.set(name, …)`` changes it before a replay."""
    return Parameter(name, value)


class Orch:
    """What an orchestration submits tasks with. It is passed to the program, and can be used until the program returns."""

    __slots__ = ("_orch", "submit", "submit_many", "barrier", "advance_time")

    def __init__(self, orch: _ringlane.Orch) -> None:
        self._orch = orch
        #: ``submit(kernel, *args, after=None, blocks=None, label=None, dump=None)`` submits a task.
        self.submit = orch.submit
        #: ``submit_many(kernel, calls)`` submits one task for each tuple of arguments, with less overhead for each.
        self.submit_many = orch.submit_many
        #: A task that follows all before it in this scope and precedes all after it.
        self.barrier = orch.barrier
        #: The orchestration's own work takes this many ticks of a modelled chip.
        self.advance_time = orch.advance_time

    @contextmanager
    def scope(self, label: str | None = None) -> Iterator[None]:
        """A scope: what is made in it is given back after it, and handles of it are stale then."""
        self._orch.begin_scope(label)
        try:
            yield
        except BaseException:
            # The error of the program counts, not what its scope's end makes of it.
            try:
                self._orch.end_scope()
            except Exception:
                pass
            raise
        self._orch.end_scope()

    def alloc(self, dtype: Any, shape: int | Sequence[int]) -> Tensor:
        """A tensor, all zero, that lives as long as this scope."""
        return self._orch.alloc(long_name(dtype), shape)

    def upload(self, array: Any) -> Tensor:
        """A tensor with the values of an array, which are copied. It lives as long as this scope."""
        try:
            values = np.ascontiguousarray(array)
        except ValueError as error:
            raise make("BadArray", "an array cannot be used where it is", str(error), "rows of the same length") from None
        _, dtype, shape, *_ = arrays.lend(values)
        return self._orch.upload_bytes(dtype, shape, values.tobytes())

    def read(self, tensor: Tensor) -> np.ndarray[Any, Any]:
        """Waits for the tasks that write a tensor, and returns a copy of its values."""
        if not isinstance(tensor, Tensor):
            raise make("NotATensor", "a tensor is needed", f"o.read({tensor!r})", "a tensor of this run; of a task: task.out(0)")
        return self._orch.read(tensor)


class Runtime:
    """Runs orchestrations on a platform: ``cpu``, ``a2a3sim``, ``a5sim`` or ``cuda``.

    ``threads`` are those of ``cpu``; ``ring_heap``, ``ring_task_window``, ``ring_dep_pool`` and ``ring_args`` are one number for all
    rings or four; ``policy``, ``chip_file`` and ``chaos`` are for modelled chips. Zero is the default everywhere.
    """

    def __init__(
        self,
        platform: str = "cpu",
        *,
        threads: int = 0,
        seed: int = 0,
        block_dim: int = 0,
        scheduler_threads: int = 0,
        ring_heap: int | Sequence[int] = 0,
        ring_task_window: int | Sequence[int] = 0,
        ring_dep_pool: int | Sequence[int] = 0,
        ring_args: int | Sequence[int] = 0,
        tensormap: int = 0,
        overflow: str = "block",
        policy: str | None = None,
        chip_file: str | os.PathLike[str] | None = None,
        chaos: int | None = None,
    ) -> None:
        config = {
            "threads": threads,
            "seed": seed,
            "block_dim": block_dim,
            "scheduler_threads": scheduler_threads,
            "ring_heap": ring_heap,
            "ring_task_window": ring_task_window,
            "ring_dep_pool": ring_dep_pool,
            "ring_args": ring_args,
            "tensormap": tensormap,
            "overflow": overflow,
        }
        if not isinstance(platform, str):
            raise _bad_value(f"platform: {platform!r}", "the name of a platform, such as cpu or a2a3sim")
        chip = None if chip_file is None else os.fspath(chip_file)
        options = {"policy": policy, "chip_file": chip, "chaos": chaos}
        chosen = {name: value for name, value in options.items() if value is not None}
        if chosen and platform in ("cpu", "cuda"):
            detail = f"{', '.join(chosen)} with the platform {platform}, which is not a modelled chip"
            hint = "use a2a3sim or a5sim, or leave it out"
            raise make("OnlyOnSimulators", "an option applies only to simulators", detail, hint)
        try:
            self._runtime = _ringlane.Runtime(platform, config, chosen)
        except (OverflowError, TypeError, ValueError) as error:
            raise _bad_value(str(error), "whole numbers, not negative; four of them where rings have their own") from None
        self._platform = platform
        _LIVE.add(self)
        #: The last run, also if it failed or was interrupted.
        self.last: Run | None = None

    @property
    def platform(self) -> str:
        """The platform."""
        return self._platform

    @property
    def threads(self) -> int:
        """The number of threads; of a modelled chip, its control threads."""
        return self._runtime.threads

    def close(self) -> None:
        """Ends its threads and gives its memory back. ``with rl.Runtime(…) as rt:`` does it at the end."""
        self._runtime.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ringlane.Runtime on {self._platform}>"

    def run(
        self,
        program: Callable[..., Any],
        *args: Any,
        record: Record = None,
        output: str | os.PathLike[str] | None = None,
        title: tuple[str, str] | None = None,
    ) -> Run:
        """Calls ``program(o, *args)`` and waits until all tasks are done.

        Arrays among ``args``, also those in lists, tuples and dicts, arrive as tensors on the same memory: nothing is copied, and
        afterwards the arrays hold the results. Everything else is passed as it is. ``result`` of the run is what the program returned.

        ``record`` is ``"all"``, or names of instruments (``swimlane``, ``dump``, ``pmu``, ``deps``, ``scopes``), or a dict such as
        ``{"swimlane": 1, "dump": ["scale"]}``; ``output`` is the directory, which must not contain a run.
        """
        lender = _Lender()
        called = _orchestration(program, [lender.replace(arg) for arg in args])
        name = getattr(program, "__name__", "program")
        recorded = _recorded(record, output, title or (name, "run"))
        return self._ended(*self._runtime.run(called, lender.lent, recorded))

    def scene(
        self,
        name: str,
        case: str | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        record: Record = None,
        output: str | os.PathLike[str] | None = None,
    ) -> Run:
        """Runs a scene that comes with Ringlane, as ``ringlane run`` does. ``result`` of the run is ``None``, or what differs from the
        scene's known answer."""
        given = [(key, str(value)) for key, value in (params or {}).items()]
        recorded = _recorded(record, output, (name, case or "run"))
        return self._ended(*self._runtime.scene(name, case, given, recorded))

    def capture(self, program: Callable[..., Any], *args: Any, memory_limit: int | None = None) -> Graph:
        """Captures ``program(o, *args)`` as a graph: it is checked and its memory is planned, but nothing runs. Values cannot be read
        in it."""
        lender = _Lender()
        called = _orchestration(program, [lender.replace(arg) for arg in args])
        return self._runtime.capture(called, lender.lent, memory_limit)

    def replay(
        self,
        graph: Graph,
        *args: Any,
        record: Record = None,
        output: str | os.PathLike[str] | None = None,
        title: tuple[str, str] | None = None,
    ) -> Run:
        """Runs a captured graph on arrays of the same types and shapes as those of the capture."""
        lender = _Lender()
        for arg in args:
            lender.replace(arg)
        recorded = _recorded(record, output, title or ("graph", "replay"))
        return self._ended(*self._runtime.replay(graph, lender.lent, recorded))

    def _ended(self, value: Any, error: BaseException | None, totals: dict[str, Any], dir: str | None) -> Run:
        try:
            self.last = Run(totals, None, value) if dir is None else open(dir)
            self.last.result = value
        except Exception:
            # A disk that is full, say: what went wrong before that counts.
            self.last = Run(totals, None, value)
            if error is None:
                raise
        if error is not None:
            raise error
        return self.last


#: Runtimes that were not closed: their threads must end before the interpreter does.
_LIVE: weakref.WeakSet[Runtime] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for runtime in list(_LIVE):
        try:
            runtime.close()
        except Error:  # A thread of the program, which ends with the interpreter, is in a run.
            pass


class _Lent:
    """Takes the place of an array among the arguments of a program."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class _Lender:
    """Collects the arrays among arguments. One array that is passed twice is one tensor."""

    def __init__(self) -> None:
        self.lent: list[Lent] = []
        self._known: dict[Any, int] = {}

    def replace(self, value: Any) -> Any:
        if arrays.is_array(value):
            lent = arrays.lend(value)
            key = (lent[0], lent[1], tuple(lent[2]), tuple(lent[3]))
            index = self._known.setdefault(key, len(self.lent))
            if index == len(self.lent):
                self.lent.append(lent)
            return _Lent(index)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self.replace(one) for one in value])
        if isinstance(value, (list, tuple)):
            return type(value)(self.replace(one) for one in value)
        if type(value) is dict:
            return {key: self.replace(one) for key, one in value.items()}
        return value


def _orchestration(program: Callable[..., Any], replaced: list[Any]) -> Callable[[_ringlane.Orch, list[Tensor]], Any]:
    """What the runtime calls: the program, with tensors in the places of its arrays."""
    if inspect.isgeneratorfunction(program) or inspect.isasyncgenfunction(program) or inspect.iscoroutinefunction(program):
        name = getattr(program, "__name__", "program")
        detail = f"{name!r} contains yield or is async: a call of it executes none of its lines"
        hint = "a plain function: submits do not wait, and o.read waits by itself"
        raise make("NotAnOrchestration", "the program cannot be run", detail, hint)

    def called(orch: _ringlane.Orch, tensors: list[Tensor]) -> Any:
        return program(Orch(orch), *[_restore(arg, tensors) for arg in replaced])

    return called


def _restore(value: Any, tensors: list[Tensor]) -> Any:
    if isinstance(value, _Lent):
        return tensors[value.index]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_restore(one, tensors) for one in value])
    if isinstance(value, (list, tuple)):
        return type(value)(_restore(one, tensors) for one in value)
    if type(value) is dict:
        return {key: _restore(one, tensors) for key, one in value.items()}
    return value


#: The directory, the flags, the group of counters, the kernels to dump, the title.
_Recorded = tuple[str, int, int, list[str] | None, tuple[str, str]]


def _recorded(record: Record, output: str | os.PathLike[str] | None, title: tuple[str, str]) -> _Recorded | None:
    if record is None and output is None or record is False:
        return None
    wanted: dict[str, Any] = {}
    if record is None or record is True:
        wanted = dict.fromkeys(_REPORTED)
    elif record == "all":
        wanted = dict.fromkeys(_FLAGS)
    elif isinstance(record, str):
        wanted = {record: None}
    elif isinstance(record, Mapping):
        wanted = dict(record)
    elif isinstance(record, (list, tuple, set, frozenset)):
        wanted = dict.fromkeys(record)
    else:
        raise _bad_value(f"record: {record!r}", f"all, a name, a list of names, or a dict; names: {', '.join(_FLAGS)}")
    flags, group, kernels = 0, 0, None
    for name, value in wanted.items():
        if name not in _FLAGS:
            raise _bad_value(f"record: {name!r}", f"all, {', '.join(_FLAGS)}")
        flags |= _FLAGS[name]
        if name == "swimlane" and value is not None:
            if value not in (1, 2, 3):
                raise _bad_value(f"record: swimlane level {value!r}", "1, 2 or 3")
            flags = flags & ~0b111 | (1 << value) - 1
        elif name == "pmu" and value is not None:
            if not isinstance(value, int):
                raise _bad_value(f"record: pmu group {value!r}", "the number of a group of counters: 1 to 5")
            group = value
        elif name == "dump" and value is not None:
            kernels = [value] if isinstance(value, str) else list(value)
            kernels = [] if kernels == ["@marked"] else kernels
    dir = _fresh(title) if output is None else os.fspath(output)
    return dir, flags, group, kernels, title


def _fresh(title: tuple[str, str]) -> str:
    """A directory below ``outputs/`` that is not there yet."""
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d_%H%M%S")
    base = Path("outputs") / f"{title[0]}_{stamp}"
    number = 1
    while base.exists():
        number += 1
        base = base.with_name(f"{title[0]}_{stamp}_{number}")
    return str(base)
