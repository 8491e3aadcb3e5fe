"""The module under test is on the path: PYTHONPATH=build/release/python (scripts/test.sh)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import raddle

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def simulator():
    """One that no other test has added policies to."""
    return raddle.Simulator()


@pytest.fixture(scope="session")
def command():
    """Runs the program and gives its result JSON."""
    program = os.environ.get("RADDLE_PROGRAM", str(ROOT / "build/release/raddle"))
    if not os.access(program, os.X_OK):
        pytest.skip(f"{program} is not built")

    def run(*words):
        done = subprocess.run([program, *words, "--quiet", "--json", "-"], capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)

    return run
