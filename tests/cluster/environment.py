"""Finds or makes the Python environment that Aegra runs in; it needs Python 3.12 or newer."""

import os
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LOCK: Final = ROOT / "deploy" / "requirements.lock"
VARIABLE: Final = "SUPERVISE_TEST_AEGRA_PYTHON"
# Read here, since tests run with an environment that was emptied.
NAMED: Final = os.environ.get(VARIABLE, "")
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
RELEASES: Final = ("3.12", "3.13", "3.14")
INSTALL_TIMEOUT_S: Final = 900


class ClusterUnavailable(Exception):
    """A cluster cannot be started on this machine; the text is the reason."""


@cache
def find_python() -> Path:
    """Return the Python of an environment that holds Aegra.

    `SUPERVISE_TEST_AEGRA_PYTHON` names a ready one; else one is made outside the checkout, once
    for each content of the lock file.

    Raises:
        ClusterUnavailable: there is none, and none can be made.
    """
    if NAMED:
        python = Path(NAMED)
        _check_environment(python)
        return python
    folder = CACHE / "supervise-tests" / f"aegra-{sha256(LOCK.read_bytes()).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        _make_environment(folder, python)
        (folder / "complete").touch()
    return python


def _make_environment(folder: Path, python: Path) -> None:
    base = _find_base_python()
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([base, "-m", "venv", str(folder)])
    _run([str(python), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(LOCK)])
    _check_environment(python)


def _find_base_python() -> str:
    found = [sys.executable] if sys.version_info >= (3, 12) else []
    for path in [*found, *_list_pythons()]:
        if _answers(path, "import venv, ensurepip"):  # a shim may name a version it lacks
            return path
    raise ClusterUnavailable("Aegra needs Python 3.12 or newer, and none was found")


def _list_pythons() -> list[str]:
    """Return the interpreters on PATH, and those beside this one, as pyenv and uv keep them."""
    homes = dict.fromkeys((Path.home() / ".pyenv" / "versions", Path(sys.base_prefix).parent))
    on_path = [path for each in RELEASES if (path := shutil.which(f"python{each}"))]
    return on_path + [
        str(each)
        for name in RELEASES
        for home in homes
        for each in sorted(home.glob(f"*{name}.*/bin/python3"))
    ]


def _check_environment(python: Path) -> None:
    if not _answers(str(python), "import aegra_api, uvicorn, langgraph"):
        raise ClusterUnavailable(f"{python} has no Aegra")


def _answers(python: str, code: str) -> bool:
    try:
        return not subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterUnavailable(f"{command[0]} failed: {error}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ClusterUnavailable(f"Aegra's environment could not be made: {last[:300]}")
