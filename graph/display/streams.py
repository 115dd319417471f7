"""The standard streams. Light: a command announces its start before it loads its libraries."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from graph.display.text import name_command, to_one_line
from nodes.errors import OutputFailed, translate_os_errors
from nodes.errors.redaction import redact_text


def announce_start(text: str) -> None:
    """Print the first line of a command on stderr; a failed write does not end the run."""
    announce_line(f"{to_one_line(text)} ...")


def announce_team(text: str, team: str) -> None:
    """Print such a line with the name of a team, if it is a folder here or a shipped one.

    Others are looked for later, so that the line of an unknown team is its error alone.
    """
    shipped = Path(__file__).resolve().parents[2] / "teams" / team
    if os.path.exists(team) or shipped.exists():
        announce_start(f"{text} {team}")


def announce_line(text: str) -> None:
    """Print a line on stderr before there is a display; a failed write does not end the run."""
    with contextlib.suppress(OSError):
        _write_text(sys.stderr, f"{name_command(text, sys.argv[0])}\n")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal, whatever variables such as FORCE_COLOR say."""
    return stream is not None and stream.isatty()


def print_to_stdout(text: str) -> None:
    """Print on stdout; a reader that is gone is no error.

    Raises:
        OutputFailed: stdout cannot be written.
    """
    advice = "free disk space, or write the output elsewhere"
    with translate_os_errors(OutputFailed, "cannot write to stdout", next=advice):
        _write_text(sys.stdout, redact_text(text if text.endswith("\n") else f"{text}\n"))


def write_to_file(content: str | bytes, path: Path, *, advice: str = "name another file") -> None:
    """Write a file that the user has named; a text in UTF-8.

    Raises:
        OutputFailed: it cannot be written.
    """
    with translate_os_errors(OutputFailed, f"cannot write {path}", next=advice):
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def replace_unencodable_text() -> None:
    """Let the standard streams replace characters that they cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


def flush_streams() -> None:
    """Flush the streams, so that no write fails while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _write_text(stream, "")
        except OSError:  # a full disk, which the failed write has reported already
            _silence_stream(stream)


def _write_text(stream: TextIO | Any, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _silence_stream(stream)


def _silence_stream(stream: TextIO) -> None:
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
