"""The engine's tests pass where the extensions and the teams are not there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENGINE = ("nodes", "planning", "limits", "proof", "recovery", "security", "human", "checks")
PROGRAM = """
import os, sys
sys.path[:] = [os.getcwd(), *(p for p in sys.path if os.path.realpath(p) != sys.argv[1])]
import pytest
options, tests = sys.argv[3:-1], sys.argv[-1].split()
sys.exit(pytest.main([*options, *sys.argv[2].split(), *tests]))
"""


@pytest.mark.parametrize(
    "how", ["--collect-only", pytest.param("", id="all", marks=pytest.mark.nightly)]
)
def test_the_engines_tests_pass_without_extensions_and_teams(how: str, tmp_path: Path):
    """By day they are only imported, but for those of whole runs."""
    house = tmp_path / "house"
    for name in ("examples", "graph", "nodes", "supervisor_worker", "tests"):
        shutil.copytree(ROOT / name, house / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("state.py", "pyproject.toml"):
        shutil.copy(ROOT / name, house / name)
    rooms = " ".join(f"tests/unit/{name}" for name in (*ENGINE, "models"))

    for chosen, tests in ((how, rooms), ("", "tests/integration/test_graph.py")):
        options = ["-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile", "quick"]
        done = subprocess.run(
            [sys.executable, "-P", "-c", PROGRAM, str(ROOT), chosen, *options, tests],
            cwd=house,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert not (house / "extensions").exists() and not (house / "teams").exists()
