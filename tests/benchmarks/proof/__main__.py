"""Measure how many planted faults of reports and answers are found, and the false alarms.

    python -m tests.benchmarks.proof [--data FOLDER] [--split a|b|all] [--rows N] [--free]
        [--out FILE]

The reports are generated over the documents of each FOLDER, those of the keyless benchmark, which
are fetched from the package index, and the descriptions and tables of the installed packages. The
halves share no document. A fault counts as found where it is: at its claim, or at its line.
`--free` judges claims that were written freely instead. `--out` writes each miss and false alarm.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from tests.benchmarks.keyless.fetch import fetch_documents
from tests.benchmarks.options import read_options
from tests.benchmarks.proof.cases import PER_KIND, TRUE_CASES, Case, generate_cases
from tests.benchmarks.proof.documents import Document, Split, read_documents
from tests.benchmarks.proof.free import build_free_case, read_free_claims
from tests.benchmarks.proof.judge import Judge, PackageJudge
from tests.benchmarks.proof.scores import (
    format_free,
    format_kinds,
    judge_case,
    list_errors,
)

QUESTIONS = Path(__file__).parent.parent / "keyless" / "questions"
HALVES: dict[str, tuple[Split, ...]] = {"a": ("a",), "b": ("b",), "all": ("a", "b")}


def list_generated(
    documents: Sequence[Document], splits: Sequence[Split], rows: int | None
) -> list[Case]:
    """Return the generated cases, at most so many of each kind in each half."""
    return list(
        generate_cases(
            documents,
            per_kind=min(PER_KIND, rows or PER_KIND),
            true_cases=min(TRUE_CASES, rows or TRUE_CASES),
            splits=splits,
        )
    )


def list_free(rows: int | None) -> list[Case]:
    """Return the claims that were written freely, each as a case without an answer to judge."""
    return [build_free_case(at, claim) for at, claim in enumerate(read_free_claims())][:rows]


def main() -> None:
    """Generate or read the cases, judge them, print the figures."""
    parser = ArgumentParser(prog="python -m tests.benchmarks.proof", description=__doc__)
    parser.add_argument(
        "--data", type=Path, action="append", default=[], help="folder of documents; again for more"
    )
    parser.add_argument("--split", choices=sorted(HALVES), default="all", help="half to measure")
    parser.add_argument("--free", action="store_true", help="judge the claims written freely")
    parser.add_argument("--out", type=Path, help="write misses and false alarms, as JSONL")
    parser.add_argument("--cache", type=Path, help="where fetched documents are kept")
    options = read_options(parser)
    judge: Judge = PackageJudge()
    if options.free:
        cases = list_free(options.rows)
    else:
        cache = options.cache or Path.home() / ".cache" / "keyless-questions"
        fetched = fetch_documents(QUESTIONS, cache)
        documents = read_documents((*options.data, fetched, cache / "archives"))
        cases = list_generated(documents, HALVES[options.split], options.rows)
    began = perf_counter()
    results = [judge_case(judge, case, has_answer=not options.free) for case in cases]
    seconds = perf_counter() - began
    shown = format_free(results) if options.free else format_kinds(results)
    if options.out:
        errors = [error for result in results for error in list_errors(result)]
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in errors]
        options.out.write_text("".join(lines), "utf-8")
    sys.stdout.write(f"{shown}\n{len(results)} cases, {seconds:.1f} s\n")


if __name__ == "__main__":
    main()
