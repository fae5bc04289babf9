"""Recorded runs: tables as NumPy columns, and the answers of insight."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import _ringlane, answers, notebook
from .dtypes import numpy_dtype
from .errors import make

__all__ = ["Run", "Table", "open"]

#: A table: its columns by name. ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` accept it.
Table = dict[str, np.ndarray[Any, Any]]

#: The path of a run directory.
Path_ = str | os.PathLike[str]


class Run:
    """One run: how it ended and, if it was recorded, its tables and what insight says about them.

    Columns of numbers are ``int64``; -1 is a number that is absent. Columns of text have an empty text where there is none.
    Times are ticks: divide by ``clock_freq_hz`` to get seconds.
    """

    def __init__(self, manifest: Mapping[str, Any], dir: Path | None = None, result: Any = None) -> None:
        self._manifest = dict(manifest)
        #: The run directory; ``None`` if the run was not recorded.
        self.dir = dir
        #: What the orchestration returned.
        self.result = result

    def __repr__(self) -> str:
        where = "" if self.dir is None else f", {str(self.dir)!r}"
        return f"<ringlane.Run {self.platform} {self.status}: {self.tasks_submitted} tasks, {self.makespan * 1e6:.1f} µs{where}>"

    def _repr_html_(self) -> str:
        return notebook.of_run(self)

    @property
    def manifest(self) -> dict[str, Any]:
        """What ``run.json`` says; of a run that was not recorded, only its totals."""
        return self._manifest

    @property
    def status(self) -> str:
        """``ok``, ``failed``, ``fatal`` or ``interrupted``."""
        return str(self._manifest["status"])

    @property
    def platform(self) -> str:
        """The platform."""
        return str(self._manifest["platform"])

    @property
    def makespan(self) -> float:
        """Seconds from the start of the orchestration to the last completion; virtual time on a modelled chip."""
        return self.makespan_ticks / max(self.clock_freq_hz, 1)

    @property
    def makespan_ticks(self) -> int:
        """The same in ticks of the chip's clock."""
        return int(self._manifest["makespan_ticks"])

    @property
    def clock_freq_hz(self) -> int:
        """Ticks in a second."""
        return int(self._manifest["clock_freq_hz"])

    @property
    def tasks_submitted(self) -> int:
        """Tasks submitted, those without a kernel included."""
        return int(self._manifest["tasks"])

    # Tables.

    @cached_property
    def _swimlane(self) -> dict[str, Table]:
        return self._tables("swimlane")

    @cached_property
    def deps(self) -> dict[str, Table]:
        """The graph: the tables ``tasks``, ``args``, ``tensors``, ``edges`` and ``buffers`` of ``deps.json``."""
        return self._tables("deps")

    @cached_property
    def _scopes(self) -> dict[str, Table]:
        return self._tables("scopes")

    @cached_property
    def _dump(self) -> dict[str, Table]:
        return self._tables("dump")

    @cached_property
    def _dist(self) -> dict[str, Table]:
        return self._tables("dist")

    def _tables(self, instrument: str) -> dict[str, Table]:
        return _ringlane.tables(self._recorded(), instrument)

    @property
    def blocks(self) -> Table:
        """Every block that ran: when, and on which core."""
        return self._swimlane["blocks"]

    @property
    def tasks(self) -> Table:
        """The life of every task (swimlane level 2)."""
        return self._swimlane["tasks"]

    @property
    def edges(self) -> Table:
        """Edges that the engine wired (swimlane level 2); ``deps["edges"]`` has all of them with their causes."""
        return self._swimlane["edges"]

    @property
    def phases(self) -> Table:
        """What schedulers did (swimlane level 3)."""
        return self._swimlane["phases"]

    @property
    def submits(self) -> Table:
        """What each submit took (swimlane level 3)."""
        return self._swimlane["submits"]

    @property
    def copies(self) -> Table:
        """Copies between host and device."""
        return self._swimlane["copies"]

    @property
    def launches(self) -> Table:
        """Batches of tasks, on chips that take tasks in batches."""
        return self._swimlane["launches"]

    @property
    def kernels(self) -> Table:
        """The kernels of the run."""
        return self._swimlane["kernels"]

    @property
    def scopes(self) -> Table:
        """How full the rings were in each scope, and what it needs."""
        return self._scopes["scopes"]

    @property
    def stalls(self) -> Table:
        """What submits waited for, by scope."""
        return self._scopes["stalls"]

    @cached_property
    def pmu(self) -> Table:
        """What the hardware counted during each block."""
        return self._tables("pmu")["pmu"]

    @property
    def dump(self) -> Table:
        """Captured arguments, one row each; :meth:`captured` gives the values of one."""
        return self._dump["records"]

    @property
    def calls(self) -> Table:
        """Calls of worker processes."""
        return self._dist["calls"]

    def captured(self, record: int) -> np.ndarray[Any, Any]:
        """The values of one row of :attr:`dump`, as an array. A type that NumPy does not have is given as integers of its size."""
        rows = self.dump
        if not 0 <= record < len(rows["task_id"]) or rows["kind"][record] != "tensor":
            tensors = int(np.count_nonzero(rows["kind"] == "tensor"))
            raise IndexError(f"record {record} is not a captured tensor; there are {tensors}")
        dtype, shape = numpy_dtype(str(rows["dtype"][record])), tuple(rows["shape"][record])
        path = os.path.join(self._recorded(), "tensor_dump", "tensor_dump.bin")
        size = int(rows["bin_size"][record])
        values = np.fromfile(path, dtype, size // dtype.itemsize, offset=int(rows["bin_offset"][record]))
        return values.reshape(shape) if values.size == np.prod(shape, dtype=np.int64) else values

    # Answers.

    def critical_path(self) -> answers.CriticalPath:
        """Where the time goes. Needs the swimlane at level 2 or 3."""
        return answers.build(answers.CriticalPath, self._answer("critical_path"))

    def overhead(self) -> answers.Overhead:
        """How the cores spent their time. Needs the swimlane at level 2 or 3."""
        return answers.build(answers.Overhead, self._answer("overhead"))

    def verdict(self) -> answers.Verdict | None:
        """What limits the run; ``None`` if no block ran. Needs the swimlane at level 2 or 3."""
        found = self._answer("verdict")
        return None if found is None else answers.build(answers.Verdict, found)

    def findings(self) -> list[answers.Finding]:
        """The findings at the top of the page, most important first."""
        return [answers.build(answers.Finding, one) for one in self._answer("findings")]

    def what_if(
        self,
        *,
        kernel: Mapping[str, float | str] | None = None,
        submit: float | None = None,
        copies: float | None = None,
        scheduler: float | None = None,
        schedulers: int | None = None,
        cores: Mapping[str, int] | None = None,
        memory: float | None = None,
        policy: str | None = None,
        runtime: str | None = None,
        drop_edges: Sequence[str] = (),
    ) -> answers.WhatIf:
        """Replays the run in virtual time with these changes, made together; without a change, ranks about thirty of them.

        ``kernel={"scale": 0.5}`` makes the blocks of a kernel take half of their time, ``{"scale": "3us"}`` this time;
        ``submit``, ``copies``, ``scheduler`` and ``memory`` (its bandwidth) are factors; ``cores={"aic": 36, "aiv": 72}``,
        ``{"threads": 16}`` or ``{"sms": 264}``.
        Needs the swimlane at level 3 and the dependencies.
        """
        changes: list[tuple[str, str]] = []
        for name, time in (kernel or {}).items():
            changes.append(("kernel", f"{name}={time if isinstance(time, str) else _factor(time)}"))
        factors = (("submit", submit), ("copies", copies), ("scheduler", scheduler), ("memory", memory))
        changes += [(key, _factor(value)) for key, value in factors if value is not None]
        if schedulers is not None:
            changes.append(("schedulers", str(schedulers)))
        if cores is not None:
            changes.append(("cores", ",".join(f"{kind}={count}" for kind, count in cores.items())))
        changes += [(key, value) for key, value in (("policy", policy), ("runtime", runtime)) if value is not None]
        changes += [("drop-edges", edges) for edges in drop_edges]
        if not changes:
            found = self._answer("gains")
            if "unknown" in found:
                none = found["unknown"]
                raise make(none["name"], "the gains of changes are not known", none["reason"], none["hint"])
            return answers.build(answers.WhatIf, found["known"])
        return answers.build(answers.WhatIf, json.loads(_ringlane.what_if(self._recorded(), changes)))

    def check(self) -> answers.Check:
        """Whether the files are consistent, as in ``ringlane check``; the runs of workers are checked too."""
        held, broken, incomplete = _ringlane.checked(self._recorded())
        listed = [[answers.Broken(*one) for one in found] for found in (broken, incomplete)]
        return answers.Check(held, *listed)

    def report(self) -> Path:
        """Writes the page of the run, ``report.html`` in its directory, and returns its path."""
        return Path(_ringlane.write_report(self._recorded()))

    def first_difference(self, reference: Run | Path_) -> str | None:
        """The first task, in submission order, that computed another value than in a run of the same program; ``None`` if there
        is none. Both runs must have a dump."""
        other = reference if isinstance(reference, Run) else open(reference)
        return _ringlane.first_difference(self._recorded(), other._recorded())

    def _answer(self, question: str) -> Any:
        return json.loads(_ringlane.answer(self._recorded(), question))

    def _recorded(self) -> str:
        if self.dir is None:
            raise make(
                "NotRecorded",
                "the run does not have this table",
                "the run was not recorded",
                'rt.run(program, …, record="all", output="outputs/mine")',
            )
        return str(self.dir)


def _factor(value: float) -> str:
    return f"{float(value)!r}x"


def open(path: Path_) -> Run:
    """Opens a run directory, or the one that a file is in: a run of this package, of the command ``ringlane`` or of any program."""
    text = os.fspath(path)
    manifest = json.loads(_ringlane.manifest(text))
    dir = Path(text)
    return Run(manifest, dir.parent if dir.is_file() else dir)
