"""Ask the built-in model questions on public documents and tables; print what it shows and claims.

    python -m tests.benchmarks.keyless QUESTIONS [--out FILE] [--cache FOLDER] [--rows N]

QUESTIONS is a folder with `questions.jsonl` and either `documents/` or the lists of what is fetched
from the package index: `tests/benchmarks/keyless/questions`. Each question is a run of its own, as
`supervise run REQUEST --file …` makes it, without any language model. What counts as shown, right
and named is in `scores.py`; `--out` writes each answer with its verdict, for a human to read.
`--beside 2` adds two files of other questions to each: tables to documents, documents to tables.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

import graph
from graph.settings import Settings
from nodes.errors import SupervisorError
from tests.benchmarks.keyless.fetch import fetch_documents
from tests.benchmarks.keyless.questions import KINDS, Question, check_question, read_questions
from tests.benchmarks.keyless.scores import Result, Score, score
from tests.benchmarks.options import read_options

TEAM = "market_analysis"
DEADLINE_S = 120
STATUSES = ("done", "passages", "partial", "needs_input", "failed")

Judged = tuple[Question, Result, Score]


async def ask(question: Question, files: Sequence[Path], settings: Settings) -> Result:
    """Run a question's request on some files, and return what a user gets."""
    began = perf_counter()
    try:
        outcome = await graph.arun(
            question.request,
            team=TEAM,
            files=files,
            settings=settings,
            context={"deadline_s": DEADLINE_S},
        )
    except SupervisorError as error:
        return Result("failed", "", error=str(error), seconds=perf_counter() - began)
    answer = outcome.answer
    return Result(
        status=outcome.status,
        text=answer.text if answer else "",
        sources=tuple(answer.sources) if answer else (),
        gaps=tuple(answer.gaps) if answer else (),
        error=str(outcome.error or ""),
        seconds=perf_counter() - began,
    )


def choose_other_files(
    question: Question, questions: Iterable[Question], count: int
) -> tuple[str, ...]:
    """Return so many files that only questions of other kinds have, by a draw of its own seed."""
    held = {kind: [each for each in questions if each.kind == kind] for kind in KINDS}
    kinds = [kind for kind in KINDS[:2] if kind != question.kind]
    own = {name for each in held[question.kind] for name in each.files}
    others = sorted({n for kind in kinds for each in held[kind] for n in each.files} - own)
    return tuple(random.Random(question.id).sample(others, min(count, len(others))))


async def ask_all(
    questions: Sequence[Question], documents: Path, *, beside: int = 0
) -> list[Judged]:
    """Ask the questions one after another, each on a thread of its own, and judge the answers."""
    judged = list[Judged]()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            database_url=f"sqlite:///{Path(folder) / 'runs.sqlite'}",
            openai_api_key=None,
            openai_base_url=None,
            model_fast=None,
            model_standard=None,
            model_strong=None,
        )
        for question in questions:
            names = (*question.files, *choose_other_files(question, questions, beside))
            result = await ask(question, [documents / name for name in names], settings)
            judged.append((question, result, score(question, result, documents)))
    return judged


def format_report(judged: Sequence[Judged]) -> str:
    """Return the tables of all figures, in Markdown."""
    kinds = {kind: [each for each in judged if each[0].kind == kind] for kind in KINDS}
    heads = ("kind", "asked", *STATUSES, "wrong or half as `done`")
    lines = [_format_row(heads), "|---" * len(heads) + "|"]
    lines += [_format_kind(kind, rows) for kind, rows in kinds.items() if rows]
    documents, tables = kinds["document"], kinds["table"]
    if documents:
        facts = sum(len(question.facts) for question, _, _ in documents)
        missing = sum(len(each.missing) for _, _, each in documents)
        shown = _count_verdicts(documents)
        lines += [
            "",
            f"documents: all facts shown {_format_share(shown['shown'], len(documents))}; "
            f"some {shown['half shown']}; facts {_format_share(facts - missing, facts)}",
        ]
    if tables:
        right = _count_verdicts(tables)
        lines += [
            "",
            f"tables: right {_format_share(right['right'], len(tables))}; "
            f"right as `done` but column or file not named {right['right, not named']}; "
            f"right value but not `done` {right['right, not done']}",
        ]
    seconds = sorted(result.seconds for _, result, _ in judged)
    lines += ["", f"seconds a run: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}"]
    return "\n".join(lines) + "\n"


def _format_kind(kind: str, rows: Sequence[Judged]) -> str:
    ends = Counter(result.status for _, result, _ in rows)
    wrong = sum(each.is_wrong_as_done for _, _, each in rows)
    return _format_row((kind, len(rows), *(ends[status] for status in STATUSES), wrong))


def _format_row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _count_verdicts(rows: Sequence[Judged]) -> Counter[str]:
    return Counter(each.verdict for _, _, each in rows)


def _format_share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.0%})"


def _format_answer(question: Question, result: Result, verdict: Score) -> str:
    row = {"id": question.id, "kind": question.kind, "request": question.request}
    return json.dumps({**row, **asdict(result), **asdict(verdict)}, ensure_ascii=False) + "\n"


def _take_rows(questions: Sequence[Question], rows: int | None) -> list[Question]:
    """Return so many questions, of each kind in turn."""
    if rows is None:
        return list(questions)
    kinds = [[each for each in questions if each.kind == kind] for kind in KINDS]
    turns = [each[turn] for turn in range(rows) for each in kinds if turn < len(each)]
    return turns[:rows]


def _find_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "keyless-questions"


def main() -> None:
    """Check the questions against their documents, ask them, print the figures."""
    parser = ArgumentParser(prog="python -m tests.benchmarks.keyless", description=__doc__)
    parser.add_argument("questions", type=Path, metavar="QUESTIONS", help="folder of questions")
    parser.add_argument("--out", type=Path, help="write each answer and its verdict, as JSONL")
    parser.add_argument(
        "--cache", type=Path, default=_find_cache(), help="where documents are kept"
    )
    parser.add_argument("--beside", type=int, default=0, help="files of other questions to add")
    parser.add_argument("--check", action="store_true", help="only check the questions")
    options = read_options(parser)
    questions = read_questions(options.questions / "questions.jsonl")
    documents = fetch_documents(options.questions, options.cache)
    for question in questions:
        check_question(question, documents)
    if options.check:
        counts = Counter(question.kind for question in questions)
        sys.stdout.write(f"{len(questions)} questions fit their documents: {dict(counts)}\n")
        return
    judged = asyncio.run(
        ask_all(_take_rows(questions, options.rows), documents, beside=options.beside)
    )
    if options.out:
        options.out.write_text("".join(_format_answer(*each) for each in judged), "utf-8")
    sys.stdout.write(format_report(judged))


if __name__ == "__main__":
    main()
