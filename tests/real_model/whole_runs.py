"""Run five requests to their end with a real model, kill and resume one, and judge each by a rule.

The five are drawn by a seeded choice from `plan_requests.jsonl`, one of a team. A tool turn is
accepted if its reply was read and its model was not asked again for its form. A task is proved if
it is completed and one of its claims was found: in its source, by arithmetic, or in what a tool
returned. A run answers a part if it ends `done` or `partial`, a model made its plan, and a claim
of its answer was found.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tests.real_model.checks import list_problems
from tests.real_model.plans import list_files, read_requests
from tests.real_model.trials import Ending, Endpoint, Trial, run_trial
from tests.real_model.work_folder import WorkFolder

SEED: Final = 30
RUNS: Final = 5
FOUND: Final = frozenset({"quoted", "computed", "returned"})
HEAD: Final = (
    "| team | run | plan | turns accepted | tasks completed | with a proved claim | status "
    "| proved claims of the answer | calls | tokens in / out | seconds |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class RunRow:
    """What came of one run."""

    team: str
    request: str
    is_killed: bool
    status: str
    plan: str
    """`at once`, `after N repairs`, `by rule` or `none`."""
    turns: int
    accepted: int
    tasks: int
    completed: int
    proved: int
    """Tasks that are completed with a claim that was found."""
    claims: int
    claims_found: int
    calls: int
    tokens: tuple[int, int]
    seconds: float
    answer: str
    problems: list[str]
    """Where the protocol was broken."""

    @property
    def is_answered(self) -> bool:
        """Whether a part of the request was answered by a claim that was found."""
        by_model = self.plan not in ("by rule", "none")
        return self.status in ("done", "partial") and by_model and self.claims_found > 0

    def format_row(self) -> str:
        """Return the row of a Markdown table."""
        cells = [
            self.team,
            "killed and resumed" if self.is_killed else "whole",
            self.plan,
            f"{self.accepted} of {self.turns}",
            f"{self.completed} of {self.tasks}",
            str(self.proved),
            self.status,
            f"{self.claims_found} of {self.claims}",
            str(self.calls),
            f"{self.tokens[0]:,} / {self.tokens[1]:,}",
            f"{self.seconds:.0f}",
        ]
        return f"| {' | '.join(cells)} |"


def draw_requests() -> list[dict[str, Any]]:
    """Return the five requests, always the same."""
    rows, chosen = read_requests(), random.Random(SEED)
    teams = chosen.sample(sorted({row["team"] for row in rows}), RUNS)
    return [chosen.choice([row for row in rows if row["team"] == team]) for team in teams]


def measure_runs(endpoint: Endpoint, kept: WorkFolder, *, quick: bool = False) -> list[RunRow]:
    """Run what is not there already, and print a row for each."""
    requests = draw_requests()[: 1 if quick else RUNS]
    trials = [_make_trial(asked, is_killed=False) for asked in requests]
    trials += [] if quick else [_make_trial(requests[0], is_killed=True)]
    rows = list[RunRow]()
    print(HEAD, flush=True)
    for trial in trials:
        key = f"{'killed ' * trial.is_killed}{trial.team}"
        found = kept.read("runs", key)
        if found is None:
            ending = run_trial(trial, endpoint, kept.make_empty(key))
            found = asdict(read_row(ending))
            kept.write("runs", key, found)
        rows.append(RunRow(**{**found, "tokens": tuple(found["tokens"])}))
        print(rows[-1].format_row(), flush=True)
    print(f"\n{format_totals(rows)}\n")
    return rows


def _make_trial(asked: Mapping[str, Any], *, is_killed: bool) -> Trial:
    files = [word for path in list_files(asked) for word in ("--file", str(path))]
    words = [asked["request"], "--team", asked["team"], *files]
    return Trial(asked["team"], words, is_killed=is_killed)


def read_row(ending: Ending) -> RunRow:
    """Return what a run came to."""
    outcome = ending.read_outcome()
    results: Mapping[str, Any] = outcome.get("results") or {}
    answer: Mapping[str, Any] = outcome.get("answer") or {}
    usage: Mapping[str, Any] = outcome.get("usage") or {}
    turns = [call for call in ending.list_events("model_call") if call.get("purpose", "") == "turn"]
    completed = [report for report in results.values() if report["status"] == "completed"]
    claims = answer.get("claims") or ()
    return RunRow(
        team=ending.trial.team,
        request=ending.trial.arguments[0],
        is_killed=ending.trial.is_killed,
        status=outcome.get("status", "none"),
        plan=describe_plan(ending),
        turns=len(turns),
        accepted=sum(not turn.get("error") and not turn.get("cancelled") for turn in turns),
        tasks=len((outcome.get("plan") or {}).get("tasks") or ()),
        completed=len(completed),
        proved=sum(bool(count_found(report["claims"])) for report in completed),
        claims=len(claims),
        claims_found=count_found(claims),
        calls=usage.get("model_calls", 0),
        tokens=(usage.get("input_tokens", 0), usage.get("output_tokens", 0)),
        seconds=round(ending.seconds, 1),
        answer=answer.get("text", ""),
        problems=list_problems(ending),
    )


def count_found(claims: Sequence[Mapping[str, Any]]) -> int:
    """Count the claims that code found in a source, by arithmetic or in a tool's result."""
    return sum(claim.get("proof") in FOUND for claim in claims)


def describe_plan(ending: Ending) -> str:
    """Return how the plan came about."""
    plan = ending.read_outcome().get("plan")
    if not plan or not plan.get("tasks"):
        return "none"
    if plan.get("rule_reason"):
        return "by rule"
    repairs = len(ending.list_events("plan_rejected"))
    return f"after {repairs} repair{'s'[: repairs > 1]}" if repairs else "at once"


def format_totals(rows: Sequence[RunRow]) -> str:
    """Return one line for all runs."""
    turns, accepted = sum(row.turns for row in rows), sum(row.accepted for row in rows)
    tasks, proved = sum(row.tasks for row in rows), sum(row.proved for row in rows)
    return "; ".join(
        [
            f"{len(rows)} runs",
            f"{accepted} of {turns} turns accepted ({100 * accepted / max(1, turns):.0f} %)",
            f"{proved} of {tasks} tasks completed with a proved claim "
            f"({100 * proved / max(1, tasks):.0f} %)",
            f"{sum(row.is_answered for row in rows)} answered by proved claims",
            f"{sum(row.plan == 'by rule' for row in rows)} planned by rule",
        ]
    )


def format_answers(rows: Sequence[RunRow]) -> str:
    """Return each request with its answer, to be read by eye."""
    return json.dumps({row.request: row.answer for row in rows}, ensure_ascii=False, indent=1)
