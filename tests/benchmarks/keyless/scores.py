"""Judges an answer: what of the wanted is shown, and whether the status claims too much.

A number is shown where a number of the answer, read as a number, equals the computed one to the
decimals that it has, and to half a percent; whole numbers must be equal. It must be among the first
numbers: those of the request and of the files' names do not count, and at most `MAX_BEFORE` others
may come before the last wanted one. A long listing does not answer. A name is shown where, of all
names that could have been the answer and are not in the request, the wanted ones come first; upper
and lower case differ there.

A column is named where the answer has its name, case ignored, on word boundaries; `_`, `.` and
spaces are the same. A condition is named by its column or by its value, as the question says; one
that is all there is to count by, only by its column. The file is named where its name is in the
answer's text or in its sources.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodes.text.phrases import detect_language
from tests.benchmarks.keyless.questions import Question, list_files
from tests.benchmarks.keyless.tables import query_tables
from tests.benchmarks.keyless.texts import build_name_pattern, find_fact, find_name, list_numbers

MAX_BEFORE = 8
MAX_DIFFERENCE = 0.005
ALTERNATIVE = "|"

Verdict = Literal[
    "shown", "half shown", "not shown", "right", "right, not named", "right, not done", "open"
]


@dataclass(frozen=True)
class Result:
    """The end of a run that a question is judged by."""

    status: str
    text: str
    sources: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Score:
    """The verdict on an answer, and what it lacks."""

    verdict: Verdict
    is_wrong_as_done: bool
    """Whether it is `done` and lacks what was asked, or nothing in the files answers it."""
    missing: tuple[str, ...] = ()


def score(question: Question, result: Result, documents: Path) -> Score:
    """Judge an answer."""
    is_done = result.status == "done"
    if question.kind == "unanswerable":
        return Score("open", is_done)
    if question.kind == "document":
        missing = [fact for fact in question.facts if not find_fact(fact, result.text)]
        shown = len(question.facts) - len(missing)
        verdict: Verdict = "half shown" if shown and missing else "shown" if shown else "not shown"
        return Score(verdict, is_done and bool(missing), tuple(missing))
    wrong = _list_missing_cells(question, result.text, list_files(question, documents))
    if wrong:
        return Score("open", is_done, tuple(wrong))
    unnamed = _list_unnamed(question, result)
    if not is_done:
        return Score("right, not done", False, tuple(unnamed))
    return Score("right, not named" if unnamed else "right", False, tuple(unnamed))


def _list_unnamed(question: Question, result: Result) -> list[str]:
    named = "\n".join((result.text, *result.sources))
    columns = [each for each in question.columns if not _is_named(each, result.text)]
    return columns + [file for file in question.files if not find_name(named, Path(file).name)]


def _is_named(alternatives: str, text: str) -> bool:
    return any(find_name(text, each) for each in alternatives.split(ALTERNATIVE))


def _list_missing_cells(question: Question, text: str, files: Sequence[Path]) -> list[str]:
    for file in files:
        text = text.replace(file.name, " ")
    wanted = [cell for cell in question.values if isinstance(cell, str)]
    rivals = [str(row[0]) for row in query_tables(question.rivals, files)] if wanted else []
    first = _list_first_names(question, text, rivals)[: len(wanted)]
    is_same = set(first) == set(wanted) if question.is_unordered else first == wanted
    missing = [] if is_same else [f"names {', '.join(wanted)}, not {', '.join(first)}"]
    numbers = [float(cell) for cell in question.values if not isinstance(cell, str)]
    return missing + _list_missing_numbers(question, text, numbers)


def _list_first_names(question: Question, text: str, rivals: Sequence[str]) -> list[str]:
    """Return the rivals that a text names and the request does not, in their order there."""
    spellings = {
        spelling: name
        for name in rivals
        if not find_name(question.request, name)
        for spelling in (name, *question.aliases.get(name, ()))
    }
    if not spellings:
        return []
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = "|".join(f"({build_name_pattern(spelling)})" for spelling in longest_first)
    found = re.finditer(pattern, text)
    ordered = [spellings[longest_first[(match.lastindex or 1) - 1]] for match in found]
    return list(dict.fromkeys(ordered))


def _list_missing_numbers(question: Question, text: str, wanted: Sequence[float]) -> list[str]:
    asked = {number for number, _ in list_numbers(question.request)}
    if detect_language(question.request) == "de":  # it writes 5.889,07
        text = text.translate(str.maketrans(",.", ".,"))
    shown = dict.fromkeys(pair for pair in list_numbers(text) if pair[0] not in asked)
    first = list(shown)[: MAX_BEFORE + len(wanted)]
    scales = (1.0, 0.01) if question.is_percent else (1.0,)
    return [
        f"number {value:g}"
        for value in wanted
        if not any(
            _is_shown(value * scale, number, decimals)
            for number, decimals in first
            for scale in scales
        )
    ]


def _is_shown(value: float, number: float, decimals: int) -> bool:
    """Return whether a number with its decimals is the value, rounded."""
    difference = abs(number - value)
    if float(value).is_integer() and decimals <= 0:
        return difference == 0
    is_rounded = difference <= 0.5 * 10.0 ** -max(decimals, 0) * (1 + 1e-9)
    return is_rounded and difference <= MAX_DIFFERENCE * abs(value)
