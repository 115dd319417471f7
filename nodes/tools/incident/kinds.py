"""Which of an incident's materials are code, logs, configuration, or prose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern

PYTHON = (".py", ".pyi")
_CODE = (*PYTHON, ".js", ".ts", ".go", ".java", ".rb", ".rs", ".c", ".cc", ".cpp", ".cs", ".php")
_LOGS = (".log", ".jsonl", ".ndjson", ".csv", ".tsv")
_CONFIGURATION = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties")
_LOOKS_LOGGED = Pattern(
    r"^\W?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^Traceback \(most recent call last\)"
    r'|^[ \t]*\{[ \t]*"(?:time|ts)',
    re.MULTILINE,
)
_LIST_OF_OBJECTS = Pattern(r"\s*\[\s*\{")


@dataclass(frozen=True)
class Matter:
    """The materials by kind; each by its name."""

    code: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, str] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)

    @property
    def is_technical(self) -> bool:
        """Say whether there is anything here that engineers work on."""
        return bool(self.code or self.logs or self.configuration)


def sort(materials: Mapping[str, str]) -> Matter:
    """Sort materials by their names, and by their looks where a name does not tell."""
    matter = Matter()
    for name, text in materials.items():
        getattr(matter, kind_of(name, text))[name] = text
    return matter


def kind_of(name: str, text: str = "") -> str:
    """Tell a material's kind: `code`, `logs`, `configuration` or `prose`."""
    path = PurePosixPath(name.lower())
    if path.suffix in _CODE:
        return "code"
    if path.suffix in _LOGS:
        return "logs"
    if path.suffix in _CONFIGURATION or path.name.startswith(".env"):
        return "configuration"
    if path.suffix == ".json":
        return "logs" if _LIST_OF_OBJECTS.match(text) else "configuration"
    return "logs" if _LOOKS_LOGGED.search(text) else "prose"
