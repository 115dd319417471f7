"""Read topics, their prerequisites and hours: from a table, YAML, Markdown or arrows."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

from .sources import (
    TABLE_DIALECTS,
    YAML_SUFFIXES,
    check_length,
    get_suffix,
    read_table_rows,
    read_yaml,
)

MAX_TOPICS = 300
MAX_NAME_CHARS = 100
MAX_LINE_CHARS = 2000
"""Limit of a line of Markdown; a longer one is neither a list item nor a chain."""
MAX_HOURS = 10_000

_COLUMNS = {
    "topic": frozenset(("topic", "name", "title", "unit", "lesson", "module")),
    "needs": frozenset(
        ("prerequisites", "prerequisite", "requires", "needs", "after", "depends_on")
    ),
    "hours": frozenset(("hours", "hour", "duration", "duration_hours", "time")),
}
_ARROW = Pattern(r"->|→|⟶|=>")
_NUMBERING = Pattern(r"^\s*+(?:[-*+]|\d++[.)])\s++")
_BULLET = Pattern(
    r"^\s*+(?:[-*+]|\d++[.)])\s++(?P<name>[^()]*[^()\s])\s*+(?:\((?P<more>[^()]*+)\)\s*+)?$"
)
_PREREQUISITE_LIST = Pattern(
    r"(?:after|needs|requires|prerequisites?)\s*:?\s*(?P<names>[^;]+)", re.IGNORECASE
)
_HOURS_TEXT = Pattern(r"(\d+(?:\.\d+)?)\s*(?:h|hours?)?", re.IGNORECASE)
_EMPTY_CELLS = frozenset(("", "-", "--", "none", "n/a"))


@dataclass(frozen=True)
class Topic:
    """Something to be taught."""

    name: str
    prerequisites: tuple[str, ...] = ()
    hours: Fraction | None = None
    source: str = ""
    """The material that lists it."""


def read_topics(name: str, text: str) -> list[Topic]:
    """Read the topics of a material, by its kind; empty if it has none.

    Raises:
        ToolRefused: it is too large, or cannot be parsed as its name suggests.
    """
    check_length(name, text)
    found: Iterable[Topic]
    if get_suffix(name) in TABLE_DIALECTS:
        found = _parse_table(read_table_rows(name, text))
    elif get_suffix(name) in YAML_SUFFIXES:
        found = _parse_yaml(read_yaml(name, text))
    else:
        found = _parse_markdown(text)
    topics = [replace(topic, source=name) for topic in found]
    if len(topics) > MAX_TOPICS:
        raise ToolRefused(f"{name} lists {len(topics)} topics, of at most {MAX_TOPICS}")
    return topics


def parse_chains(lines: Iterable[str]) -> list[Topic]:
    """Parse chains such as `Division -> Fractions -> Decimals`, one per line or split by `;`."""
    needs: dict[str, list[str]] = {}
    for part in (part for line in lines for part in line.split(";")):
        chain = [_clean_name(_NUMBERING.sub("", name)) for name in _ARROW.split(part)]
        if len(chain) < 2 or not all(chain):
            continue
        for before, after in pairwise(chain):
            needs.setdefault(before, [])
            needs.setdefault(after, []).append(before)
    return [Topic(name, tuple(dict.fromkeys(before))) for name, before in needs.items()]


def _parse_markdown(text: str) -> list[Topic]:
    lines = [line for line in text.splitlines() if len(line) <= MAX_LINE_CHARS]
    rows = [line.strip().strip("|").split("|") for line in lines if "|" in line]
    tabled = list(_parse_table(row for row in rows if set("".join(row).strip()) - set("-: ")))
    return tabled or parse_chains(lines) or _parse_list(lines)


def _parse_table(rows: Iterable[Sequence[str]]) -> Iterator[Topic]:
    """Parse rows below a header that names columns for topics and their prerequisites."""
    held = iter(rows)
    header = [cell.strip().strip("*").lower().replace(" ", "_") for cell in next(held, [])]
    at = {
        key: next((place for place, cell in enumerate(header) if cell in names), len(header))
        for key, names in _COLUMNS.items()
    }
    if len(header) in (at["topic"], at["needs"]):
        return
    for row in held:
        cells = {key: row[place].strip() if place < len(row) else "" for key, place in at.items()}
        if cells["topic"]:
            needs = _split_names(cells["needs"])
            yield Topic(_clean_name(cells["topic"]), needs, _parse_hours(cells["hours"]))


def _parse_yaml(held: Any) -> list[Topic]:  # any YAML value
    if isinstance(held, dict) and isinstance(held.get("topics"), list | dict):
        held = held["topics"]
    if isinstance(held, dict):
        held = [
            {"topic": name, **(value if isinstance(value, dict) else {"needs": value})}
            for name, value in held.items()
        ]
    items = held if isinstance(held, list) else []
    return [topic for item in items[: MAX_TOPICS + 1] if (topic := _parse_item(item))]


def _parse_item(item: object) -> Topic | None:
    if isinstance(item, str):
        return Topic(_clean_name(item))
    if not isinstance(item, Mapping):
        return None
    title, needs, hours = (
        next((value for key, value in item.items() if str(key).lower() in names), None)
        for names in _COLUMNS.values()
    )
    if not isinstance(title, str) or not title.strip():
        return None
    listed = needs if isinstance(needs, list) else _split_names(str(needs or ""))
    kept = tuple(_clean_name(each) for each in listed[:MAX_TOPICS] if isinstance(each, str))
    return Topic(_clean_name(title), kept, _parse_hours(str(hours or "")))


def _parse_list(lines: Iterable[str]) -> list[Topic]:
    """Parse lists such as `- Fractions (after Division; 3 hours)`, heading by heading."""
    found, held = list[Topic](), list[Topic]()
    for line in (*lines, "#"):
        if line.startswith("#"):
            found += held if any(topic.prerequisites for topic in held) else []
            held = []
        elif bullet := _BULLET.match(line):
            more = bullet["more"] or ""
            after = _PREREQUISITE_LIST.search(more)
            needs = _split_names(after["names"]) if after else ()
            hours = next(filter(None, map(_parse_hours, more.split(";"))), None)
            held.append(Topic(_clean_name(bullet["name"].strip("*")), needs, hours))
    return found


def _split_names(text: str) -> tuple[str, ...]:
    parts = (_clean_name(part) for part in Pattern(r"[;,|]").split(text))
    return tuple(dict.fromkeys(part for part in parts if part.lower() not in _EMPTY_CELLS))


def _clean_name(text: str) -> str:
    return sanitize_line(text, MAX_NAME_CHARS)


def _parse_hours(text: str) -> Fraction | None:
    found = _HOURS_TEXT.fullmatch(text.strip())
    hours = Fraction(found[1]) if found and len(found[1]) < 10 else None
    return hours if hours is not None and 0 < hours <= MAX_HOURS else None
