"""How the process of a command ends. Light: help needs it, too."""

import atexit
import contextlib
import os
import signal
import sys
from pathlib import Path
from threading import current_thread, main_thread
from typing import Final, NoReturn

from graph.display.streams import flush_streams
from graph.garbage_collection import collect_rarely

CANCELLED_EXIT_CODE: Final = 130

_exit_code: int | None = None


class Cancelled(Exception):
    """The user cancelled the run; the message names what is kept."""


def end_process(code: int) -> NoReturn:
    """End the process with an exit code; after a cancel without waiting for anything."""
    global _exit_code
    flush_streams()
    if code == CANCELLED_EXIT_CODE:
        exit_process()
    _exit_code = code
    sys.exit(code)


def prepare_process() -> None:
    """Set up the collector of a new process, and how the process ends.

    It ends after its exit handlers, without taking modules and objects apart: that takes the
    interpreter up to half a second. Handlers run in reverse order, so this one is the last.
    """
    collect_rarely()
    atexit.register(_end_without_teardown)


def _end_without_teardown() -> None:
    if _exit_code is not None:  # another error ends the process
        flush_streams()
        os._exit(_exit_code)


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
