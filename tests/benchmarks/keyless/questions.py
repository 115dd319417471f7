"""The questions: what is asked about which files, and what a right answer must show."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.benchmarks.keyless.tables import Cell, query_tables
from tests.benchmarks.keyless.texts import find_fact, find_name, read_text

Kind = Literal["document", "table", "unanswerable"]
KINDS: tuple[Kind, ...] = ("document", "table", "unanswerable")
RELATIVE_CHECK = 1e-6
"""A figure that is written with a question may differ so much from its computation."""


class QuestionInvalid(Exception):
    """A question does not fit its documents; the message names it."""


@dataclass(frozen=True)
class Question:
    """A request about some files. The paths are those of files or folders among the documents."""

    id: str
    kind: Kind
    files: tuple[str, ...]
    request: str
    facts: tuple[str, ...] = ()
    """Patterns, each of which must be found in the answer to a question on documents."""
    sql: str = ""
    """Computes what a question on tables wants; the files are the tables `t`, `t2` and so on."""
    values: tuple[Cell, ...] = ()
    """The cells that `sql` computes, row by row: numbers, and names."""
    rivals: str = ""
    """Selects all names that could have been the answer, where names are wanted."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other ways to write a name."""
    columns: tuple[str, ...] = ()
    """What the answer must name: a column, or `column|value` where one is enough."""
    is_percent: bool = False
    """Whether a fraction is as good as the percentage that `sql` computes."""
    is_unordered: bool = False
    """Whether the names may be in any order."""
    language: str = "en"


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a JSONL file."""
    return [_read_question(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _read_question(row: dict[str, object]) -> Question:
    tuples = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    aliases = row.get("aliases")
    if isinstance(aliases, dict):
        tuples["aliases"] = {name: tuple(others) for name, others in aliases.items()}  # type: ignore[assignment]
    return Question(**{**row, **tuples})  # type: ignore[arg-type]


def list_files(question: Question, documents: Path) -> list[Path]:
    """Return the files of a question, those inside its folders too."""
    paths = [documents / name for name in question.files]
    return [
        file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]


def check_question(question: Question, documents: Path) -> None:
    """Check that the documents answer a question as it says.

    Raises:
        QuestionInvalid: a fact is in no file, or already in the request, or a figure is not what
            its computation gives.
    """
    for problem in _list_problems(question, list_files(question, documents)):
        raise QuestionInvalid(f"{question.id}: {problem}")


def _list_problems(question: Question, files: list[Path]) -> Iterator[str]:
    if question.kind not in KINDS:
        yield f"no kind {question.kind!r}"
    texts = [read_text(file) for file in files]
    for fact in question.facts:
        if find_fact(fact, question.request):
            yield f"the request holds the fact {fact!r}"
        if not any(find_fact(fact, text) for text in texts):
            yield f"no file holds the fact {fact!r}"
    if question.kind == "document" and not question.facts:
        yield "no fact"
    if question.kind == "table":
        yield from _list_wrong_figures(question, files)


def _list_wrong_figures(question: Question, files: list[Path]) -> Iterator[str]:
    computed = [cell for row in query_tables(question.sql, files) for cell in row]
    if len(computed) != len(question.values) or not computed:
        yield f"{computed} is computed, {list(question.values)} is written"
        return
    for cell, written in zip(computed, question.values, strict=True):
        if not _is_same(cell, written):
            yield f"{cell!r} is computed, {written!r} is written"
        if find_name(question.request, str(written)):
            yield f"the request holds {written!r}"
    names = [cell for cell in computed if isinstance(cell, str)]
    rivals = [row[0] for row in query_tables(question.rivals, files)] if names else []
    yield from (f"{name!r} is no rival" for name in names if name not in rivals)


def _is_same(cell: Cell, written: Cell) -> bool:
    if isinstance(cell, str) or isinstance(written, str):
        return cell == written
    return abs(cell - written) <= RELATIVE_CHECK * max(1.0, abs(cell))
