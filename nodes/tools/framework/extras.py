"""The optional packages of this application: which extra needs which, and what is missing.

They are declared in `pyproject.toml`, which a checkout has, and in the metadata of an installation.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import Final, Self

from packaging.requirements import Requirement

from nodes.errors import TeamInvalid, UsageError
from nodes.limits.patterns import Pattern
from nodes.tools.framework.tool_packages import PROJECT_ROOT

PROJECT: Final = "supervisor-worker"
ALL: Final = "all"
_MISSING_MODULE: Final = Pattern(r"No module named '([\w.]+)'")


class PackageMissing(UsageError):
    """A package of an extra is not installed."""

    code = "PACKAGE_MISSING"

    @classmethod
    def from_error(cls, error: ImportError) -> Self | None:
        """Return the error with its command; None where the module belongs to no extra."""
        install = explain_missing_module(str(error))
        return cls(f"a package is not installed: {error.name}", next=install) if install else None


def list_missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; none for an unknown extra."""
    return [each.name for each in list_requirements(extra) if not _is_installed(each)]


def require_packages(extra: str, what: str = "") -> None:
    """Do nothing if the packages of an extra are installed.

    Args:
        extra: its name; a shipped team has one of its own name.
        what: needs them, in words; by default the tools of the team.

    Raises:
        TeamInvalid: packages are missing; the message has the command that installs them.
    """
    if missing := list_missing_packages(extra):
        needing = what or f"the tools of {extra}"
        raise TeamInvalid(
            f"{needing} need packages that are not installed: {', '.join(missing)}",
            next=write_install_command(extra),
        )


def explain_missing_module(text: str) -> str:
    """Return which command installs the module that an error misses; empty for other errors."""
    found = _MISSING_MODULE.search(text)
    if not found:
        return ""
    parts = found.group(1).lower().replace("_", "-").split(".")
    # `langgraph.store.postgres` is part of the package `langgraph-checkpoint-postgres`.
    extras = [
        extra
        for extra in _read_extras()
        if extra != ALL
        and any(_provides(each.name.lower(), parts) for each in list_requirements(extra))
    ]
    shared = [extra for extra in extras if extra in _SHARED] or extras
    return write_install_command(shared[0]) if shared else ""


def write_install_command(extra: str) -> str:
    """Return the command that installs an extra into this environment."""
    return f"supervise install {extra.replace('_', '-')}"


_SHARED: Final = ("documents", "tables", "web", "postgres", "judge")
"""Extras that several teams include."""


def list_extras() -> list[str]:
    """Return the names of the extras."""
    return sorted(name.replace("_", "-") for name in _read_extras())


def list_requirements(extra: str) -> list[Requirement]:
    """Return the requirements of an extra and of the extras that it includes."""
    found = []
    for each in _read_extras().get(extra, ()):
        if each.name == PROJECT:
            for name in each.extras:
                found += list_requirements(name.replace("-", "_"))
        else:
            found.append(each)
    return found


@cache
def _read_extras() -> dict[str, list[Requirement]]:
    file = PROJECT_ROOT / "pyproject.toml"
    if file.exists():
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        stated: dict[str, list[str]] = project.get("optional-dependencies", {})
        return {name.replace("-", "_"): list(map(Requirement, of)) for name, of in stated.items()}
    try:
        names = metadata(PROJECT).get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return {}
    required = [Requirement(text) for text in requires(PROJECT) or ()]
    return {
        name.replace("-", "_"): [
            Requirement(str(each).partition(";")[0]) for each in required if _belongs_to(each, name)
        ]
        for name in names
    }


def _belongs_to(requirement: Requirement, extra: str) -> bool:
    marker = requirement.marker
    return bool(marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}))


def _provides(package: str, parts: Sequence[str]) -> bool:
    """Return whether a package may hold a module, by its name: `python-docx` holds `docx`."""
    return parts[0] in package and (len(parts) == 1 or parts[0] == package or parts[-1] in package)


def _is_installed(requirement: Requirement) -> bool:
    try:
        version(requirement.name)
    except PackageNotFoundError:
        return False
    return True
