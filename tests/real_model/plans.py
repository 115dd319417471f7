"""Ask a real model for the plans of 39 requests, three for each team, and judge each by a rule.

    python -m tests.real_model.plans --url http://127.0.0.1:8080/v1 --model local [--out FILE]
        [--rows N] [--timeout 900]

None of the requests is an example of its team. A plan is `at once` if no model was asked to repair
it and no rule made it. It is `fit` if it is at once, its tasks have the files that the request
needs and no other, no task has words of an example that neither the request, the files nor the
team's cards have, and each part of the request is covered. With `--out` a row that is there
already is not asked again, so a stopped measurement goes on.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from nodes.planning.coverage import list_uncovered
from state import Plan
from tests.real_model.server import ROOT

REQUESTS: Final = Path(__file__).parent / "plan_requests.jsonl"


@dataclass(frozen=True)
class Row:
    """What came of one request."""

    team: str
    request: str
    is_at_once: bool
    is_fit: bool
    problems: list[str]
    repairs: int
    seconds: float
    plan: dict[str, Any] | None = None
    refused: list[str] = field(default_factory=list)
    """What was wrong with plans that were sent back."""


def list_files(asked: Mapping[str, Any]) -> list[Path]:
    """Return the files that a request comes with."""
    sample = SHIPPED_TEAMS_FOLDER / asked["team"] / "sample"
    if inner := asked.get("sample"):
        return sorted(path for path in (sample / inner).rglob("*") if path.is_file())
    return [sample / name for name in asked["files"]]


def judge_plan(asked: Mapping[str, Any], plan: Plan, files: Sequence[Path]) -> list[str]:
    """Return why a plan is not fit for its request; empty if it is."""
    team, problems = load_team(asked["team"]), list[str]()
    if plan.is_by_rule:
        problems.append("made by rule")
    used = {Path(name).name for task in plan.tasks for name in task.materials}
    needed = {Path(name).name for name in asked.get("needs", asked.get("files", ()))}
    problems += [f"no task has {name}" for name in sorted(needed - used)]
    known = " ".join(
        [asked["request"], *(w.card for w in team.workers), team.guidance, *map(str, files)]
        + [path.read_text(errors="replace") for path in files]
    )
    said = {word for task in plan.tasks for word in _list_names(task.description)}
    examples = {
        word
        for example in team.examples
        for text in (example.request, *(task.description for task in example.plan.tasks))
        for word in _list_names(text)
    }
    held = known.casefold()
    problems += [f"foreign: {w}" for w in sorted(said & examples) if w.casefold() not in held]
    uncovered = list_uncovered(plan, asked["request"], team)
    return problems + [f"not covered: {part}" for part in uncovered]


def _list_names(text: str) -> set[str]:
    """Return the names inside sentences, and the names of files."""
    inside = re.findall(r"(?<=[a-z,;] )[A-Z][\w-]+", text)
    return {*inside, *re.findall(r"[\w-]+\.[a-z]{2,4}\b", text)}


def ask(asked: Mapping[str, Any], options: argparse.Namespace) -> Row:
    """Ask for one plan by the command line."""
    files = list_files(asked)
    command = [str(ROOT / "bin" / "supervise"), "run", asked["request"], "--plan-only", "--json"]
    trace = options.folder / "plan-trace.json"
    trace.unlink(missing_ok=True)
    command += ["--team", asked["team"], "-q", "--trace", str(trace)]
    command += [word for path in files for word in ("--file", str(path))]
    models = {
        f"SUPERVISE_MODEL_{tier}": f"openai:{options.model}"
        for tier in ("FAST", "STANDARD", "STRONG")
    }
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(Path.home()),
        "OPENAI_BASE_URL": options.url,
        **models,
    }
    began = time.monotonic()
    ended = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=options.timeout,
        check=False,
        cwd=options.folder,
    )
    seconds = round(time.monotonic() - began, 1)
    try:
        shown = json.loads(ended.stdout)
        shown.pop("estimate", None)
        plan = Plan.model_validate(shown)
        events = json.loads(trace.read_text("utf-8"))["events"]
    except (OSError, ValueError, KeyError, TypeError):
        why = f"no plan: exit {ended.returncode}, {ended.stderr[-200:]}"
        return Row(asked["team"], asked["request"], False, False, [why], 0, seconds)
    refused = [event["problems"] for event in events if event["kind"] == "plan_rejected"]
    made = plan.model_dump(mode="json")
    listed = [problem for problems in refused for problem in problems]
    row = Row(
        asked["team"], asked["request"], False, False, [], len(refused), seconds, made, listed
    )
    return judge_row(asked, row)


def judge_row(asked: Mapping[str, Any], row: Row) -> Row:
    """Return a row with what its plan is worth."""
    if row.plan is None:
        return row
    plan = Plan.model_validate(row.plan)
    problems = judge_plan(asked, plan, list_files(asked))
    is_at_once = not plan.is_by_rule and not row.repairs
    is_fit = is_at_once and not problems
    return replace(row, is_at_once=is_at_once, is_fit=is_fit, problems=problems)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask for the plans, and print a line for each and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument("--out", type=Path, default=Path("plans.jsonl"))
    parser.add_argument("--rows", type=int, help="every which row, so many in all")
    parser.add_argument("--timeout", type=float, default=900.0)
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where runs are kept")
    options = parser.parse_args(arguments)
    asked = [json.loads(line) for line in REQUESTS.read_text("utf-8").splitlines()]
    if options.rows:
        asked = asked[:: max(1, len(asked) // options.rows)][: options.rows]
    done = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    rows = {row["request"]: Row(**row) for row in map(json.loads, done)}
    rows |= {a["request"]: judge_row(a, rows[a["request"]]) for a in asked if a["request"] in rows}
    for each in asked:
        if each["request"] in rows:
            continue
        row = rows[each["request"]] = ask(each, options)
        with options.out.open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
        shown = "fit" if row.is_fit else "; ".join([*row.problems, *row.refused])[:160]
        print(f"{row.team:24} {row.seconds:7.1f} s  {row.repairs} repairs  {shown}", flush=True)
    judged = [rows[each["request"]] for each in asked]
    at_once, fit = sum(r.is_at_once for r in judged), sum(r.is_fit for r in judged)
    print(f"\n{len(judged)} plans: {at_once} at once, {fit} fit ({100 * fit / len(judged):.0f} %)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
