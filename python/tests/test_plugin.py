"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import sys

import pytest
import ringlane as rl

SCENE = """
import numpy as np
import ringlane as rl

@rl.kernel
def double(x: rl.In, y: rl.Out):
    y[...] = 2 * x

@rl.kernel
def add(x: rl.In, y: rl.InOut):
    y += x {planted}

class TestDouble(rl.SceneTest):
    cases = {{f"n{{n}}": {{"n": n}} for n in range(1, 9)}}
    tolerance = 1e-6

    def inputs(self, n):
        return {{"x": np.arange(n, dtype=np.float32), "y": np.ones(n, np.float32)}}

    def orchestrate(self, o, t, n):
        d = o.submit(double, t["x"], rl.out("f32", n)).out()
        with o.scope("sum"):
            o.submit(add, d, t["y"])

    def golden(self, inputs, n):
        return {{"y": inputs["y"] + 2 * inputs["x"]}}
"""


def run(pytester: pytest.Pytester, planted: str, *options: str):
    pytester.makepyfile(test_double=SCENE.format(planted=planted))
    return pytester.run(sys.executable, "-m", "pytest", "-p", "ringlane.pytest", "-p", "no:cacheprovider", *options)


def test_eight_cases_in_four_processes_with_all_diagnostics(pytester):
    pytest.importorskip("xdist")
    result = run(pytester, "", "-n", "4", "--rl-dfx", "--rl-threads", "1")
    result.assert_outcomes(passed=8)
    dirs = sorted((pytester.path / "outputs").iterdir())
    assert len(dirs) == 8
    for dir in dirs:
        opened = rl.open(dir)
        assert opened.check().ok, (dir, opened.check())
        assert len(opened.blocks["start"]) == 2 and opened.manifest["scene"] == "TestDouble"


def test_a_wrong_kernel_gives_a_failure_that_names_the_task(pytester):
    options = ["--case", "n4", "--rl-dfx", "--rl-threads", "1"]
    run(pytester, "", *options, "--rl-output", "good").assert_outcomes(passed=1)
    for directory in ("TestDouble_n4_cpu", "TestDouble_n4_cpu_2"):
        result = run(pytester, "+ 1", *options, "--rl-reference", "good")
        result.assert_outcomes(failed=1)
        difference = "compared with good/TestDouble_n4_cpu: task * (add, *computed other outputs*"
        result.stdout.fnmatch_lines(["y: 4 of 4 values differ, the first at *", f"run directory: outputs/{directory}", difference])


def test_options_select_platforms_cases_rounds_and_ways_to_build_the_graph(pytester):
    result = run(pytester, "", "--platform", "all", "--case", "n1", "--case", "n8", "--rounds", "3", "--runtime", "host_build_graph")
    result.assert_outcomes(passed=6)
    assert not (pytester.path / "outputs").exists()
    result = run(pytester, "+ 1", "--case", "n2", "--skip-golden", "--dep-gen", "--chip-swimlane=1", "--scope-stats", "--dump-tensor=add", "--pmu")
    result.assert_outcomes(passed=1)
    (dir,) = (pytester.path / "outputs").iterdir()
    assert rl.open(dir).manifest["swimlane_level"] == 1
    assert len(set(rl.open(dir).dump["task_id"].tolist())) == 1


def test_a_kernel_that_raises_is_a_failure_with_its_error(pytester):
    result = run(pytester, "; raise KeyError('no key')", "--case", "n3")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*TaskFailed*", "*KeyError*no key*"])


def test_the_plugin_does_nothing_unless_it_is_asked_for(pytester):
    pytester.makepyfile(test_double=SCENE.format(planted=""))
    result = pytester.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--platform", "cpu")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*unrecognized arguments: --platform*"])
