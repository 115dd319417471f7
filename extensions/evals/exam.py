"""The exam of a team, `evals.jsonl`: its rows, read and checked, and the files that these name."""

import json
import os
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError
from pydantic_core import ErrorDetails

from graph.extensions import Replays
from graph.teams.front_matter import FileProblem, read_text, suggest_name
from nodes.errors import SupervisorError, UsageError
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from state import COMPLETE_STATUSES, EscalationReason, Severity

NonBlankText = Annotated[str, Field(pattern=r"\S")]
RunEnding = Literal["done", "passages", "partial", "needs_input", "failed"]
"""How a run may end."""


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ExpectedFinding(_StrictModel):
    """A finding that the answer must have; omitted fields match anything."""

    file: str = ""
    line: StrictInt | None = Field(None, ge=1)
    severity: Severity | None = None
    message: str = ""
    """A part of the finding's message."""

    def __str__(self) -> str:
        return " ".join(str(value) for _, value in self if value)


class Expectation(_StrictModel):
    """The expected result of a row; omitted fields are not checked."""

    workers: tuple[NonBlankText, ...] = ()
    """Workers that the plan must use; if the team routes, exactly these."""
    edges: tuple[tuple[NonBlankText, NonBlankText], ...] = ()
    """Pairs of workers: a task of the second needs the result of a task of the first."""
    facts: tuple[NonBlankText, ...] = ()
    """Texts that the answer must contain; one between slashes is a regular expression."""
    sources: tuple[NonBlankText, ...] = ()
    """Sources that the answer must name."""
    findings: tuple[ExpectedFinding, ...] = ()
    status: RunEnding | None = None
    """How the run must end; `done`, or `passages`, if omitted, unless an escalation is expected."""
    escalation: EscalationReason | None = None
    """The reason for which a task must have been finally escalated."""
    judged: str = ""
    """A criterion by which a model judges the answer."""

    @property
    def needs_only_a_plan(self) -> bool:
        """Return whether a plan is enough to grade the row."""
        of_a_run = (self.facts, self.sources, self.findings, self.judged)
        return not any(of_a_run) and self.status is None and self.escalation is None

    @property
    def expects_refusal(self) -> bool:
        """Return whether the run must not end with a complete answer."""
        return self.escalation is not None or self.status not in (None, *COMPLETE_STATUSES)


class ExamRow(_StrictModel):
    """One question of an exam."""

    id: str = Field(pattern=r"^[A-Za-z0-9_.\-]{1,60}$")
    request: NonBlankText
    files: tuple[NonBlankText, ...] = ()
    """Documents, or folders of documents, relative to the team's folder."""
    worker: str = ""
    """The worker that gets the request as its only task, without a planner; empty for the team."""
    record: str = Field("", pattern=r"^(records/[A-Za-z0-9_.\-]{1,60}\.record)?$")
    """Of a run, in the team's folder: it has the materials, too, and can be replayed."""
    expect: Expectation


EXAM_FILE: Final = "evals.jsonl"
ALLOWED_VALUES: Final = {
    "id": "1 to 60 letters, digits, dots, dashes or underscores",
    "request": "a string that is not empty",
    "files": "a list of paths, relative to the team's folder",
    "record": "records/NAME.record in the team's folder",
    "expect": f"an object with any of {', '.join(Expectation.model_fields)}",
    "workers": "a list of names of workers",
    "edges": 'a list of pairs of workers, such as ["researcher", "analyst"]',
    "facts": "a list of strings; one between slashes is a regular expression",
    "sources": "a list of names of sources",
    "findings": f"a list of objects with any of {', '.join(ExpectedFinding.model_fields)}",
    "status": "done, passages, partial, needs_input, failed",
    "escalation": "out_of_scope, ambiguous_input, confidence_too_low, timeout",
    "judged": "a criterion in words",
    "file": "a name",
    "line": "a whole number from 1",
    "severity": "critical, high, medium, low, info",
    "message": "words of the finding",
}


def read_exam(
    folder: Path, workers: Collection[str] = (), replays: Replays | None = None
) -> tuple[list[ExamRow], list[FileProblem]]:
    """Return the rows and all their problems.

    Args:
        workers: of the team; without them the names of workers are not checked.
        replays: reads the records, too; without it they only have to be there.
    """
    path = folder / EXAM_FILE
    try:
        lines = read_text(path, folder).split("\n")
    except FileProblem as problem:
        return [], [problem]
    rows: list[ExamRow] = []
    problems: list[FileProblem] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row, wrong = _parse_row(line)
        if row:
            wrong = list(_list_row_problems(row, folder, workers))
            wrong += _list_record_problems(row.record, folder, replays) if row.record else ()
            if (first := seen.setdefault(row.id, number)) != number:
                wrong.append(f"id {row.id!r} is already used in line {first}; choose another")
            rows.append(row)
        problems += [FileProblem(path, text, number) for text in wrong]
    return rows, problems


def _parse_row(line: str) -> tuple[ExamRow | None, list[str]]:
    try:
        value = parse_json(line, object_pairs_hook=_reject_repeated_keys)
    except json.JSONDecodeError as error:
        return None, [f"is not JSON: {error.msg}, column {error.colno}; write one object a line"]
    except ValueError as error:
        return None, [str(error)]
    if not isinstance(value, dict):
        return None, [f"a row must be an object with {', '.join(ExamRow.model_fields)}"]
    try:
        return ExamRow.model_validate(value), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, list(dict.fromkeys(map(_format_problem, details)))


def _reject_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict[str, Any]()
    for name, value in pairs:
        if name in found:
            raise ValueError(f"key {name!r} appears twice; keep one of them")
        found[name] = value
    return found


def _format_problem(error: ErrorDetails) -> str:
    *before, key = (str(part) for part in error["loc"] if isinstance(part, str))
    path = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        models: dict[str, type[BaseModel]] = {"expect": Expectation, "findings": ExpectedFinding}
        known = list(models.get(before[-1] if before else "", ExamRow).model_fields)
        hint = suggest_name(key, known) or f"; known keys: {', '.join(known)}"
        return f"unknown key {path!r}{hint}"
    if error["type"] == "missing":
        return f"{path} is missing; it must be {ALLOWED_VALUES[key]}"
    shown = repr(error["input"])
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"{path} is {shown}; allowed: {ALLOWED_VALUES[key]}"


def _list_row_problems(row: ExamRow, folder: Path, workers: Collection[str]) -> Iterator[str]:
    """Yield the problems of a row whose form is valid."""
    expect = row.expect
    if expect == Expectation():
        yield f"expect is empty; it must be {ALLOWED_VALUES['expect']}"
    yield from _list_unknown_workers(row, workers)
    yield from _list_unmatchable_expectations(expect)
    for index, name in enumerate(row.files):
        if Path(name).is_absolute():
            yield f"files.{index} is {name!r}, which is absolute; write {ALLOWED_VALUES['files']}"
        elif not os.path.exists(folder / name):  # false also for a name that no file can have
            yield f"files.{index} is {name!r}, which does not exist; paths begin at {folder}"


def _list_unmatchable_expectations(expect: Expectation) -> Iterator[str]:
    for index, fact in enumerate(expect.facts):
        try:
            build_pattern(fact)
        except ValueError as error:
            yield f"expect.facts.{index} is not a regular expression: {error}; fix it"
    for index, finding in enumerate(expect.findings):
        if finding == ExpectedFinding():
            known = ", ".join(ExpectedFinding.model_fields)
            yield f"expect.findings.{index} is empty; add any of {known}"


def _list_record_problems(name: str, folder: Path, replays: Replays | None) -> Iterator[str]:
    path = (folder / name).resolve()
    if not path.is_file() or not path.is_relative_to(folder.resolve()):
        yield f"record is {name!r}, which does not exist in {folder}"
    elif replays:
        try:
            replays.load_materials(folder / name)
        except SupervisorError as error:
            yield str(error)


def _list_unknown_workers(row: ExamRow, workers: Collection[str]) -> Iterator[str]:
    named = {"worker": row.worker} if row.worker else {}
    for index, name in enumerate(row.expect.workers):
        named[f"expect.workers.{index}"] = name
    for index, edge in enumerate(row.expect.edges):
        named |= {f"expect.edges.{index}.{end}": name for end, name in enumerate(edge)}
    for place, name in named.items():
        if workers and name not in workers:
            hint = suggest_name(name, workers) or f"; the team has {', '.join(workers)}"
            yield f"{place} is {name!r}, which is not a worker of the team{hint}"


class ExamInvalid(UsageError):
    """An exam cannot be used; `problems` lists everything that is wrong with it."""

    def __init__(self, what: str, *, problems: Sequence[str] = (), next: str = "") -> None:
        super().__init__(what, next=next)
        self.problems = list(problems)


@dataclass(frozen=True)
class Exam:
    """The rows of an exam, and the folder to which their files are relative."""

    folder: Path
    rows: tuple[ExamRow, ...]
    skipped: int | None = None
    """Rows that were left out for they have no record; None where none is needed."""

    def select_rows(
        self,
        limit: int | None = None,
        only: Collection[str] = (),
        *,
        replayed: bool = False,
        answers: bool = False,
    ) -> "Exam":
        """Return the exam with only the named rows, and of these only the first `limit`.

        Args:
            replayed: leave out rows without a record.
            answers: leave out rows that are only planned.

        Raises:
            UsageError: no row has one of the ids, or none is left.
        """
        known = {row.id for row in self.rows}
        if missing := sorted(set(only) - known):
            raise UsageError(
                f"the exam has no row {missing[0]!r}{suggest_name(missing[0], known)}",
                next=f"choose one of the rows of {self.folder / EXAM_FILE}",
            )
        rows = tuple(row for row in self.rows if not only or row.id in only)
        kept = tuple(row for row in rows if row.record or not replayed)
        if not kept:
            raise UsageError(
                "none of these rows has a record", next="supervise case THREAD makes one"
            )
        kept = kept[:limit]
        if answers and not (kept := tuple(row for row in kept if not row.expect.needs_only_a_plan)):
            raise UsageError("these rows are about plans alone, and a single agent makes none")
        return replace(self, rows=kept, skipped=len(rows) - len(kept) if replayed else None)


def load_exam(folder: Path, workers: Collection[str]) -> Exam:
    """Read the exam of a team whose workers are known.

    Raises:
        ExamInvalid: there is no exam, or it has problems.
    """
    if not (folder / EXAM_FILE).exists():
        raise ExamInvalid(
            f"{folder} has no {EXAM_FILE}",
            next='write one: a line is {"id": …, "request": …, "expect": {…}}',
        )
    rows, problems = read_exam(folder, workers)
    if problems:
        count = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ExamInvalid(
            f"{problems[0]}{count}",
            problems=[str(problem) for problem in problems],
            next=f"fix the lines; supervise check {folder} lists every problem",
        )
    return Exam(folder, tuple(rows))


_THOUSANDS: Final = Pattern(r"(?<=\d),(?=\d{3}(?!\d))")


@lru_cache(maxsize=4096)
def build_pattern(expected: str) -> Pattern:
    """Return the pattern of an expected text; text between slashes is a regular expression.

    A text that begins or ends with a digit does not match inside a longer number.

    Raises:
        ValueError: the text between slashes is not a regular expression.
    """
    if len(expected) > 2 and expected.startswith("/") and expected.endswith("/"):
        pattern = Pattern(expected[1:-1], re.IGNORECASE)
        pattern.check()
        return pattern
    letters = "".join(_normalize_text(expected).split())
    # `str.split` also splits at the four ASCII separators.
    body = r"[\s\x1c-\x1f]*".join(map(re.escape, letters))
    before = r"(?<!\d)(?<!\d[.,])" if letters[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if letters[-1:].isdigit() else ""
    return Pattern(f"{before}{body}{after}", re.IGNORECASE)


def is_found_in(expected: str, text: str) -> bool:
    """Return whether a text contains an expected text; `1,200` is also read as 1200."""
    pattern, whole = build_pattern(expected), _normalize_text(text)
    return bool(pattern.search(whole) or pattern.search(_THOUSANDS.sub("", whole)))


def _normalize_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
