"""Read topics, their prerequisites and hours, and order them: sequence, levels, longest chain."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
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


MAX_NAMED_IN_CYCLE = 12


@dataclass(frozen=True)
class TopicSequence:
    """Topics in an order in which each comes after its prerequisites."""

    topics: tuple[Topic, ...]
    levels: Mapping[str, int]
    """From 1: topics without prerequisites; then one more than the highest prerequisite."""
    longest_chain: tuple[str, ...]
    """The longest chain of topics in which each is a prerequisite of the next."""
    unlisted_prerequisites: Mapping[str, str]
    """Prerequisites that are not listed, with the listed topic that may be meant."""
    repeated_topics: tuple[str, ...]


def order_topics(given: Iterable[Topic]) -> TopicSequence:
    """Order topics; each comes as early as its place in the list and its prerequisites allow.

    Raises:
        ToolRefused: they depend on each other in a cycle, which is named.
    """
    topics, repeated = _merge_repeated(given)
    needs = {
        key: [need.casefold() for need in topic.prerequisites if need.casefold() in topics]
        for key, topic in topics.items()
    }
    _reject_cycle(needs, topics)
    chains: dict[str, tuple[str, ...]] = {}
    while left := [key for key in topics if key not in chains]:
        key = next(key for key in left if all(need in chains for need in needs[key]))
        before = max((chains[need] for need in needs[key]), key=len, default=())
        chains[key] = (*before, topics[key].name)
    return TopicSequence(
        topics=tuple(topics[key] for key in chains),
        levels={topics[key].name: len(chain) for key, chain in chains.items()},
        longest_chain=max(chains.values(), key=len, default=()),
        unlisted_prerequisites=_find_unlisted(topics),
        repeated_topics=repeated,
    )


def _merge_repeated(given: Iterable[Topic]) -> tuple[dict[str, Topic], tuple[str, ...]]:
    """Merge topics that are listed twice, ignoring case."""
    topics: dict[str, Topic] = {}
    repeated: dict[str, None] = {}
    for topic in given:
        if known := topics.get(topic.name.casefold()):
            repeated[known.name] = None
            needs = tuple(dict.fromkeys(known.prerequisites + topic.prerequisites))
            topic = replace(known, prerequisites=needs, hours=known.hours or topic.hours)
        topics[topic.name.casefold()] = topic
    return topics, tuple(repeated)


def _reject_cycle(needs: Mapping[str, list[str]], topics: Mapping[str, Topic]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        names = [topics[key].name for key in error.args[1]]
        raise ToolRefused(
            f"the prerequisites go in a circle: {' → '.join(names[:MAX_NAMED_IN_CYCLE])}, each "
            "needed by the next; no order is possible until one prerequisite is taken out"
        ) from None


def _find_unlisted(topics: Mapping[str, Topic]) -> dict[str, str]:
    """Return the prerequisites that are not listed, with the listed topic that may be meant."""
    found: dict[str, str] = {}
    for need in (need for topic in topics.values() for need in topic.prerequisites):
        if need.casefold() not in topics and need not in found:
            near = get_close_matches(need.casefold(), topics, 1)
            found[need] = topics[near[0]].name if near else ""
    return found
