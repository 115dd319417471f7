"""Reads `evals.jsonl`, and reports every problem with its line and fix."""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from extensions.evals.matching import build_pattern
from extensions.evals.rows import ExamRow, Expectation, ExpectedFinding
from graph.teams.front_matter import FileProblem, read_text
from graph.teams.front_matter_keys import suggest_name
from nodes.limits.nesting import parse_json

EXAM_FILE: Final = "evals.jsonl"
ALLOWED_VALUES: Final = {
    "id": "1 to 60 letters, digits, dots, dashes or underscores",
    "request": "a string that is not empty",
    "files": "a list of paths, relative to the team's folder",
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
    folder: Path, workers: Collection[str] = ()
) -> tuple[list[ExamRow], list[FileProblem]]:
    """Return the rows and all their problems; without `workers`, worker names are not checked."""
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
            wrong = [*_list_row_problems(row, folder, workers), *_list_repeated_ids(row, seen)]
            seen.setdefault(row.id, number)
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
    names = [name for name, _ in pairs]
    if repeated := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"key {repeated!r} appears twice; keep one of them")
    return dict(pairs)


def _format_problem(error: ErrorDetails) -> str:
    *before, key = (str(part) for part in error["loc"] if isinstance(part, str))
    path = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        known = _list_known_keys(before)
        hint = suggest_name(key, known) or f"; known keys: {', '.join(known)}"
        return f"unknown key {path!r}{hint}"
    if error["type"] == "missing":
        return f"{path} is missing; it must be {ALLOWED_VALUES[key]}"
    shown = repr(error["input"])
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return f"{path} is {shown}; allowed: {ALLOWED_VALUES[key]}"


def _list_known_keys(place: Sequence[str]) -> list[str]:
    models: dict[str, type[BaseModel]] = {"expect": Expectation, "findings": ExpectedFinding}
    return list(models.get(place[-1] if place else "", ExamRow).model_fields)


def _list_row_problems(row: ExamRow, folder: Path, workers: Collection[str]) -> Iterator[str]:
    """Yield the problems of a row whose form is valid."""
    if row.expect == Expectation():
        yield f"expect is empty; it must be {ALLOWED_VALUES['expect']}"
    yield from _list_unknown_workers(row, workers)
    yield from _list_unmatchable_expectations(row.expect)
    for index, name in enumerate(row.files):
        if Path(name).is_absolute():
            yield f"files.{index} is {name!r}, which is absolute; write {ALLOWED_VALUES['files']}"
        elif not os.path.exists(folder / name):  # false also for a name that no file can have
            yield f"files.{index} is {name!r}, which does not exist; paths begin at {folder}"


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


def _list_repeated_ids(row: ExamRow, seen: dict[str, int]) -> Iterator[str]:
    if row.id in seen:
        yield f"id {row.id!r} is already used in line {seen[row.id]}; choose another"
