"""What reaches a person's terminal: the console of remarks, and text made harmless."""

import contextlib
import os
import sys
import unicodedata
from typing import Any, Final, TextIO

from rich.console import Console
from rich.text import Text

from nodes.redaction import redacted


class _Remarks(Console):
    """A console that goes silent when nobody reads it any more; rich's own would end the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


REMARKS: Final = _Remarks(stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False)
"""Progress, errors and figures go to stderr; stdout holds the answer alone."""

_KEPT: Final = frozenset("\n\t")
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co"))
"""Categories of characters that steer a terminal, hide text or cannot be encoded."""


def printable(text: object) -> str:
    """Drop secrets, and what is not seen: escape sequences, bidi marks, zero-width text."""
    shown = redacted(str(text)).replace("\r\n", "\n")
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(c for c in shown if c in _KEPT or unicodedata.category(c) not in _HIDDEN)


def one_line(text: object, max_chars: int = 100) -> str:
    """Shorten a text to one line."""
    line = " ".join(printable(text).split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def is_lively() -> bool:
    """Say whether stderr can show progress in place."""
    return REMARKS.is_terminal and not REMARKS.is_dumb_terminal and not REMARKS.no_color


def remark(text: object, style: str = "") -> None:
    """Write to stderr, as plain text; what cannot be written there ends no run."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            REMARKS.print(Text(printable(text), style=style))


def put(text: str) -> None:
    """Write to stdout; a reader that has gone away is no error."""
    _write(sys.stdout, redacted(text if text.endswith("\n") else f"{text}\n"))


def be_lenient() -> None:
    """Let the standard streams replace what their encoding cannot say."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


def flush() -> None:
    """Empty the streams, so that nothing is left to fail while the process ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            _write(stream, "")
        except OSError:  # a full disk, which has been told by who wrote to it
            _silence(stream)


def _write(stream: TextIO | Any, text: str) -> None:
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
