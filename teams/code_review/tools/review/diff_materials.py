"""Sort a task's materials into diffs and others."""

import re
from collections.abc import Mapping
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
    """The materials, sorted; each by its name."""

    diffs: Mapping[str, str] = field(default_factory=dict)
    configuration: Mapping[str, str] = field(default_factory=dict)
    prose: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Whole files, possibly of those that the diff changes."""


def sort_materials(materials: Mapping[str, str], wanted: str = "") -> ReviewMaterials:
    """Sort materials by their names and content; `wanted` names the one diff to read."""
    diffs = {name: text for name, text in materials.items() if _is_diff_material(name, text)}
    others = {name: text for name, text in materials.items() if name not in diffs}
    configuration = {
        n: t for n, t in others.items() if PurePosixPath(n).name in _CONFIGURATION_NAMES
    }
    prose = {n: t for n, t in others.items() if n.lower().endswith(_PROSE_SUFFIXES)}
    return ReviewMaterials(
        diffs={wanted: materials[wanted]} if wanted in materials else diffs,
        configuration=configuration,
        prose=prose,
        sources={n: t for n, t in others.items() if n not in configuration and n not in prose},
    )


def _is_diff_material(name: str, text: str) -> bool:
    """Decide by suffix: another kind of text may quote a diff; without a suffix it may be one."""
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in DIFF_SUFFIXES:
        return True
    return suffix in ("", ".txt", ".log") and is_diff(text)


def is_diff(text: str) -> bool:
    """Return whether a text contains a unified diff."""
    return _DIFF_START.search(text) is not None
