"""What the tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import ringlane as rl

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))


@pytest.fixture(params=["cpu", "a2a3sim", "a5sim"])
def rt(request: pytest.FixtureRequest):
    """A runtime on each platform."""
    with rl.Runtime(request.param, threads=2 if request.param == "cpu" else 0) as runtime:
        yield runtime


@pytest.fixture
def cpu():
    """A runtime on two threads."""
    with rl.Runtime("cpu", threads=2) as runtime:
        yield runtime
