"""Ask a real model for the plans of 39 requests, three for each team, and judge each by a rule.

None of the requests is an example of its team. A plan is `at once` if no model was asked to repair
it and no rule made it. It is `fit` if it is at once, its tasks have the files that the request
needs and no other, no task has words of an example that neither the request, the files nor the
team's cards have, and each part of the request is covered.
"""

import json
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER, load_team
from nodes.planning.coverage import list_uncovered
from state import Plan
from tests.real_model.trials import Endpoint, start
from tests.real_model.work_folder import WorkFolder

QUICK_ROWS: Final = 12
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


def ask(asked: Mapping[str, Any], endpoint: Endpoint, folder: Path) -> Row:
    """Ask for one plan by the command line, in an empty folder."""
    trace, began = folder / "plan-trace.json", time.monotonic()
    words = ["run", asked["request"], "--plan-only", "--json", "--team", asked["team"]]
    words += [word for path in list_files(asked) for word in ("--file", str(path))]
    child = start([*words, "-q", "--trace", str(trace)], endpoint, folder)
    try:
        stdout, stderr = child.communicate(timeout=endpoint.deadline_s)
    except subprocess.TimeoutExpired:
        child.kill()
        stdout, stderr = child.communicate()
    seconds = round(time.monotonic() - began, 1)
    row = Row(asked["team"], asked["request"], False, False, [], 0, seconds)
    try:
        shown = json.loads(stdout)
        shown.pop("estimate", None)
        plan = Plan.model_validate(shown)
        events = json.loads(trace.read_text("utf-8"))["events"]
    except (OSError, ValueError, KeyError, TypeError):
        why = f"no plan: exit {child.returncode}, {stderr[-200:]}"
        return replace(row, problems=[why])
    refused = [event["problems"] for event in events if event["kind"] == "plan_rejected"]
    listed = [problem for problems in refused for problem in problems]
    made = plan.model_dump(mode="json")
    return judge_row(asked, replace(row, repairs=len(refused), plan=made, refused=listed))


def judge_row(asked: Mapping[str, Any], row: Row) -> Row:
    """Return a row with what its plan is worth."""
    if row.plan is None:
        return row
    plan = Plan.model_validate(row.plan)
    problems = judge_plan(asked, plan, list_files(asked))
    is_at_once = not plan.is_by_rule and not row.repairs
    is_fit = is_at_once and not problems
    return replace(row, is_at_once=is_at_once, is_fit=is_fit, problems=problems)


def read_requests() -> list[dict[str, Any]]:
    """Return all requests, those of one team beside each other."""
    return [json.loads(line) for line in REQUESTS.read_text("utf-8").splitlines()]


def measure_plans(endpoint: Endpoint, kept: WorkFolder, *, quick: bool = False) -> list[Row]:
    """Ask for the plans that are not there already, and print a line for each and the totals."""
    requests, rows = read_requests(), list[Row]()
    for asked in requests[::3][:QUICK_ROWS] if quick else requests:
        found = kept.read("plans", asked["request"])
        if found is None:
            found = asdict(ask(asked, endpoint, kept.make_empty("plan")))
            kept.write("plans", asked["request"], found)
        row = judge_row(asked, Row(**found))
        rows.append(row)
        shown = "fit" if row.is_fit else "; ".join([*row.problems, *row.refused])[:160]
        print(f"{row.team:24} {row.seconds:7.1f} s  {row.repairs} repairs  {shown}", flush=True)
    at_once, fit = sum(row.is_at_once for row in rows), sum(row.is_fit for row in rows)
    print(f"\n{len(rows)} plans: {at_once} at once, {fit} fit ({100 * fit / len(rows):.0f} %)\n")
    return rows
