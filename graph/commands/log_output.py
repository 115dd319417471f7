"""Where the warnings of this application go in the command line. Light: help needs it, too."""

import logging
from typing import Final

LOGGER_NAMES: Final = ("extensions", "graph", "nodes")
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
