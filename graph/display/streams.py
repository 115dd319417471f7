"""The standard streams. Light: a command shows that it has begun before it loads what it needs."""

import contextlib
import os
import sys
from typing import Any, TextIO

from graph.display.text import to_one_line
from nodes.errors.redaction import redact_text


def announce_start(text: str) -> None:
    """Write the first line of a command to stderr; what cannot be written ends no run."""
    with contextlib.suppress(OSError):
        _write_text(sys.stderr, f"{to_one_line(text)} ...\n")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads a stream: a variable such as FORCE_COLOR does not say so."""
    return stream is not None and stream.isatty()


def print_to_stdout(text: str) -> None:
    """Write to stdout; a reader that has gone away is no error."""
    _write_text(sys.stdout, redact_text(text if text.endswith("\n") else f"{text}\n"))


def replace_unencodable_text() -> None:
    """Let the standard streams replace what their encoding cannot say."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


def flush_streams() -> None:
    """Empty the streams, so that nothing is left to fail while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _write_text(stream, "")
        except OSError:  # a full disk, which has been told by who wrote to it
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
