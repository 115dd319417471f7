"""The modules that this package imports beside itself, told from others of the same names."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

OWN_MODULES: Final = ("state", "nodes")


def require_own_modules() -> None:
    """Refuse to start where a module of another program is found in the place of ours.

    Raises:
        ImportError: names the file, and what to do.
    """
    home = Path(__file__).resolve().parents[2]
    for name in OWN_MODULES:
        place = _find_origin(name)
        if place and home not in Path(place).resolve().parents:
            raise ImportError(
                f"{place} is found instead of supervisor-worker's own module {name!r}. Rename it, "
                f"or move it into a package of your own, such as my_app.{name} (docs/guide.md: "
                "Beside modules of your own)"
            )


def _find_origin(name: str) -> str | None:
    """Return the file that an import of a name gives; None where there is none."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec = find_spec(name)
    return spec.origin if spec else None
