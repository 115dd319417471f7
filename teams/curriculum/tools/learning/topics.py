"""Read topics, their prerequisites and hours: from a table, YAML, Markdown or arrows."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import yaml

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

MAX_TOPICS = 300
MAX_TEXT_CHARS = 200_000
MAX_NAME_CHARS = 100
MAX_LINE_CHARS = 2000
"""Limit of a line of Markdown; a longer one is neither a list item nor a chain."""
MAX_HOURS = 10_000

_TOPIC_COLUMNS = frozenset(("topic", "name", "title", "unit", "lesson", "module"))
_PREREQUISITE_COLUMNS = frozenset(
    ("prerequisites", "prerequisite", "requires", "needs", "after", "depends_on")
)
_HOURS_COLUMNS = frozenset(("hours", "hour", "duration", "duration_hours", "time"))
_COLUMNS = {"topic": _TOPIC_COLUMNS, "needs": _PREREQUISITE_COLUMNS, "hours": _HOURS_COLUMNS}
_ARROW = Pattern(r"->|→|⟶|=>")
_BULLET = Pattern(
    r"^\s*+(?:[-*+]|\d++[.)])\s++(?P<name>[^()]*[^()\s])\s*+(?:\((?P<more>[^()]*+)\)\s*+)?$"
)
_SURROUNDING_WORDS = Pattern(
    r"^\s*+(?:[-*+]|\d++[.)])\s++|(?:,|(?<!\s))\s++(?:in|over|within|at|for|with)\s++\d.*$",
    re.IGNORECASE,
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


def holds_topics(name: str, text: str) -> bool:
    """Return whether a material lists topics with prerequisites."""
    try:
        found = read_topics(name, text)
    except ToolRefused:
        return False
    return any(topic.prerequisites for topic in found)


def read_topics(name: str, text: str) -> list[Topic]:
    """Read the topics of a material, by its kind; empty if it has none.

    Raises:
        ToolRefused: it is too large, or cannot be parsed as its name suggests.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ToolRefused(f"{name} has {len(text)} characters, of at most {MAX_TEXT_CHARS}")
    found: Iterable[Topic]
    match PurePosixPath(name.lower()).suffix:
        case ".csv" | ".tsv":
            found = _parse_table(csv.reader(io.StringIO(text), _get_csv_dialect(name)))
        case ".yaml" | ".yml" | ".json":
            found = _parse_yaml(name, text)
        case _:
            found = parse_topics(text)
    topics = [replace(topic, source=name) for topic in found]
    if len(topics) > MAX_TOPICS:
        raise ToolRefused(f"{name} lists {len(topics)} topics, of at most {MAX_TOPICS}")
    return topics


def parse_topics(text: str) -> list[Topic]:
    """Parse arrows, a Markdown table, or a list such as `- Fractions (after Division; 3 hours)`."""
    lines = [line for line in text.splitlines() if len(line) <= MAX_LINE_CHARS]
    rows = [line.strip().strip("|").split("|") for line in lines if "|" in line]
    tabled = list(_parse_table(row for row in rows if set("".join(row).strip()) - set("-: ")))
    return tabled or _parse_arrows(lines) or _parse_list(lines)


def _get_csv_dialect(name: str) -> str:
    return "excel-tab" if name.lower().endswith(".tsv") else "excel"


def _parse_table(rows: Iterable[Sequence[str]]) -> Iterator[Topic]:
    """Parse rows below a header that names columns for topics and their prerequisites."""
    held = iter(rows)
    try:
        header = [cell.strip().strip("*").lower().replace(" ", "_") for cell in next(held, [])]
        at = {key: _find_column(header, names) for key, names in _COLUMNS.items()}
        if at["topic"] is None or at["needs"] is None:
            return
        for row in held:
            cells = {key: _get_cell(row, column) for key, column in at.items()}
            if cells["topic"]:
                needs = _split_names(cells["needs"])
                yield Topic(_clean_name(cells["topic"]), needs, _parse_hours(cells["hours"]))
    except csv.Error as error:
        raise ToolRefused(f"a table of topics cannot be read: {error}; fix its syntax") from None


def _find_column(header: Sequence[str], names: frozenset[str]) -> int | None:
    return next((index for index, cell in enumerate(header) if cell in names), None)


def _get_cell(row: Sequence[str], column: int | None) -> str:
    return row[column].strip() if column is not None and column < len(row) else ""


def _parse_yaml(name: str, text: str) -> list[Topic]:
    try:
        held = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = sanitize_line(str(error), 120)
        raise ToolRefused(f"{name} cannot be read: {reason}; fix its syntax") from None
    if isinstance(held, dict) and isinstance(held.get("topics"), list | dict):
        held = held["topics"]
    if isinstance(held, dict):
        held = [_build_item(topic, value) for topic, value in held.items()]
    items = held if isinstance(held, list) else []
    return [topic for item in items[: MAX_TOPICS + 1] if (topic := _parse_item(item))]


def _build_item(topic: object, value: object) -> dict[str, Any]:
    """Parse `Fractions: [Division]`, or `Fractions: {after: [Division], hours: 3}`."""
    more = value if isinstance(value, dict) else {"needs": value}
    return {"topic": topic, **more}


def _parse_item(item: object) -> Topic | None:
    if isinstance(item, str):
        return Topic(_clean_name(item))
    if not isinstance(item, Mapping):
        return None
    title, needs, hours = (_find_value(item, names) for names in _COLUMNS.values())
    if not isinstance(title, str) or not title.strip():
        return None
    listed = needs if isinstance(needs, list) else _split_names(str(needs or ""))
    kept = tuple(_clean_name(each) for each in listed[:MAX_TOPICS] if isinstance(each, str))
    return Topic(_clean_name(title), kept, _parse_hours(str(hours or "")))


def _find_value(item: Mapping[Any, Any], names: frozenset[str]) -> object:
    return next((value for key, value in item.items() if str(key).lower() in names), None)


def _parse_arrows(lines: Iterable[str]) -> list[Topic]:
    """Parse chains such as `Division -> Fractions -> Decimals`, one per line or split by `;`."""
    needs: dict[str, list[str]] = {}
    for part in (part for line in lines for part in Pattern(r";|\.\s").split(line)):
        chain = [_clean_name(_strip_request_words(name)) for name in _ARROW.split(part)]
        if len(chain) < 2 or not all(chain):
            continue
        for before, after in pairwise(chain):
            needs.setdefault(before, [])
            needs.setdefault(after, []).append(before)
    return [Topic(name, tuple(dict.fromkeys(before))) for name, before in needs.items()]


def _strip_request_words(name: str) -> str:
    """Remove the words around a chain: `Order these: A -> B in 6 weeks`."""
    return _SURROUNDING_WORDS.sub("", name.rpartition(":")[2]).strip().rstrip(".?!")


def _parse_list(lines: Iterable[str]) -> list[Topic]:
    """Parse lists of what comes after what, heading by heading."""
    found, held = list[Topic](), list[Topic]()
    for line in (*lines, "#"):
        if line.startswith("#"):
            found += held if any(topic.prerequisites for topic in held) else []
            held = []
        elif bullet := _BULLET.match(line):
            held.append(_parse_bullet(bullet))
    return found


def _parse_bullet(bullet: re.Match[str]) -> Topic:
    more = bullet["more"] or ""
    after = _PREREQUISITE_LIST.search(more)
    hours = next(filter(_parse_hours, more.split(";")), "")
    return Topic(
        _clean_name(bullet["name"].strip("*")),
        _split_names(after["names"]) if after else (),
        _parse_hours(hours),
    )


def _split_names(text: str) -> tuple[str, ...]:
    parts = (_clean_name(part) for part in Pattern(r"[;,|]").split(text))
    return tuple(dict.fromkeys(part for part in parts if part.lower() not in _EMPTY_CELLS))


def _clean_name(text: str) -> str:
    return sanitize_line(text, MAX_NAME_CHARS)


def _parse_hours(text: str) -> Fraction | None:
    found = _HOURS_TEXT.fullmatch(text.strip())
    hours = Fraction(found[1]) if found and len(found[1]) < 10 else None
    return hours if hours is not None and 0 < hours <= MAX_HOURS else None
