"""Shows the progress of a run in the cell that runs it."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from functools import wraps
from io import StringIO
from typing import Any, Final

from rich.console import Console

from graph.display.progress_display import ProgressTable
from graph.runs.run_view import RunView

_logger = logging.getLogger(__name__)

MIN_INTERVAL_S: Final = 0.25
WIDTH: Final = 110
"""Characters of the table."""
FORM: Final = '<pre style="line-height:1.25;font-size:85%">{code}</pre>'


class CellProgress:
    """The table of `supervise run`, in a cell's output."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._view, self._shown_s = RunView(), 0.0
        self._handle = display({"text/html": ""}, raw=True, display_id=True)

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Apply an event of the run and show it, at most some times a second."""
        self._view.apply_event(event)
        if time.monotonic() - self._shown_s >= MIN_INTERVAL_S:
            self.show()

    def show(self, *, is_final: bool = False) -> None:
        """Show the run as it is."""
        self._shown_s = time.monotonic()
        console = Console(record=True, width=WIDTH, file=StringIO(), force_jupyter=False)
        console.print(ProgressTable(self._view, is_final=is_final))
        page = console.export_html(inline_styles=True, code_format=FORM)
        self._handle.update({"text/html": page}, raw=True)

    def end(self) -> None:
        """Show the run as it has ended; what the display raises does not replace what it gave."""
        try:
            self.show(is_final=True)
        except Exception as error:  # of any front end; the run has its result
            _logger.warning("the end of the run cannot be shown: %s", error)


def is_notebook() -> bool:
    """Return whether this is the kernel of a notebook."""
    from IPython import get_ipython  # asked for only where IPython is loaded

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def add_progress(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `run` or one of its kin with its progress shown, unless `on_event` is given."""
    from IPython.display import display

    @wraps(function)
    def run_shown(*args: Any, on_event: Any = None, **options: Any) -> Any:
        if on_event is not None:
            return function(*args, on_event=on_event, **options)
        progress = CellProgress(display)
        ended = None
        try:
            ended = function(*args, on_event=progress, **options)
        finally:
            if not inspect.isawaitable(ended):
                progress.end()
        return _finish(ended, progress) if inspect.isawaitable(ended) else ended

    return run_shown


async def _finish(running: Any, progress: CellProgress) -> Any:
    try:
        return await running
    finally:
        progress.end()
