"""Read topics, their prerequisites and hours: from a table, or from arrows between topics."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, takewhile

from extensions.tools.tables.reader import CsvTable, read_table
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_line

MAX_TOPICS = 300
MAX_NAME_CHARS = 100
MAX_LINE_CHARS = 2000
"""Limit of a line of Markdown; a longer one is not a chain."""
MAX_HOURS = 10_000
TOPIC_COLUMNS = ("topic", "name", "title", "unit", "lesson", "module")
PREREQUISITE_COLUMNS = (
    *("prerequisites", "prerequisite", "requires", "needs", "after", "depends_on"),
)
HOURS_COLUMNS = ("hours", "hour", "duration", "duration_hours", "time")

_ARROW = Pattern(r"->|→|⟶|=>")
_NUMBERING = Pattern(r"^\s*+(?:[-*+]|\d++[.)])\s++")
_HOURS_TEXT = Pattern(r"(\d{1,9}(?:\.\d{1,9})?)\s*(?:h|hours?)?")
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
    """Read the topics of a material; empty if none of them has a prerequisite.

    Raises:
        ToolRefused: it lists too many, or it is a table that cannot be read.
    """
    if is_table_name(name):
        found = _list_rows(read_table(name, text))
    else:
        lines = [line for line in text.splitlines() if len(line) <= MAX_LINE_CHARS]
        found = _list_markdown_rows(name, lines) or parse_chains(lines)
    if len(found) > MAX_TOPICS:
        raise ToolRefused(f"{name} lists {len(found)} topics, of at most {MAX_TOPICS}")
    topics = [replace(topic, source=name) for topic in found]
    return topics if any(topic.prerequisites for topic in topics) else []


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


def _list_markdown_rows(name: str, lines: list[str]) -> list[Topic]:
    """Return the topics of the first table in a text that lists some."""
    for number, line in enumerate(lines):
        header = CsvTable(name, tuple(cell.strip(" *") for cell in line.split("|")))
        if header.find_column(TOPIC_COLUMNS) and header.find_column(PREREQUISITE_COLUMNS):
            below = takewhile(lambda row: "|" in row, lines[number + 1 :])
            rows = [row for row in below if set(row) - set("|-: ")]
            return _list_rows(read_table(name, "\n".join(["|".join(header.columns), *rows])))
    return []


def _list_rows(table: CsvTable) -> list[Topic]:
    topic, needs = table.find_column(TOPIC_COLUMNS), table.find_column(PREREQUISITE_COLUMNS)
    hours = table.find_column(HOURS_COLUMNS)
    if topic is None or needs is None:
        return []
    return [
        Topic(
            _clean_name(row.cells[topic]),
            tuple(_split_names(row.cells[needs])),
            None if hours is None else _parse_hours(row.cells[hours]),
        )
        for row in table.rows
        if row.cells[topic]
    ]


def _split_names(text: str) -> Iterator[str]:
    names = dict.fromkeys(map(_clean_name, Pattern(r"[;,|]").split(text)))
    return (name for name in names if name.lower() not in _EMPTY_CELLS)


def _clean_name(text: str) -> str:
    return sanitize_line(text, MAX_NAME_CHARS)


def _parse_hours(text: str) -> Fraction | None:
    found = _HOURS_TEXT.fullmatch(text.strip().lower())
    hours = Fraction(found[1]) if found else Fraction()
    return hours if 0 < hours <= MAX_HOURS else None
