"""Run the teams' samples with a small language model on a real server, and print a table.

    python -m tests.real_model [--quick] [--teams market_analysis,...] [--deadline 600]
    python -m tests.real_model --url http://127.0.0.1:11434/v1 --model qwen3:4b

Without --url a llama.cpp server is started on loopback, from an environment of its own
(`.venv-real`), with SmolLM2-135M-Instruct, or with the GGUF file that SUPERVISE_REAL_GGUF names.
It checks the protocol (exit code 0 or 3, no traceback, usage billed, resume right, each departure
in the trace), and nothing of what the model says: one of this size writes well-formed nonsense.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.real_model.checks import list_problems
from tests.real_model.server import RealServerMissing, prepare_gguf, run_server
from tests.real_model.table import HEAD, format_row, format_totals
from tests.real_model.trials import Ending, Endpoint, Trial, list_samples, plan_trials, run_trial

QUICK_TEAMS = ("market_analysis",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each run; return 1 when the protocol was broken."""
    options = _parse_options(arguments)
    teams = options.teams.split(",") if options.teams else list(list_samples())
    teams = list(QUICK_TEAMS) if options.quick and not options.teams else teams
    if unknown := sorted(set(teams) - set(list_samples())):
        print(f"there is no team {unknown[0]}: {', '.join(list_samples())}", file=sys.stderr)
        return 2
    trials = [
        trial
        for trial in plan_trials(teams, kills=not options.no_kill)
        if not (trial.is_plan_only and options.no_plan_only)
    ]
    with tempfile.TemporaryDirectory(prefix="real-model-") as folder:
        kept = options.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        try:
            with _open_endpoint(options, kept) as endpoint:
                return _run_trials(trials, endpoint, kept)
        except RealServerMissing as missing:
            print(missing, file=sys.stderr)
            return 2


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--teams", default="", help="with commas; all of them without")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK_TEAMS)}")
    parser.add_argument("--no-kill", action="store_true", help="leave out the killed run")
    parser.add_argument("--no-plan-only", action="store_true", help="leave out the bare plans")
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds of one run")
    parser.add_argument("--url", default="", help="a server that is running, with its /v1")
    parser.add_argument("--model", default="local", help="the model's name there")
    parser.add_argument("--keep", type=Path, help="a folder for traces and output")
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


def _run_trials(trials: Sequence[Trial], endpoint: Endpoint, folder: Path) -> int:
    endings, broken = list[Ending](), list[str]()
    print(HEAD, flush=True)
    for number, trial in enumerate(trials):
        own = folder / f"{number:02d}-{trial.team}"
        own.mkdir()
        ending = run_trial(trial, endpoint, own)
        (own / "stdout").write_text(ending.stdout, encoding="utf-8")
        (own / "stderr").write_text(ending.stderr, encoding="utf-8")
        endings.append(ending)
        broken += [
            f"{trial.team} ({trial.describe()}): {problem}" for problem in list_problems(ending)
        ]
        print(format_row(ending), flush=True)
    print(f"\n{format_totals(endings)}")
    for problem in broken:
        print(f"broken: {problem}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
