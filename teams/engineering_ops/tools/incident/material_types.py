"""Sort an incident's materials into code, logs, configuration, and prose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

PYTHON_SUFFIXES = (".py", ".pyi")
_CODE_SUFFIXES = (
    *PYTHON_SUFFIXES,
    ".js",
    ".ts",
    ".go",
    ".java",
    ".rb",
    ".rs",
    ".c",
    ".cc",
    ".cpp",
    ".cs",
    ".php",
)
_LOG_SUFFIXES = (".log", ".jsonl", ".ndjson", ".csv", ".tsv")
_CONFIGURATION_SUFFIXES = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties")
_LOG_LINE = Pattern(
    r"^\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^Traceback \(most recent call last\)"
    r'|^[ \t]*\{[ \t]*"(?:time|ts)',
    re.MULTILINE,
)
_JSON_OBJECT_LIST = Pattern(r"\s*\[\s*\{")


@dataclass(frozen=True)
class IncidentMaterials:
    """The materials by kind; each by its name."""

    code: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)

    @property
    def is_technical(self) -> bool:
        """Return whether any material is technical."""
        return bool(self.code or self.logs or self.configuration)


def sort_materials(materials: Mapping[str, str]) -> IncidentMaterials:
    """Sort materials by their names, and by their content where a name is not enough."""
    matter = IncidentMaterials()
    for name, text in materials.items():
        getattr(matter, detect_kind(name, text))[name] = text
    return matter


def detect_kind(name: str, text: str = "") -> str:
    """Return a material's kind: `code`, `logs`, `configuration` or `prose`."""
    path = PurePosixPath(name.lower())
    if path.suffix in _CODE_SUFFIXES:
        return "code"
    if path.suffix in _LOG_SUFFIXES:
        return "logs"
    if path.suffix in _CONFIGURATION_SUFFIXES or path.name.startswith(".env"):
        return "configuration"
    if path.suffix == ".json":
        return "logs" if _JSON_OBJECT_LIST.match(text) else "configuration"
    return "logs" if _LOG_LINE.search(text) else "prose"
