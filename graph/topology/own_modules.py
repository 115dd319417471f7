"""Checks that our modules are not others of the same name, and that LangGraph is new enough."""

import sys
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

OWN_MODULES: Final = ("state", "nodes", "extensions")
PACKAGE: Final = __name__.rpartition("graph.")[0]
"""`supervisor_worker.` where it is installed; empty in a checkout."""
CHECKED: Final = ("langchain", "langgraph")
"""Packages that a project of its own often holds back, by the beginnings of their names."""


def require_own_modules() -> None:
    """Refuse to start if another program's module, or an old LangGraph, is imported.

    Raises:
        ImportError: names the file or the version, and the fix.
    """
    home = Path(__file__).resolve().parents[2]
    for name in OWN_MODULES:
        place = _find_origin(f"{PACKAGE}{name}")
        if place and home not in Path(place).resolve().parents:
            raise ImportError(
                f"{place} is imported instead of supervisor-worker's module {name!r}. Rename it, "
                f"or move it into a package of your own, such as my_app.{name}; or install "
                "supervisor-worker, which has one name, supervisor_worker (docs/guide/install.md)"
            )
    if PACKAGE:
        _require_own_package(sys.modules[PACKAGE[:-1]])
        _require_versions()


def _find_origin(name: str) -> str | None:
    """Return the file that importing a name would load; None if there is none."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    spec = find_spec(name)
    return spec.origin if spec else None


def _require_own_package(package: object) -> None:
    if "build_supervisor" not in getattr(package, "__all__", ()):
        raise ImportError(
            f"{getattr(package, '__file__', package)} belongs to another package. Remove that "
            "package, then run: pip install --force-reinstall --no-deps supervisor-worker"
        )


def _require_versions() -> None:
    from packaging.requirements import Requirement  # not needed in a checkout

    try:
        stated = [each for each in requires("supervisor-worker") or () if ";" not in each]
    except PackageNotFoundError:  # on `PYTHONPATH`, and not installed
        return
    for wanted in (Requirement(each) for each in stated if each.startswith(CHECKED)):
        if not wanted.specifier.contains(found := version(wanted.name), prereleases=True):
            raise ImportError(
                f"{wanted.name} {found} is installed, and supervisor-worker needs "
                f"{wanted.specifier}. Run: pip install '{wanted}'"
            )
