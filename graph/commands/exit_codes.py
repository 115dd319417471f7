"""How a command ends: its exit code, and one line for the error that ended it."""

import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import typer

from graph.commands.process_exit import CANCELLED_EXIT_CODE as CANCELLED
from graph.commands.process_exit import Cancelled
from graph.display.text import make_printable, to_one_line
from nodes.errors import SupervisorError, UsageError
from nodes.errors.redaction import redact_text
from nodes.security.private_files import make_private_folder, open_private_file
from nodes.tools.framework.extras import PackageMissing

UNEXPECTED_EXIT_CODE: Final = 1


def run_to_exit_code(command: Callable[[], Any], *, path: str = "supervise") -> int:
    """Run a command and return its exit code; print an error as one line on stderr.

    Args:
        path: the command that is called, as its help names it.
    """
    try:
        code = int(command() or 0)
        # Typer silently turns an early Ctrl-C, while libraries load, into this code.
        return _print_ending("stopped", code) if code == CANCELLED else code
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
        return _print_ending(str(error) or "stopped", CANCELLED)
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

    print_to_stderr(to_one_line(line, 2000), style="" if code == CANCELLED else "red")
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
