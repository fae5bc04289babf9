"""What insight says about a recorded run, as dataclasses: the same answers as those of the commands and of the page."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class CauseTime:
    """The part of the critical path that has one cause."""

    cause: str
    ticks: int
    share: float
    segments: int


@dataclass(frozen=True)
class Segment:
    """A stretch of the critical path with one cause."""

    start: int
    end: int
    cause: str
    task_id: int | None = None
    core: int | None = None
    kernel: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class Chain:
    """The longest chain of dependent tasks: a lower bound of the makespan with unlimited cores."""

    ticks: int
    tasks: list[int]


@dataclass(frozen=True)
class CriticalPath:
    """Where the time goes, from the first submit to the last completion."""

    makespan_ticks: int
    clock_freq_hz: int
    causes: list[CauseTime]
    segments: list[Segment] = field(repr=False)
    longest_chain: Chain = field(repr=False)


@dataclass(frozen=True)
class Parts:
    """Shares of time: computing, and idle because of the scheduler, the orchestrator or dependencies."""

    busy: float
    scheduler: float
    orchestrator: float
    dependencies: float


@dataclass(frozen=True)
class KindTime:
    """How the cores of one kind spent their time."""

    kind: str
    cores: int
    core_time: Parts
    instants: Parts


@dataclass(frozen=True)
class AroundBlocks:
    """How long blocks waited in one stretch of their life, in microseconds."""

    stretch: str
    mean_us: float
    p50_us: float
    p95_us: float
    max_us: float


@dataclass(frozen=True)
class Overhead:
    """How the cores of a run spent their time."""

    makespan_ticks: int
    makespan_us: float
    kinds: list[KindTime]
    around_blocks: list[AroundBlocks]
    threads: list[dict[str, Any]] = field(repr=False)


@dataclass(frozen=True)
class Verdict:
    """What limits a run."""

    limit: str
    kind: str
    cause: str
    share: float
    sentence: str
    observation: str
    remedy: str
    memory_share: float | None = None
    replay_error: float | None = None


@dataclass(frozen=True)
class Finding:
    """Something that the page says about a run, and where to look."""

    severity: str
    weight: float
    text: str
    target: Any = None


@dataclass(frozen=True)
class Baseline:
    """The unchanged replay of a run against its recording."""

    recorded_us: float
    replayed_us: float
    error: float


@dataclass(frozen=True)
class Remedy:
    """What a change means for the program."""

    subject: str
    words: str
    lifts: str


@dataclass(frozen=True)
class Outcome:
    """One experiment: the replay with a change."""

    name: str
    makespan_us: float
    gain: float
    remedy: Remedy | None = None


@dataclass(frozen=True)
class WhatIf:
    """What changes of a run would gain, largest gain first."""

    baseline: Baseline
    bound_us: float
    bound_gain: float
    limit: str | None
    sentence: str
    experiments: list[Outcome]
    notes: list[str]

    @property
    def makespan_us(self) -> float:
        """The makespan of the first experiment."""
        return self.experiments[0].makespan_us

    @property
    def gain(self) -> float:
        """The gain of the first experiment: 0.25 if the run would be a quarter shorter."""
        return self.experiments[0].gain


@dataclass(frozen=True)
class Broken:
    """Something that cannot be true of a run's files, or is missing from them."""

    file: str
    what: str


@dataclass(frozen=True)
class Check:
    """Whether the files of a run are consistent."""

    held: int
    broken: list[Broken]
    incomplete: list[Broken]

    @property
    def ok(self) -> bool:
        """Whether nothing is broken and nothing is missing."""
        return not self.broken and not self.incomplete


def build(cls: type[T], data: Any) -> T:
    """Makes an answer from the JSON of the engine. Fields that the dataclass does not have are left out."""
    hints = typing.get_type_hints(cls)
    fields = {one.name for one in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: _value(hints[name], value) for name, value in data.items() if name in fields})


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is list and dataclasses.is_dataclass(arguments[0]):
        return [build(typing.cast(type, arguments[0]), one) for one in value]
    for candidate in (hint, *arguments):
        if dataclasses.is_dataclass(candidate) and isinstance(candidate, type) and isinstance(value, dict):
            return build(candidate, value)
    return value
