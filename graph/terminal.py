"""The console of remarks: progress, errors and figures."""

import contextlib
import sys
from typing import Final

from rich.console import Console
from rich.text import Text

from graph.streams import is_terminal
from graph.text import folded, printable


class _Remarks(Console):
    """A console that goes silent when nobody reads it any more; rich's own would end the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


REMARKS: Final = _Remarks(stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False)
"""Progress, errors and figures go to stderr; stdout holds the answer alone."""


def is_lively() -> bool:
    """Return whether stderr can show progress in place."""
    return is_terminal(sys.stderr) and not REMARKS.is_dumb_terminal


def remark(text: object, style: str = "") -> None:
    """Write to stderr, as plain text; what cannot be written there ends no run."""
    if sys.stderr is not None:
        shown = printable(text)
        if is_terminal(sys.stderr):
            shown = folded(shown, REMARKS.width)
        with contextlib.suppress(OSError):
            REMARKS.print(Text(shown, style=style))
