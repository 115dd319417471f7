"""The console for stderr: progress, errors and figures."""

import contextlib
import sys
from typing import Final

from rich.console import Console
from rich.text import Text

from graph.display.streams import is_terminal
from graph.display.text import make_printable, name_command, separate_advice, wrap_lines


class _StderrConsole(Console):
    """A console that goes silent when its reader is gone; rich's own would end the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


STDERR_CONSOLE: Final = _StderrConsole(
    stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False
)
"""Progress, errors and figures go to stderr; stdout holds the answer alone."""


def can_draw_live() -> bool:
    """Return whether stderr can show a live display."""
    return is_terminal(sys.stderr) and not STDERR_CONSOLE.is_dumb_terminal


def print_to_stderr(text: object, style: str = "") -> None:
    """Print plain text on stderr; a failed write does not end the run."""
    if sys.stderr is not None:
        shown = name_command(make_printable(text), sys.argv[0])
        if is_terminal(sys.stderr):
            width = STDERR_CONSOLE.width
            shown = wrap_lines(separate_advice(shown, width), width)
        with contextlib.suppress(OSError):
            STDERR_CONSOLE.print(Text(shown, style=style))
