"""The collector of a process that runs teams; called by its entry points only, never on import."""

import gc
from typing import Final

THRESHOLDS: Final = (50_000, 50, 100)
"""New objects before a collection, and collections of a generation before one of the next. Python's
own 700 or 2,000 collect a hundred times while the libraries load, and find next to nothing."""


def collect_rarely() -> None:
    """Collect after more new objects than Python does by default."""
    gc.set_threshold(*THRESHOLDS)


def spare_existing_objects() -> None:
    """Exempt all objects that exist now, such as loaded libraries, from every later collection.

    Does nothing in a process that another program has started.
    """
    if gc.get_threshold() == THRESHOLDS:
        gc.freeze()
