"""Measure plans, whole runs and exams with a real language model, and print a table of each.

    python -m tests.real_model [--quick] [--only plans,runs,exams] [--keep FOLDER]
    python -m tests.real_model --url http://127.0.0.1:11434/v1 --model qwen3:4b

Without --url a llama.cpp server is started on loopback, from an environment of its own
(`.venv-real`), with the GGUF file that SUPERVISE_REAL_GGUF names, or with SmolLM2-135M-Instruct.
A row that the folder has is not measured again, so a stopped measurement goes on. The exit code
is 1 when a run broke the protocol: an exit code other than 0 and 3, a traceback, usage that was
not billed, a finished task that a resumed run worked at again.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.real_model.exams import measure_exams
from tests.real_model.plans import measure_plans
from tests.real_model.server import RealServerMissing, prepare_gguf, run_server
from tests.real_model.single import measure_single
from tests.real_model.trials import Endpoint
from tests.real_model.whole_runs import format_answers, measure_runs
from tests.real_model.work_folder import WorkFolder

PARTS: Final = ("plans", "runs", "exams", "single")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the parts; return 1 when the protocol was broken."""
    options = _parse_options(arguments)
    parts = options.only.split(",")
    if unknown := sorted(set(parts) - set(PARTS)):
        print(f"there is no part {unknown[0]}: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="real-model-") as folder:
        kept = WorkFolder((options.keep or Path(folder)).resolve())
        try:
            with _open_endpoint(options, kept.path) as endpoint:
                return _measure(parts, endpoint, kept, quick=options.quick)
        except RealServerMissing as missing:
            print(missing, file=sys.stderr)
            return 2


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas")
    parser.add_argument("--quick", action="store_true", help="12 plans and one run")
    parser.add_argument("--deadline", type=float, default=3600.0, help="seconds of one run")
    parser.add_argument("--url", default="", help="a server that is running, with its /v1")
    parser.add_argument("--model", default="local", help="the model's name there")
    parser.add_argument("--keep", type=Path, help="a folder for rows, traces and output")
    return parser.parse_args(arguments)


@contextmanager
def _open_endpoint(options: argparse.Namespace, folder: Path) -> Iterator[Endpoint]:
    if options.url:
        yield Endpoint(options.url, options.model, options.deadline)
        return
    gguf = prepare_gguf()
    print(f"{gguf.name} on llama.cpp", file=sys.stderr)
    with run_server(gguf, log=folder / "server.log") as address:
        yield Endpoint(address, options.model, options.deadline)


def _measure(parts: Sequence[str], endpoint: Endpoint, kept: WorkFolder, *, quick: bool) -> int:
    problems = list[str]()
    if "plans" in parts:
        measure_plans(endpoint, kept, quick=quick)
    if "runs" in parts:
        rows = measure_runs(endpoint, kept, quick=quick)
        print(format_answers(rows))
        problems = [f"{row.team}: {problem}" for row in rows for problem in row.problems]
    if "exams" in parts and not quick:
        measure_exams(endpoint, kept)
    if "single" in parts and not quick:
        measure_single(endpoint, kept)
    for problem in problems:
        print(f"broken: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
