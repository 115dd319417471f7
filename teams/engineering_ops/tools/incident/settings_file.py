"""Read settings files, flattened: YAML, TOML, JSON, INI, .env and properties."""

import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import yaml

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_text

SettingValue = str | int | float | bool | None
MAX_KEYS = 4_000
MAX_DEPTH = 30
_KEY_VALUE = Pattern(r"(?<![\w.\-\s])\s*+(?:export\s++)?([A-Za-z_][\w.\-]*+)\s*+[=:]\s*+(.*)")
_QUOTES = "'\""


@dataclass(frozen=True)
class SettingsFile:
    """A settings file: each value by its path, joined by dots."""

    name: str
    text: str
    values: Mapping[str, SettingValue]

    @cached_property
    def lines(self) -> list[str]:
        """Return its lines."""
        return self.text.splitlines()

    def find_line(self, key: str) -> int | None:
        """Return the line of a key: its parts are one below the other."""
        at = 0
        for part in key.split("."):
            bare = Pattern(r"\[\d+\]$").sub("", part)
            wanted = Pattern(rf"^[\s\[\"'{{,-]*(?:export\s+)?(?:[\w.]*\.)?{re.escape(bare)}\b")
            found = next((n for n in range(at, len(self.lines)) if wanted.match(self.lines[n])), -1)
            if found < 0:
                return at or None
            at = found
            last = found + 1
        return last


def read_settings(name: str, text: str) -> SettingsFile:
    """Read a settings file.

    Raises:
        ToolRefused: it cannot be parsed, is empty, or too large.
    """
    text = sanitize_text(text)
    try:
        values = dict(_flatten_values(_parse_file(name, text)))
    except ToolRefused as error:
        raise ToolRefused(f"{name} {error}") from None
    except yaml.YAMLError as error:
        raise ToolRefused(f"{name} cannot be read as YAML{_format_error_line(error)}") from None
    except (ValueError, configparser.Error, RecursionError) as error:
        why = str(error).splitlines()[0][:160]
        raise ToolRefused(f"{name} cannot be read: {why}") from None
    if not values:
        raise ToolRefused(f"{name} holds no settings")
    return SettingsFile(name, text, values)


def _format_error_line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": line {mark.line + 1}" if mark else ""


def _parse_file(name: str, text: str) -> object:
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in (".yaml", ".yml"):
        held = [one for one in yaml.safe_load_all(text) if one is not None]
        return held[0] if len(held) == 1 else {f"document {n}": d for n, d in enumerate(held, 1)}
    if suffix == ".json":
        loaded: object = json.loads(text)
        return loaded
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix in (".ini", ".cfg") or Pattern(r"^[ \t]*\[[^\]\n]+\][ \t]*$", re.MULTILINE).search(
        text
    ):
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(text)
        return {section: dict(parser.items(section)) for section in parser.sections()}
    return dict(_read_pairs(text))


def _read_pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        found = _KEY_VALUE.match(line)
        if found and not line.lstrip().startswith(("#", ";", "!")):
            value = found[2].strip()
            if value[:1] not in _QUOTES or not value:
                value = Pattern(r"\s#").split(value)[0].strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES
            yield found[1], value[1:-1] if is_quoted else value


def _flatten_values(root: object) -> Iterator[tuple[str, SettingValue]]:
    count = 0
    left: list[tuple[str, object, int]] = [("", root, 0)]
    while left:
        path, value, depth = left.pop()
        # A few aliases of YAML can expand to more values than fit into memory.
        count += 1
        if count > MAX_KEYS or depth > MAX_DEPTH:
            raise ToolRefused(f"has more than {MAX_KEYS} settings or {MAX_DEPTH} levels")
        match value:
            case dict():
                named = [
                    (f"{path}.{key}" if path else str(key), each) for key, each in value.items()
                ]
                left += [(name, each, depth + 1) for name, each in reversed(named)]
            case list():
                parts = [(f"{path}[{n}]", each, depth + 1) for n, each in enumerate(value)]
                left += reversed(parts)
            case str() | int() | float() | bool() | None:
                if path:
                    yield path, value
            case _:
                yield path, str(value)
