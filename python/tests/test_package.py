"""The package itself: what is tested is what was installed, and its types hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import ringlane as rl

ROOT = Path(__file__).resolve().parents[2]


def test_the_installed_package_is_tested_and_not_the_tree():
    assert ROOT not in Path(rl.__file__).resolve().parents or ".venv" in rl.__file__


def test_the_package_passes_mypy_strict(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport ringlane as rl\n\n"
        "k = rl.cc('void k(float *x, size_t n) {}', 'k', [rl.InOut('f32')])\n\n"
        "def program(o: rl.Orch, x: rl.Tensor) -> None:\n    with o.scope('s'):\n        o.submit(k, x.slice(0, 0, 2))\n\n"
        "run: rl.Run = rl.Runtime('cpu').run(program, np.zeros(4, np.float32))\nprint(run.critical_path().causes[0].share)\n"
    )
    # The package by its name: mypy does not take files of site-packages, where an installed one is.
    for checked in (["-p", "ringlane"], [str(program)]):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), *checked],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_error_that_the_package_raises_is_documented():
    documented = set(re.findall(r"`([A-Z][A-Za-z]+)`", (ROOT / "docs" / "errors.md").read_text()))
    raised = set()
    for path in Path(rl.__file__).parent.glob("*.py"):
        raised |= set(re.findall(r'make\(\s*"([A-Z]\w+)"', path.read_text()))
    assert raised and raised <= documented, raised - documented


def test_the_programs_of_the_guide_run(tmp_path):
    guide = (ROOT / "docs" / "from-python.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", guide, re.S)
    assert len(programs) >= 5
    text = "\n".join(programs)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page, which", [("docs/from-python.md", 0), ("docs/from-python.md", -1), ("README.md", 0)])
def test_a_program_that_a_page_says_to_paste_runs_alone(tmp_path, page, which):
    program = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)[which]
    (tmp_path / "test_pasted.py").write_text(program)
    pytest_too = ["-m", "pytest", "-q", "-p", "ringlane.pytest", "-p", "no:cacheprovider"] if "SceneTest" in program else []
    command = [sys.executable, *pytest_too, "test_pasted.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
