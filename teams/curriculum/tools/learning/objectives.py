"""Find learning objectives in materials, and assess their verbs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import Field

from extensions.tools.tables.reader import CsvTable, read_table
from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.csv_table import is_table_name
from nodes.text.plain_text import sanitize_line
from nodes.text.terms import list_base_forms
from nodes.tools.framework.tool_report import Severity, ToolReport, fit_to_size

from .course_tool import MaterialName, ShortText
from .sources import read_sources

TAXONOMY = (
    "the revised Bloom taxonomy (Anderson and Krathwohl, A Taxonomy for Learning, Teaching, and "
    "Assessing, 2001)"
)
_WORDS: Final = yaml.safe_load(Path(__file__).with_name("bloom.yaml").read_text(encoding="utf-8"))
LEVELS: Final = tuple[str, ...](_WORDS["levels"])
EMPTY_VERBS: Final = frozenset(_WORDS["empty"].split())
"""Verbs with no meaning without the word behind them: be familiar, gain insight."""
_SPELLING_PAIRS = (("ise", "ize"), ("yse", "yze"), ("ising", "izing"), ("ises", "izes"))


def find_level(verb: str) -> str:
    """Return the level a verb usually has; empty if it is on no list."""
    return _look_up(verb, _LEVEL_BY_VERB)


def suggest_better_verbs(verb: str) -> str:
    """Return better verbs for one that cannot be assessed; empty if it can."""
    return _look_up(verb, _BETTER_BY_VAGUE_VERB)


def _look_up(verb: str, table: Mapping[str, str]) -> str:
    """Return what a table has for a verb, in any form and in both spellings."""
    word = verb.lower()
    forms = [word, *sorted(list_base_forms(word) - {word})]
    for one, other in _SPELLING_PAIRS:
        forms += [form.removesuffix(one) + other for form in forms if form.endswith(one)]
    return next((table[form] for form in forms if form in table), "")


def _invert(words: Mapping[str, str]) -> dict[str, str]:
    return {verb: key for key, verbs in words.items() for verb in verbs.split()}


_LEVEL_BY_VERB: Final = _invert(_WORDS["levels"])
_BETTER_BY_VAGUE_VERB: Final = _invert(_WORDS["vague"])


MAX_OBJECTIVES = 200
MAX_OBJECTIVE_CHARS = 300
SHOWN_COUNTS = (60, 40, 20, 10)
"""Objectives shown, fewer where they are too long together."""

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


def check_objectives(
    materials: Mapping[str, str],
    material: MaterialName = "",
    objectives: Annotated[
        Sequence[ShortText],
        Field(
            description="Objectives to check, each one sentence; empty to read the materials",
            max_length=200,
        ),
    ] = (),
) -> dict[str, Any]:
    """Check whether each learning objective begins with a measurable verb, and its Bloom level.

    For vague verbs such as "understand" better ones are suggested.
    Example: check_objectives(objectives=["Understand cells", "Label a leaf"])

    Raises:
        ToolRefused: there are none.
    """
    found, failures = _collect_objectives(((text, None) for text in objectives), ""), list[str]()
    if not found:
        found, failures = read_sources(material, materials, find_objectives)
    if not found:
        missing = (
            "no learning objectives were found; give them as objectives, or name a material with "
            "a heading or column that says objectives"
        )
        raise ToolRefused("; ".join([*failures, missing]))
    if len(found) > MAX_OBJECTIVES:
        failures.append(f"only the first {MAX_OBJECTIVES} of {len(found)} objectives were checked")
    checked = [(objective, assess_verb(objective.text)) for objective in found[:MAX_OBJECTIVES]]
    return fit_to_size(lambda most: _build_report(checked, failures, most), SHOWN_COUNTS)


def find_objectives(name: str, text: str) -> list[Objective]:
    """Return the objectives of a material: under a heading, or in a column so named.

    Raises:
        ToolRefused: it is a table that cannot be read.
    """
    if is_table_name(name):
        return _collect_objectives(_list_cells(read_table(name, text)), name)
    return _collect_objectives(_find_in_lines(text.splitlines()), name)


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
        return VerbAssessment(verb, "measurable", level)
    if better := suggest_better_verbs(verb):
        named = bare[words[1].start() : words[1].end()].lower() if len(words) > 1 else ""
        if verb in EMPTY_VERBS and (about := suggest_better_verbs(named)):
            return VerbAssessment(f"{verb} {named}", "vague", better_verbs=about)
        return VerbAssessment(verb, "vague", better_verbs=better)
    return VerbAssessment(verb, "unknown")


def _collect_objectives(found: Iterable[tuple[str, int | None]], source: str) -> list[Objective]:
    kept: dict[str, Objective] = {}
    for text, line in found:
        item = _LIST_ITEM.match(text)
        shown = sanitize_line((item[1] if item else text).strip(" *_"), MAX_OBJECTIVE_CHARS)
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


def _list_cells(table: CsvTable) -> Iterator[tuple[str, int | None]]:
    for at in (n for n, name in enumerate(table.columns) if _OBJECTIVE_WORDS.search(name)):
        yield from ((row.cells[at], row.line) for row in table.rows)


def _build_report(
    checked: Sequence[tuple[Objective, VerbAssessment]], failures: list[str], most: int
) -> ToolReport:
    reply = ToolReport(lines=[_format_headline([verb for _, verb in checked]), ""])
    reply.failures += failures
    rows = [(o.text, verb.verb, verb.level or verb.verdict) for o, verb in checked[:most]]
    reply.add_table(("objective", "verb", "level"), rows)
    for objective, verb in checked[:most]:
        asks = f"asks to {verb.level}" if verb.level else f"has a verb that is {verb.verdict}"
        reply.add_claim(f"“{objective.text}” {asks}", objective.source, objective.text)
        if problem := _find_problem(objective, verb):
            severity, message, suggestion = problem
            reply.add_finding(severity, message, objective.source, suggestion, objective.line)
    if len(checked) > most:
        reply.gaps.append(f"{len(checked) - most} of {len(checked)} objectives are not shown.")
    used = {verb.level for _, verb in checked}
    if missing := [level for level in LEVELS if level not in used]:
        reply.lines.append(f"- No objective asks to: {', '.join(missing)}.")
    reply.gaps.append(
        "A verb's level is the usual one; what an objective really asks depends on the task that "
        "tests it, which is for a teacher to judge."
    )
    return reply


def _format_headline(verbs: Sequence[VerbAssessment]) -> str:
    verdicts = Counter(verb.verdict for verb in verbs)
    levels = Counter(verb.level for verb in verbs if verb.level)
    told = ", ".join(f"{levels[level]} {level}" for level in LEVELS if levels[level])
    parts = [f"{verdicts['measurable']} begin with a measurable verb{f' ({told})' if told else ''}"]
    parts += [f"{verdicts['vague']} with a vague one"] if verdicts["vague"] else []
    parts += [f"{verdicts['unknown']} with none that is known"] if verdicts["unknown"] else []
    return f"{format_count(len(verbs), 'objective')}: {', '.join(parts)}. Levels of {TAXONOMY}."


def _find_problem(objective: Objective, verb: VerbAssessment) -> tuple[Severity, str, str] | None:
    """Return the severity, the message and the suggestion; None if the objective is fine."""
    if verb.verdict == "vague":
        message = f"“{verb.verb}” cannot be assessed: {objective.text}"
        return "medium", message, f"Begin with a verb such as {verb.better_verbs}."
    if verb.verdict == "unknown":
        message = f"“{verb.verb}” is on no list of measurable verbs: {objective.text}"
        return "low", message, "Begin with what the learner does, such as explain or calculate."
    return None
