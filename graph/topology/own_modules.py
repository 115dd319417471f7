"""Checks that our top-level modules are not others of the same name."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

OWN_MODULES: Final = ("state", "nodes", "extensions")


def require_own_modules() -> None:
    """Refuse to start if another program's module is imported instead of ours.

    Raises:
        ImportError: names the file and the fix.
    """
    home = Path(__file__).resolve().parents[2]
    for name in OWN_MODULES:
        place = _find_origin(name)
        if place and home not in Path(place).resolve().parents:
            raise ImportError(
                f"{place} is imported instead of supervisor-worker's module {name!r}. Rename it, "
                f"or move it into a package of your own, such as my_app.{name} "
                "(docs/guide/python.md: Beside modules of your own)"
            )


def _find_origin(name: str) -> str | None:
    """Return the file that importing a name would load; None if there is none."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec = find_spec(name)
    return spec.origin if spec else None
