"""The command line in a terminal of a given width, and what it wrote there."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from pathlib import Path

from tests.trusted_files import list_user_folders

ROOT = Path(__file__).resolve().parents[1]
HANG_S = 120.0
"""A guard against a process that never ends, and no measure."""
CONTROL_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def run_in_terminal(*arguments: str, columns: int, sends: str = "", **environment: str) -> str:
    """Run `supervise` in a terminal and return all it wrote, control sequences included.

    Args:
        sends: is typed as soon as it has started.
    """
    child, terminal = pty.fork()
    if child == 0:
        _exec_command(arguments, columns, environment)
    os.write(terminal, sends.encode())
    text, ends = b"", time.monotonic() + HANG_S
    try:
        while time.monotonic() < ends:
            if select.select([terminal], [], [], 1.0)[0]:
                text += os.read(terminal, 65536)
    except OSError:  # Linux says so that the other end is closed
        pass
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    return text.decode(errors="replace").replace("\r\n", "\n")


def strip_control_sequences(text: str) -> str:
    """Take the control sequences out of what was written."""
    return CONTROL_SEQUENCE.sub("", text)


def _exec_command(arguments: tuple[str, ...], columns: int, more: dict[str, str]) -> None:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "LANGSMITH_TRACING": "false",
        **list_user_folders(),
        **more,
    }
    os.execve(sys.executable, [sys.executable, "-m", "graph.cli", *arguments], environment)
