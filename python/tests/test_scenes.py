"""The scenes in Python against those in Rust: the same bits and the same graph."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest
import ringlane as rl

from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SCENES = ["vector", "heat", "paged_attention"]
CASES = [(name, case) for name in SCENES for case in importlib.import_module(name).CASES]


@pytest.mark.parametrize("platform", ["cpu", "a2a3sim", "a5sim"])
@pytest.mark.parametrize("name, case", CASES)
def test_a_scene_in_python_is_the_scene_in_rust(tmp_path, name, case, platform):
    scene = importlib.import_module(name)
    params = scene.CASES[case]
    arrays = scene.inputs(0, **params)
    golden = scene.golden(arrays, **params)
    with rl.Runtime(platform, threads=2 if platform == "cpu" else 0) as rt:
        rust = rt.scene(name, case, record=["dump", "deps"], output=tmp_path / "rust")
        python = rt.run(lambda o, t: scene.orchestrate(o, t, **params), arrays, record=["dump", "deps"], output=tmp_path / "python")
    assert rust.result is None
    for key, expected in golden.items():
        tolerance = 2e-5 if name == "paged_attention" else 0
        assert np.abs(arrays[key].astype(np.float64) - expected).max() <= tolerance
    # Every captured argument of every task, before and after, bit for bit.
    assert python.first_difference(rust) is None
    assert _checksums(python) == _checksums(rust) != {}
    assert _graph(tmp_path / "python") == _graph(tmp_path / "rust")


def _checksums(run):
    """The checksum of each captured argument. The order of the records follows the schedule, which costs of kernels decide."""
    dump = run.dump
    keys = zip(dump["task_id"], dump["arg_index"], dump["stage"])
    return dict(zip(keys, zip(dump["crc32"], dump["scalar"])))


def _graph(dir):
    """deps.json without the source lines: these are of one program in Rust and of another in Python."""
    deps = json.loads((dir / "deps.json").read_text())

    def strip(value):
        if isinstance(value, dict):
            return {key: strip(one) for key, one in value.items() if key != "site"}
        return [strip(one) for one in value] if isinstance(value, list) else value

    return strip(deps)


@pytest.mark.parametrize("name", SCENES)
def test_an_example_is_a_program(name):
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<ringlane.Run cpu ok")
