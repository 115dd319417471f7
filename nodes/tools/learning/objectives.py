"""Learning objectives: where they stand in a material, and what their verb asks."""

import csv
import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

import yaml

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.learning.bloom import EMPTY, better_than, level_of
from nodes.tools.plain_text import plain_line

MAX_ENTRIES = 20_000
"""Values of a YAML file: a few aliases may stand for very many."""
MAX_OBJECTIVE_CHARS = 300
MAX_TEXT_CHARS = 200_000

Verdict = Literal["measurable", "vague", "unknown"]

_HEADING = Pattern(r"^(#{1,6})\s+(.*)$")
_NAMED = Pattern(r"objective|outcome|able to", re.IGNORECASE)
_ITEM = Pattern(r"^\s*(?:[-*+•]|\d+[.)]|[a-z][.)])\s+(.*\S)\s*$")
_LEAD = Pattern(
    r"^(?:(?:by|at) the end of [^,]{1,80},\s*|after [^,]{1,80},\s*|upon [^,]{1,80},\s*)?"
    r"(?:the\s+)?(?:students?|learners?|pupils?|participants?|trainees?|you|they|everyone)\s+"
    r"(?:(?:will|should|can|must|are|is|shall)\s+(?:be\s+able\s+to\s+)?|be\s+able\s+to\s+)",
    re.IGNORECASE,
)
_TO = Pattern(r"^(?:be able to|able to|to)\s+", re.IGNORECASE)
_WORD = Pattern(r"[A-Za-z][A-Za-z\-']*")
_SECOND = Pattern(r"^(?:and|or|and/or|&|,)\s*(?:then\s+)?([A-Za-z\-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Objective:
    """What a learner is to be able to do, and where that stands."""

    text: str
    source: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Reading:
    """What the verb of an objective asks."""

    verb: str
    verdict: Verdict
    level: str = ""
    better: str = ""
    second: str = ""
    """A second verb that asks for something else."""


def holds_objectives(name: str, text: str) -> bool:
    """Say whether a material names learning objectives."""
    try:
        return bool(objectives_of(name, text))
    except ToolRefused:
        return False


def objectives_of(name: str, text: str) -> list[Objective]:
    """Find the objectives of a material: under a heading, in a column or under a key so named.

    Raises:
        ToolRefused: it is too large, or cannot be read as what its name promises.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ToolRefused(f"{name} has {len(text)} characters, of at most {MAX_TEXT_CHARS}")
    match PurePosixPath(name.lower()).suffix:
        case ".csv" | ".tsv":
            found = _from_table(text, "excel-tab" if name.lower().endswith(".tsv") else "excel")
        case ".yaml" | ".yml" | ".json":
            found = _from_yaml(text)
        case _:
            found = _from_lines(text.splitlines())
    try:
        return _kept(found, name)
    except (csv.Error, yaml.YAMLError, ValueError, RecursionError) as error:
        reason = plain_line(str(error), 120)
        raise ToolRefused(f"{name} cannot be read: {reason}; mend its syntax") from None


def objectives_in(text: str) -> list[Objective]:
    """Read objectives that are given as they are, one a line."""
    lines = [item[1] if (item := _ITEM.match(line)) else line.strip() for line in text.splitlines()]
    return _kept(((line, None) for line in lines if line and not _HEADING.match(line)), "")


def read(objective: str) -> Reading:
    """Judge an objective by its first verb; adverbs before it are passed over."""
    bare = _TO.sub("", _LEAD.sub("", objective.strip(" *_\"'")))
    words = list(_WORD.finditer(bare))
    while len(words) > 1 and words[0][0].lower().endswith("ly") and not level_of(words[0][0]):
        words.pop(0)
    if not words:
        return Reading("", "unknown")
    verb = words[0][0].lower()
    if level := level_of(verb):
        after = _SECOND.match(bare[words[0].end() :].lstrip())
        second = after[1].lower() if after and level_of(after[1]) else ""
        return Reading(verb, "measurable", level, second=second)
    if better := better_than(verb):
        named = bare[words[1].start() : words[1].end()].lower() if len(words) > 1 else ""
        if verb in EMPTY and (about := better_than(named)):
            return Reading(f"{verb} {named}", "vague", better=about)
        return Reading(verb, "vague", better=better)
    return Reading(verb, "unknown")


def _kept(found: Iterable[tuple[str, int | None]], source: str) -> list[Objective]:
    kept: dict[str, Objective] = {}
    for text, line in found:
        shown = plain_line(text.strip(" *_"), MAX_OBJECTIVE_CHARS)
        if shown:
            kept.setdefault(shown, Objective(shown, source, line))
    return list(kept.values())


def _from_lines(lines: list[str]) -> Iterator[tuple[str, int | None]]:
    """Give the items below a heading that names objectives, and lines that say who can do what."""
    is_below = False
    for number, line in enumerate(lines, start=1):
        heading = _HEADING.match(line)
        item = _ITEM.match(line)
        text = item[1] if item else line.strip()
        if heading:
            is_below = bool(_NAMED.search(heading[2]))
        elif not item and text.endswith(":"):
            is_below = is_below or bool(_NAMED.search(text))
        elif (item and is_below) or _LEAD.match(text):
            yield text, number


def _from_table(text: str, dialect: str) -> Iterator[tuple[str, int | None]]:
    rows = csv.reader(io.StringIO(text), dialect)
    header = next(rows, [])
    columns = [index for index, cell in enumerate(header) if _NAMED.search(cell)]
    for row in rows:
        yield from ((row[at], rows.line_num) for at in columns if at < len(row))


def _from_yaml(text: str) -> Iterator[tuple[str, int | None]]:
    held = deque([("", yaml.safe_load(text))])
    seen = 0
    while held:
        name, value = held.popleft()
        seen += 1
        if seen > MAX_ENTRIES:
            raise ValueError(f"it has more than {MAX_ENTRIES} entries")
        if isinstance(value, Mapping):
            held.extend((str(key), each) for key, each in value.items())
        elif isinstance(value, list):
            held.extend((name, each) for each in value)
        elif isinstance(value, str) and _NAMED.search(name):
            yield value, None
