"""How the process of a command ends. Light: help needs it, too."""

import contextlib
import os
import signal
import sys
from pathlib import Path
from threading import current_thread, main_thread
from typing import Final, NoReturn

from graph.display.streams import flush_streams
from graph.garbage_collection import spare_existing_objects

CANCELLED_EXIT_CODE: Final = 130


class Cancelled(Exception):
    """The user cancelled the run; the message names what is kept."""


def end_process(code: int) -> NoReturn:
    """End the process with an exit code; after a cancel without waiting for anything."""
    flush_streams()
    if code == CANCELLED_EXIT_CODE:
        exit_process()
    # The interpreter would look for garbage among all of them, and then end anyway.
    spare_existing_objects()
    sys.exit(code)


def exit_process(code: int = CANCELLED_EXIT_CODE, message: str = "") -> NoReturn:
    """End the process and its children now."""
    if message and sys.stderr is not None:
        with contextlib.suppress(OSError):
            os.write(2, f"{message}\n".encode(errors="replace"))
    for child in _list_children():
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
    os._exit(code)


def treat_sigterm_as_interrupt() -> None:
    """Handle SIGTERM like Ctrl-C, also before a run begins."""
    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _list_children() -> list[int]:
    """List the child processes, on systems that list them under /proc."""
    found: list[int] = []
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found
