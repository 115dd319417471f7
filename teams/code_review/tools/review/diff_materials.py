"""Sort a task's materials into diffs and others."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

DIFF_SUFFIXES = (".diff", ".patch")
_PROSE_SUFFIXES = (".md", ".markdown", ".rst", ".txt", ".docx", ".html", ".htm", ".pdf")
_CONFIGURATION_NAMES = ("pyproject.toml", "ruff.toml", ".ruff.toml")
_DIFF_START = Pattern(
    r"^(?:diff --(?:git|cc|combined) |--- [^\n]*\n\+\+\+ [^\n]*\n@@ -\d|Binary files )",
    re.MULTILINE,
)


@dataclass(frozen=True)
class ReviewMaterials:
    """The materials that are no diffs, sorted; each by its name."""

    configuration: dict[str, str] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """Whole files, possibly of those that the diff changes."""


def list_diffs(materials: Mapping[str, str]) -> list[str]:
    """Return the names of the diffs, by suffix; a text of no certain kind may hold one."""
    return [
        name
        for name, text in materials.items()
        if (suffix := PurePosixPath(name.lower()).suffix) in DIFF_SUFFIXES
        or (suffix in ("", ".txt", ".log") and is_diff(text))
    ]


def is_diff(text: str) -> bool:
    """Return whether a text contains a unified diff."""
    return _DIFF_START.search(text) is not None


def sort_materials(materials: Mapping[str, str], diffs: Collection[str]) -> ReviewMaterials:
    """Sort the materials that are no diffs by their names."""
    found = ReviewMaterials()
    for name, text in materials.items():
        if PurePosixPath(name).name in _CONFIGURATION_NAMES:
            found.configuration[name] = text
        elif name.lower().endswith(_PROSE_SUFFIXES) and name not in diffs:
            found.prose[name] = text
        elif name not in diffs and PurePosixPath(name.lower()).suffix not in DIFF_SUFFIXES:
            found.sources[name] = text
    return found
