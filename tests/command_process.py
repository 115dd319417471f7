"""The command line in a process of its own, and what it leaves behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HANG_S = 40.0
"""A guard against a process that never ends, and no measure."""


class CommandProcess:
    """`supervise` in a session of its own, by which its descendants are told."""

    def __init__(self, *arguments: str, folder: Path, environment: dict[str, str]) -> None:
        self.stdout = self.stderr = ""
        self.surviving_processes: list[int] = []
        """Processes that outlived it, where `/proc` tells; they have been killed."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "graph.cli", *arguments],
            cwd=folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]),
                "LANGSMITH_TRACING": "false",
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process alone, as a service manager does."""
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end and give the exit code; what it said is then in `stdout`, `stderr`."""
        try:
            self._process.wait(HANG_S)
        finally:
            self._process.kill()
            self.surviving_processes = _list_session_processes(self._process.pid)
            for pid in self.surviving_processes:
                os.kill(pid, signal.SIGKILL)
            self.stdout, self.stderr = self._process.communicate()
        return self._process.returncode

    def has_file_open(self, path: Path) -> bool:
        """Return whether it has a file open, where `/proc` tells."""
        found = Path(f"/proc/{self._process.pid}/fd").glob("*")
        return any(_read_link(link) == str(path.resolve()) for link in found)

    def is_running(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None


def _read_link(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _list_session_processes(session: int) -> list[int]:
    return [
        int(entry.name)
        for entry in Path("/proc").glob("[0-9]*")
        if entry.name != str(session) and _belongs_to_session(entry, session)
    ]


def _belongs_to_session(entry: Path, session: int) -> bool:
    try:
        stat = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return stat[0] != "Z" and int(stat[3]) == session
