"""The engine's tests pass where the extensions and the teams are not there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENGINE = (
    "nodes",
    "planning",
    "limits",
    "proof",
    "recovery",
    "security",
    "human",
    "checks",
    "models",
)
PROGRAM = """
import os, sys
sys.path[:] = [os.getcwd(), *(p for p in sys.path if os.path.realpath(p) != sys.argv[1])]
import pytest
sys.exit(pytest.main(sys.argv[2:]))
"""


def test_the_engines_tests_pass_without_extensions_and_teams(tmp_path: Path):
    house = tmp_path / "house"
    for name in ("examples", "graph", "nodes", "supervisor_worker", "tests"):
        shutil.copytree(ROOT / name, house / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("state.py", "pyproject.toml"):
        shutil.copy(ROOT / name, house / name)
    tests = [*(f"tests/unit/{name}" for name in ENGINE), "tests/integration/test_graph.py"]

    options = ["-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile", "quick"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(ROOT), *options, *tests],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert not (house / "extensions").exists() and not (house / "teams").exists()
