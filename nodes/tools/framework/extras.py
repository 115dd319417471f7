"""The optional packages of this application: which extra needs which, and what is missing.

They are declared in `pyproject.toml`, which a checkout has, and in the metadata of an installation.
"""

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import Final

from packaging.requirements import Requirement

from nodes.errors import TeamInvalid
from nodes.limits.patterns import Pattern
from nodes.tools.framework.tool_packages import PROJECT_ROOT

PROJECT: Final = "supervisor-worker"
ALL: Final = "all"
_MISSING_MODULE: Final = Pattern(r"No module named '([\w.]+)'")


def list_missing_packages(extra: str) -> list[str]:
    """Return the packages of an extra that are not installed; none for an unknown extra."""
    return [each.name for each in _list_requirements(extra) if not _is_installed(each)]


def require_packages(team: str) -> None:
    """Do nothing if all that a team's tools need is installed.

    Raises:
        TeamInvalid: packages are missing; the message has the command that installs them.
    """
    if missing := list_missing_packages(team):
        raise TeamInvalid(
            f"the tools of {team} need packages that are not installed: {', '.join(missing)}",
            next=write_install_command(team),
        )


def explain_missing_module(text: str) -> str:
    """Return which command installs the module that an error misses; empty for other errors."""
    found = _MISSING_MODULE.search(text)
    if not found:
        return ""
    module = found.group(1).partition(".")[0].replace("_", "-").lower()
    extras = [
        extra
        for extra in _read_extras()
        if extra != ALL and any(module in each.name.lower() for each in _list_requirements(extra))
    ]
    shared = [extra for extra in extras if extra in _SHARED] or extras or [ALL]
    return write_install_command(shared[0])


def write_install_command(extra: str) -> str:
    """Return the command that installs an extra: from the checkout, or from the index."""
    place = "." if (PROJECT_ROOT / "pyproject.toml").exists() else PROJECT
    return f"pip install '{place}[{extra}]'"


_SHARED: Final = ("documents", "tables", "web", "postgres")
"""Extras that several teams include."""


def _list_requirements(extra: str) -> list[Requirement]:
    """Return the requirements of an extra and of the extras that it includes."""
    found = []
    for text in _read_extras().get(extra, ()):
        requirement = Requirement(text)
        if requirement.name == PROJECT:
            found += [each for name in requirement.extras for each in _list_requirements(name)]
        else:
            found.append(requirement)
    return found


@cache
def _read_extras() -> dict[str, list[str]]:
    file = PROJECT_ROOT / "pyproject.toml"
    if file.exists():
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        extras: dict[str, list[str]] = project.get("optional-dependencies", {})
        return extras
    try:
        names = metadata(PROJECT).get_all("Provides-Extra") or []
    except PackageNotFoundError:
        return {}
    stated = [Requirement(text) for text in requires(PROJECT) or ()]
    return {
        name: [_strip_marker(each) for each in stated if _belongs_to(each, name)] for name in names
    }


def _belongs_to(requirement: Requirement, extra: str) -> bool:
    marker = requirement.marker
    return bool(marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}))


def _strip_marker(requirement: Requirement) -> str:
    return str(requirement).partition(";")[0].strip()


def _is_installed(requirement: Requirement) -> bool:
    try:
        version(requirement.name)
    except PackageNotFoundError:
        return False
    return True
