"""A pytest plugin for scenes: ``pytest -p ringlane.pytest``.

It collects classes that derive from :class:`ringlane.SceneTest` and runs each of their cases. It is opt-in, so that its options
collide with nothing. Each recorded case has its own directory, also under pytest-xdist.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .errors import Error
from .runs import Run
from .runtime import Record, Runtime
from .scenes import SceneTest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("ringlane")
    add = group.addoption
    add("--platform", action="append", metavar="NAME", help="the platform (repeatable): cpu (default), a2a3sim, a5sim, cuda; all: the first three")
    add("--case", action="append", metavar="NAME", help="only the cases of this name (repeatable)")
    add("--rounds", type=int, default=1, metavar="N", help="run each case N times; the last round is recorded")
    add("--rl-dfx", action="store_true", help="record with all instruments")
    add("--chip-swimlane", nargs="?", type=int, const=3, metavar="LEVEL", help="record the timeline (default level: 3)")
    add("--dump-tensor", nargs="?", const="@all", metavar="KERNEL,…", help="record the arguments of tasks")
    add("--pmu", nargs="?", type=int, const=0, metavar="GROUP", help="record hardware counters")
    add("--dep-gen", action="store_true", help="record the dependencies")
    add("--scope-stats", action="store_true", help="record how full the rings are")
    add("--runtime", choices=["tensormap_and_ringbuffer", "host_build_graph"], default="tensormap_and_ringbuffer", help="how the graph is built")
    add("--skip-golden", action="store_true", help="do not compare with the golden")
    add("--rl-threads", type=int, default=0, metavar="N", help="threads of the platform cpu (default: all cores)")
    add("--rl-output", default="outputs", metavar="DIR", help="where the directories of recorded cases are (default: outputs)")
    add("--rl-reference", metavar="DIR", help="the outputs of an earlier run: a failing case names the first task that differs from it")


def pytest_pycollect_makeitem(collector: pytest.Module | pytest.Class, name: str, obj: object) -> Any:
    """A scene is collected as its cases."""
    if isinstance(obj, type) and issubclass(obj, SceneTest) and obj is not SceneTest and name.startswith("Test"):
        return _SceneCases.from_parent(collector, name=name, scene=obj)
    return None


class _SceneCases(pytest.Collector):
    """The cases of a scene, on each platform."""

    def __init__(self, *, scene: type[SceneTest], **rest: Any) -> None:
        super().__init__(**rest)
        self.scene = scene

    def collect(self) -> Iterator[pytest.Item]:
        option = self.config.getoption
        platforms = option("--platform") or ["cpu"]
        platforms = ["cpu", "a2a3sim", "a5sim"] if "all" in platforms else platforms
        wanted = option("--case")
        for platform in platforms:
            for case in self.scene.cases:
                if not wanted or case in wanted:
                    yield _SceneCase.from_parent(self, name=f"{case}-{platform}", case=case, platform=platform)


class _WrongAnswer(Exception):
    """An array differs from the golden's."""


class _SceneCase(pytest.Item):
    """One case on one platform."""

    def __init__(self, *, case: str, platform: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.case, self.platform = case, platform
        self.dir: Path | None = None
        #: The name of its directory, before a number that makes it another one.
        self.base = ""

    def runtest(self) -> None:
        cases = self.parent
        assert isinstance(cases, _SceneCases)
        scene, params = cases.scene(), dict(cases.scene.cases[self.case])
        option = self.config.getoption
        threads = option("--rl-threads")
        with Runtime(self.platform, **{"threads": threads, **cases.scene.runtime}) as rt:
            rounds = max(option("--rounds"), 1)
            for number in range(rounds):
                inputs = scene.inputs(**params)
                given = {name: np.copy(array) for name, array in inputs.items()}
                self._run(rt, scene, given, params, recorded=number == rounds - 1)
                if not option("--skip-golden"):
                    self._compare(scene, inputs, given, params)

    def _run(self, rt: Runtime, scene: SceneTest, arrays: dict[str, Any], params: dict[str, Any], recorded: bool) -> None:
        def program(o: Any, tensors: dict[str, Any]) -> Any:
            return scene.orchestrate(o, tensors, **params)

        what: Record = _wanted(self.config) if recorded else None
        output = None
        if what:
            self.base = re.sub(r"[^\w.-]", "_", f"{type(scene).__name__}_{self.case}_{self.platform}")
            self.dir = output = _fresh(Path(self.config.getoption("--rl-output")), self.base)
        title = (type(scene).__name__, self.case)
        if self.config.getoption("--runtime") == "host_build_graph":
            rt.replay(rt.capture(program, arrays), arrays, record=what, output=output, title=title)
        else:
            rt.run(program, arrays, record=what, output=output, title=title)

    def _compare(self, scene: SceneTest, inputs: dict[str, Any], found: dict[str, Any], params: dict[str, Any]) -> None:
        golden = scene.golden(inputs, **params)
        wrong = [scene.compare(name, found[name], expected) for name, expected in golden.items()]
        if any(wrong):
            raise _WrongAnswer("\n".join(text for text in wrong if text))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        error = excinfo.value
        if not isinstance(error, (_WrongAnswer, Error)):
            return super().repr_failure(excinfo, style)
        lines = [str(error)]
        if self.dir is not None and self.dir.exists():
            lines.append(f"run directory: {self.dir}")
            lines += _first_difference(self.config.getoption("--rl-reference"), self.base, self.dir)
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"{self.parent.name if self.parent else ''}.{self.name}"


def _wanted(config: pytest.Config) -> dict[str, Any]:
    option = config.getoption
    wanted: dict[str, Any] = dict.fromkeys(("swimlane", "dump", "pmu", "deps", "scopes")) if option("--rl-dfx") else {}
    level = option("--chip-swimlane")
    if level == 0:
        wanted.pop("swimlane", None)
    elif level is not None:
        wanted["swimlane"] = level
    dump = option("--dump-tensor")
    if dump is not None:
        wanted["dump"] = None if dump == "@all" else dump.split(",")
    if option("--pmu") is not None:
        wanted["pmu"] = option("--pmu")
    if option("--dep-gen"):
        wanted["deps"] = None
    if option("--scope-stats"):
        wanted["scopes"] = None
    return wanted


def _numbered(outputs: Path, base: str) -> Iterator[Path]:
    """The directories of a case, in the order in which its runs create them."""
    return (outputs / (base if number == 1 else f"{base}_{number}") for number in itertools.count(1))


def _fresh(outputs: Path, base: str) -> Path:
    """A directory that no other case and no other process has: creating it decides who has it."""
    outputs.mkdir(parents=True, exist_ok=True)
    for path in _numbered(outputs, base):
        try:
            os.mkdir(path)
        except FileExistsError:
            continue
        return path
    raise AssertionError("there is always another number")


def _first_difference(reference: str | None, base: str, dir: Path) -> list[str]:
    """The first task that differs from the last other run of the case among the outputs `reference`."""
    if reference is None:
        return []
    numbered = itertools.takewhile(Path.exists, _numbered(Path(reference), base))
    there = [path for path in numbered if path.resolve() != dir.resolve()]
    other = there[-1] if there else Path(reference) / base
    try:
        found = _open(dir).first_difference(other)
    except Error as error:
        return [f"no comparison with {reference}: {error.name}: {error.detail}"]
    return [f"compared with {other}: {found or 'no captured value differs'}"]


def _open(dir: Path) -> Run:
    from . import runs

    return runs.open(dir)
