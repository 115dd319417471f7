"""Install what a lock file lists into .venv, and show how far it is.

    python bin/install.py LOCKFILE

`bin/environment` calls it. It needs only the standard library, since nothing is installed yet. The
lock files are complete, so nothing is resolved: pip 23 would refuse requirements with extras.
"""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
VENV: Final = ROOT / ".venv"
EXTRAS: Final = ROOT / "extras.txt"
"""Of `supervise install`: requirements that are installed beside the lock file's."""
PYTHON: Final = VENV / "bin" / "python"
UNFINISHED: Final = VENV / ".unfinished"
"""Present while packages are installed: one that a kill cuts short may look complete."""
LINE_EVERY_S: Final = 5.0
"""Between two lines where the output is no terminal."""
POLL_S: Final = 0.2
MAX_LINES_OF_FAILURE: Final = 20

_REQUIREMENT: Final = re.compile(r"^[A-Za-z0-9._-]+==", re.MULTILINE)
_LISTED: Final = re.compile(r"\(line (\d+)\)")
_RESOLVED: Final = re.compile(r"Resolved (\d+) packages?")
_ROUTINE: Final = re.compile(
    r"Collecting|Processing|Requirement already|\s+(Downloading|Using cached)"
)


class SetUpFailed(Exception):
    """A step of the set-up ended with an error, which has been shown."""


@dataclass
class Progress:
    """How far pip or uv is, read from its output."""

    total: int
    collected: set[str] = field(default_factory=set)
    """Requirements that pip has looked at, by their line in the lock file."""
    is_installing: bool = False

    def read(self, line: str) -> None:
        """Take in a line of output."""
        if found := _RESOLVED.match(line):
            self.total = int(found[1])
        elif line.startswith("Ignoring "):  # its marker is for another system or Python
            self.total -= 1
        elif found := _LISTED.search(line):
            self.collected.add(found[1])
        elif line.startswith(("Installing collected packages", "Prepared ")):
            self.is_installing = True

    def describe(self, installed: int) -> str:
        """Return the step that is under way, with its count where there is one."""
        if self.is_installing:
            return f"installing: {min(installed, self.total)} of {self.total} packages"
        if self.collected:
            return f"collecting: {len(self.collected)} of {self.total} packages"
        return "collecting packages"


class Screen:
    """One line that changes on a terminal; elsewhere a line every few seconds."""

    def __init__(self) -> None:
        self.is_lively = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.began = self._last = time.monotonic()

    def seconds(self) -> str:
        """Return the time since the start."""
        return f"{time.monotonic() - self.began:.0f} s"

    def write(self, text: str) -> None:
        """Write a line that stays."""
        sys.stderr.write(f"\r\033[K{text}\n" if self.is_lively else f"{text}\n")
        sys.stderr.flush()

    def update(self, text: str) -> None:
        """Show what is under way."""
        shown = f"  {text}, {self.seconds()}"
        if self.is_lively:
            sys.stderr.write(f"\r\033[K{shown[: shutil.get_terminal_size().columns - 1]}")
            sys.stderr.flush()
        elif time.monotonic() - self._last >= LINE_EVERY_S:
            self._last = time.monotonic()
            self.write(shown)


def main(lock: str) -> int:
    """Install a lock file's packages and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    screen = Screen()
    try:
        _wait_for_others(screen)
        _install(ROOT / lock, shutil.which("uv"), screen)
    except SetUpFailed as error:
        screen.write(
            f"error[SETUP] {error}: see above. kept: what was downloaded. "
            "next: check the network and the index, then run this again"
        )
        return 2
    except KeyboardInterrupt:
        screen.write("cancelled. kept: what was downloaded. next: run this again")
        return 130
    screen.write(f"  done in {screen.seconds()}")
    return 0


def _install(lock: Path, uv: str | None, screen: Screen) -> None:
    total = len(_REQUIREMENT.findall(lock.read_text(encoding="utf-8")))
    version = ".".join(map(str, sys.version_info[:3]))
    what = f"the packages of {lock.name}"
    means, takes = ("uv", "seconds to a minute") if uv else ("pip", "one to three minutes")
    if _is_usable(uv):
        screen.write(f"Adding what {VENV} lacks of {what}, with {means} ...")
    else:
        screen.write(
            f"Making {VENV} (once) with Python {version} and {what}, with {means}: {takes} ..."
        )
        shutil.rmtree(VENV, ignore_errors=True)
        make = [uv, "venv", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
        _follow([*make, str(VENV)], screen, Progress(total), lambda: "making the environment")
    UNFINISHED.touch()
    progress = Progress(total)
    if uv:
        command = [uv, "pip", "sync", "--compile-bytecode", "--python", str(PYTHON)]
    else:
        command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
        command += ["--progress-bar", "off", "--no-deps", "-r"]
    command += [str(lock), "--require-hashes"]
    _follow(command, screen, progress, lambda: progress.describe(_installed()))
    UNFINISHED.unlink()
    if EXTRAS.exists():  # uv has just removed them
        installer = [uv, "pip", "install", "--python", str(PYTHON)] if uv else command[:4]
        added = [*installer, "-r", str(EXTRAS)]
        try:
            _follow(added, screen, Progress(0), lambda: f"adding what {EXTRAS.name} lists")
        except SetUpFailed as error:
            screen.write(f"  {EXTRAS.name} could not be installed: {error}; the rest works")


def _wait_for_others(screen: Screen) -> None:
    """Hold the checkout until this process ends, so that two set-ups do not undo each other."""
    folder = os.open(ROOT, os.O_RDONLY)
    while True:
        try:
            return fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            screen.update("waiting for another set-up of this checkout")
            time.sleep(POLL_S)
        except OSError:  # a file system without locks
            return None


def _is_usable(uv: str | None) -> bool:
    """Return whether there is an environment that packages can be added to."""
    if UNFINISHED.exists() or not PYTHON.exists():
        return False
    asked = ["-c", ""] if uv else ["-m", "pip", "--version"]
    return subprocess.run([PYTHON, *asked], capture_output=True, check=False).returncode == 0


def _installed() -> int:
    return sum(1 for _ in VENV.glob("lib/python3.*/site-packages/*.dist-info"))


def _follow(
    command: Sequence[str], screen: Screen, progress: Progress, describe: Callable[[], str]
) -> None:
    """Run a step to its end and show how far it is.

    Raises:
        SetUpFailed: it ended with an error; the end of its output has been shown.
    """
    lines: list[str] = []
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )

    def read() -> None:
        for line in process.stdout or ():
            lines.append(line.rstrip())
            progress.read(line)

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        while process.poll() is None:
            screen.update(describe())
            time.sleep(POLL_S)
    finally:
        process.terminate()
        process.wait()
    reader.join()
    if process.returncode:
        for line in [each for each in lines if not _ROUTINE.match(each)][-MAX_LINES_OF_FAILURE:]:
            screen.write(f"  {line}")
        raise SetUpFailed(f"{' '.join(map(str, command[:4]))} … ended with {process.returncode}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
