"""How the process of a command begins and ends: its warnings, its exit code, the line of an error.

Light: help needs it, too.
"""

import atexit
import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Final, NoReturn

import typer

from graph.display.streams import flush_streams
from graph.display.text import make_printable, to_one_line
from graph.garbage_collection import collect_rarely
from nodes.errors import SupervisorError, UsageError
from nodes.errors.redaction import redact_text
from nodes.security.private_files import make_private_folder, open_private_file
from nodes.tools.framework.extras import PackageMissing

_ROOT = __name__.rpartition("graph.")[0]
LOGGER_NAMES: Final = tuple(f"{_ROOT}{name}" for name in ("extensions", "graph", "nodes"))
"""Parents of every logger here; warnings of other packages stay as they are configured."""


class _StderrHandler(logging.Handler):
    """Prints warnings where progress is printed, so that they do not break a live display."""

    def emit(self, record: logging.LogRecord) -> None:
        from graph.display.stderr_console import print_to_stderr  # slow to load

        print_to_stderr(f"warning: {self.format(record)}", style="yellow")


_urgent, _printing = _StderrHandler(logging.ERROR), _StderrHandler(logging.WARNING)


def configure_logging(*, is_verbose: bool) -> None:
    """Show the application's warnings on stderr, or only what a user must know while waiting."""
    wanted, other = (_printing, _urgent) if is_verbose else (_urgent, _printing)
    for name in LOGGER_NAMES:
        logger = logging.getLogger(name)
        logger.removeHandler(other)
        logger.addHandler(wanted)


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


UNEXPECTED_EXIT_CODE: Final = 1


def run_to_exit_code(command: Callable[[], Any], *, path: str = "supervise") -> int:
    """Run a command and return its exit code; print an error as one line on stderr.

    Args:
        path: the command that is called, as its help names it.
    """
    try:
        code = int(command() or 0)
        # Typer silently turns an early Ctrl-C, while libraries load, into this code.
        return _print_ending("stopped", code) if code == CANCELLED_EXIT_CODE else code
    except SupervisorError as error:
        return _print_ending(error.format_line(), error.exit_code)
    except typer.TyperException as error:
        said = _format_usage_error(error)
        context = getattr(error, "ctx", None)  # of a command's own error
        command_path = context.command_path if context else path
        usage = UsageError(said, next=f"{command_path} --help")
        # Without arguments the help has been shown already.
        return _print_ending(usage.format_line(), usage.exit_code) if said else usage.exit_code
    except (Cancelled, KeyboardInterrupt, typer.Abort) as error:
        return _print_ending(str(error) or "stopped", CANCELLED_EXIT_CODE)
    except SystemExit as ended:  # rich raises it when the reader of stdout is gone
        if isinstance(ended.__context__, BrokenPipeError):
            return 0
        raise
    except Exception as error:  # the last resort: no traceback reaches a user
        return _print_internal_error(error)


def _print_internal_error(error: Exception) -> int:
    """Print one line for the user; the traceback goes into a file."""
    missing = PackageMissing.from_error(error) if isinstance(error, ImportError) else None
    if missing:
        return _print_ending(missing.format_line(), missing.exit_code)
    line = f"error[UNEXPECTED] {type(error).__name__}: {_save_traceback(error)}"
    return _print_ending(line, UNEXPECTED_EXIT_CODE)


def _print_ending(line: str, code: int) -> int:
    from graph.display.stderr_console import print_to_stderr

    print_to_stderr(to_one_line(line, 2000), style="" if code == CANCELLED_EXIT_CODE else "red")
    return code


def _format_usage_error(error: typer.TyperException) -> str:
    format_message = getattr(error, "format_message", None)
    said = make_printable(format_message() if format_message else error)
    # Pydantic adds why a text cannot be parsed, in a programmer's words.
    return said.replace("Value error, ", "").partition(", unable to parse")[0]


def _save_traceback(error: Exception) -> str:
    """Write the traceback of an internal error to a file, and return a short description."""
    try:
        from graph.settings import Settings

        folder = Settings().home / "errors"
    except (SupervisorError, OSError):  # without its folder a process has no settings
        return f"{to_one_line(error, 300)}, and the settings cannot be read"
    text = redact_text("".join(traceback.format_exception(error)))
    path = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    summary = to_one_line(error, 300)
    try:
        make_private_folder(path.parent)
        with open(path, "w", encoding="utf-8", errors="replace", opener=open_private_file) as file:
            file.write(text)
    except OSError:
        return summary
    return f"{summary}. next: report it with {path}"
