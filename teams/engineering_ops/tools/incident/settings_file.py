"""Read settings files, flattened: YAML, TOML, JSON, INI, .env and properties."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import yaml

from nodes.errors import ToolRefused
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_text

SettingValue = str | int | float | bool | None
MAX_KEYS = 4_000
MAX_DEPTH = 30
_SECTION = Pattern(r"^[ \t]*\[[^\]\n]+\][ \t]*$", re.MULTILINE)
_PAIR = Pattern(
    r"^[ \t]*+(?:export[ \t]++)?([A-Za-z_][\w.\-]*+)[ \t]*+[=:][ \t]*+"
    r"(?:'([^'\n]*+)'|\"([^\"\n]*+)\"|((?:\S++|[ \t]++(?!\#))*+))",
    re.MULTILINE,
)


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
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1}" if mark else ""
        raise ToolRefused(f"{name} cannot be read as YAML{place}") from None
    except (ValueError, configparser.Error, RecursionError) as error:
        why = str(error).splitlines()[0][:160]
        raise ToolRefused(f"{name} cannot be read: {why}") from None
    if not values:
        raise ToolRefused(f"{name} holds no settings")
    return SettingsFile(name, text, values)


def _parse_file(name: str, text: str) -> object:
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in (".yaml", ".yml"):
        held = [one for one in yaml.safe_load_all(text) if one is not None]
        return held[0] if len(held) == 1 else {f"document {n}": d for n, d in enumerate(held, 1)}
    if suffix == ".json":
        return parse_json(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix in (".ini", ".cfg") or _SECTION.search(text):
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        parser.read_string(text)
        return {section: dict(parser.items(section)) for section in parser.sections()}
    return {key: "".join(values).strip() for key, *values in _PAIR.findall(text)}


def _flatten_values(root: object) -> Iterator[tuple[str, SettingValue]]:
    count = 0
    left: list[tuple[str, object, int]] = [("", root, 0)]
    while left:
        path, value, depth = left.pop()
        # A few aliases of YAML can expand to more values than fit into memory.
        count += 1
        if count > MAX_KEYS or depth > MAX_DEPTH:
            raise ToolRefused(f"has more than {MAX_KEYS} settings or {MAX_DEPTH} levels")
        parts: list[tuple[str, object]] = []
        if isinstance(value, dict):
            parts = [(f"{path}.{key}" if path else str(key), each) for key, each in value.items()]
        elif isinstance(value, list):
            parts = [(f"{path}[{n}]", each) for n, each in enumerate(value)]
        elif path:
            yield path, value if isinstance(value, SettingValue) else str(value)
        left += [(name, each, depth + 1) for name, each in reversed(parts)]
