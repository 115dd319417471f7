"""Find learning objectives in materials, and assess their verbs."""

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
from nodes.text.plain_text import sanitize_line

from .bloom import EMPTY_VERBS, find_level, suggest_better_verbs

MAX_YAML_VALUES = 20_000
"""Limit on the values of a YAML file: a few aliases may expand to very many."""
MAX_OBJECTIVE_CHARS = 300
MAX_TEXT_CHARS = 200_000

VerbVerdict = Literal["measurable", "vague", "unknown"]

_HEADING = Pattern(r"^(#{1,6})\s+(.*)$")
_OBJECTIVE_WORDS = Pattern(r"objective|outcome|able to", re.IGNORECASE)
_LIST_ITEM = Pattern(r"^\s*(?:[-*+•]|\d+[.)]|[a-z][.)])\s+(.*\S)\s*$")
_LEARNER_LEAD = Pattern(
    r"^(?:(?:by|at) the end of [^,]{1,80},\s*|after [^,]{1,80},\s*|upon [^,]{1,80},\s*)?"
    r"(?:the\s+)?(?:students?|learners?|pupils?|participants?|trainees?|you|they|everyone)\s+"
    r"(?:(?:will|should|can|must|are|is|shall)\s+(?:be\s+able\s+to\s+)?|be\s+able\s+to\s+)",
    re.IGNORECASE,
)
_TO_PREFIX = Pattern(r"^(?:be able to|able to|to)\s+", re.IGNORECASE)
_WORD = Pattern(r"[A-Za-z][A-Za-z\-']*")
_SECOND_VERB = Pattern(r"^(?:and|or|and/or|&|,)\s*(?:then\s+)?([A-Za-z\-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Objective:
    """What a learner is to be able to do, and where it is stated."""

    text: str
    source: str = ""
    line: int | None = None


@dataclass(frozen=True)
class VerbAssessment:
    """The level of an objective's verb."""

    verb: str
    verdict: VerbVerdict
    level: str = ""
    better_verbs: str = ""
    second_verb: str = ""
    """A second verb with another level."""


def holds_objectives(name: str, text: str) -> bool:
    """Return whether a material names learning objectives."""
    try:
        return bool(find_objectives(name, text))
    except ToolRefused:
        return False


def find_objectives(name: str, text: str) -> list[Objective]:
    """Return the objectives of a material: under a heading, in a column or under a key so named.

    Raises:
        ToolRefused: it is too large, or cannot be parsed as its name suggests.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ToolRefused(f"{name} has {len(text)} characters, of at most {MAX_TEXT_CHARS}")
    match PurePosixPath(name.lower()).suffix:
        case ".csv" | ".tsv":
            found = _find_in_table(text, "excel-tab" if name.lower().endswith(".tsv") else "excel")
        case ".yaml" | ".yml" | ".json":
            found = _find_in_yaml(text)
        case _:
            found = _find_in_lines(text.splitlines())
    try:
        return _collect_objectives(found, name)
    except (csv.Error, yaml.YAMLError, ValueError, RecursionError) as error:
        reason = sanitize_line(str(error), 120)
        raise ToolRefused(f"{name} cannot be read: {reason}; fix its syntax") from None


def parse_objective_lines(text: str) -> list[Objective]:
    """Parse objectives passed as text, one per line."""
    lines = [
        item[1] if (item := _LIST_ITEM.match(line)) else line.strip() for line in text.splitlines()
    ]
    return _collect_objectives(
        ((line, None) for line in lines if line and not _HEADING.match(line)), ""
    )


def assess_verb(objective: str) -> VerbAssessment:
    """Assess an objective by its first verb; adverbs before it are skipped."""
    bare = _TO_PREFIX.sub("", _LEARNER_LEAD.sub("", objective.strip(" *_\"'")))
    words = list(_WORD.finditer(bare))
    while len(words) > 1 and words[0][0].lower().endswith("ly") and not find_level(words[0][0]):
        words.pop(0)
    if not words:
        return VerbAssessment("", "unknown")
    verb = words[0][0].lower()
    if level := find_level(verb):
        after = _SECOND_VERB.match(bare[words[0].end() :].lstrip())
        second = after[1].lower() if after and find_level(after[1]) else ""
        return VerbAssessment(verb, "measurable", level, second_verb=second)
    if better := suggest_better_verbs(verb):
        named = bare[words[1].start() : words[1].end()].lower() if len(words) > 1 else ""
        if verb in EMPTY_VERBS and (about := suggest_better_verbs(named)):
            return VerbAssessment(f"{verb} {named}", "vague", better_verbs=about)
        return VerbAssessment(verb, "vague", better_verbs=better)
    return VerbAssessment(verb, "unknown")


def _collect_objectives(found: Iterable[tuple[str, int | None]], source: str) -> list[Objective]:
    kept: dict[str, Objective] = {}
    for text, line in found:
        shown = sanitize_line(text.strip(" *_"), MAX_OBJECTIVE_CHARS)
        if shown:
            kept.setdefault(shown, Objective(shown, source, line))
    return list(kept.values())


def _find_in_lines(lines: list[str]) -> Iterator[tuple[str, int | None]]:
    """Return the items below a heading that names objectives, and lines such as "X can do Y"."""
    is_below = False
    for number, line in enumerate(lines, start=1):
        heading = _HEADING.match(line)
        item = _LIST_ITEM.match(line)
        text = item[1] if item else line.strip()
        if heading:
            is_below = bool(_OBJECTIVE_WORDS.search(heading[2]))
        elif not item and text.endswith(":"):
            is_below = is_below or bool(_OBJECTIVE_WORDS.search(text))
        elif (item and is_below) or _LEARNER_LEAD.match(text):
            yield text, number


def _find_in_table(text: str, dialect: str) -> Iterator[tuple[str, int | None]]:
    rows = csv.reader(io.StringIO(text), dialect)
    header = next(rows, [])
    columns = [index for index, cell in enumerate(header) if _OBJECTIVE_WORDS.search(cell)]
    for row in rows:
        yield from ((row[at], rows.line_num) for at in columns if at < len(row))


def _find_in_yaml(text: str) -> Iterator[tuple[str, int | None]]:
    held = deque([("", yaml.safe_load(text))])
    seen = 0
    while held:
        name, value = held.popleft()
        seen += 1
        if seen > MAX_YAML_VALUES:
            raise ValueError(f"it has more than {MAX_YAML_VALUES} entries")
        if isinstance(value, Mapping):
            held.extend((str(key), each) for key, each in value.items())
        elif isinstance(value, list):
            held.extend((name, each) for each in value)
        elif isinstance(value, str) and _OBJECTIVE_WORDS.search(name):
            yield value, None
