"""What runs have taken, kept in the store for the estimates of later ones.

An item for each run, in a namespace of its user: no other user of a server can write there. What
cannot be read, or cannot be true, does not count.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from math import log
from typing import Annotated, Any, Final, Self
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore
from pydantic import Field, ValidationError, model_validator

from graph.topology.stop_watch import ANONYMOUS, read_identity
from nodes.limits.deadline import now_s
from nodes.planning.estimate import expect_costs
from nodes.planning.team_record import build_team_record
from nodes.schemas.single_agent import is_single
from nodes.schemas.team import Team, Worker
from state import (
    Amounts,
    Estimate,
    Expense,
    Frozen,
    Report,
    RunStatus,
    SupervisorState,
    Tier,
    Usage,
)

NAMESPACE: Final = "#estimates"
MAX_RUNS: Final = 200
"""Of one team that are kept."""
MAX_READ: Final = 150
"""Of all teams, the newest, and again of one, that an estimate reads."""
MAX_LISTED: Final = 10_000
"""That are read to list them."""
MAX_TASKS: Final = 64
"""Of one run that are kept."""
AMOUNTS: Final = ("model_calls", "input_tokens", "output_tokens", "cost_usd", "seconds")
FLOORS: Final[Mapping[str, float]] = {"cost_usd": 1e-6, "seconds": 0.01}
"""Added to an amount before its logarithm: what is smaller does not matter."""

SPENT: Final = ("calls", "input_tokens", "output_tokens")
NO_USER: Final = "all"
"""In a namespace where there are no users; the others are in hexadecimal digits."""
OTHER: Final = " "
"""In the place of a task's id."""
MAX_NUMBER: Final = 1e12

Number = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
Name = Annotated[str, Field(max_length=200)]


class DoneTask(Frozen):
    """What a task took, with all its attempts; of the worker "" it is the answer."""

    worker: Name
    version: Name = ""
    """Of the worker's own files."""
    model: Name
    uses_tools: bool = False
    expected_input: Number = Field(ge=1)
    """Input tokens by the constants."""
    calls: Number
    input_tokens: Number
    output_tokens: Number
    seconds: Number
    """From its beginning to its end, without the wait for a free place."""


class DoneRun(Frozen):
    """A run that has ended: what was expected of it, and what it took."""

    team: Name
    at: Number
    """Seconds since 1970 at which it ended, by the clock of its machine."""
    status: RunStatus
    tasks: tuple[DoneTask, ...] = Field(max_length=MAX_TASKS)
    other: tuple[Number, Number, Number] = (0, 0, 0)
    """Calls, input and output tokens of the supervisor beside planning and answer."""
    expected: Estimate
    fact: Amounts

    @model_validator(mode="after")
    def _require_possible(self) -> Self:
        ends = (self.fact, self.expected, self.expected.low, self.expected.high)
        known = [getattr(end, name) for end in ends if end for name in AMOUNTS]
        known += [number for three in self.expected.simulated.values() for number in three]
        if not all(number is None or 0 <= number <= MAX_NUMBER for number in known):
            raise ValueError("no run takes so much, or less than nothing")
        return self


def take_log(amount: str, value: float) -> float:
    """Return the logarithm of an amount."""
    return log(value + FLOORS.get(amount, 1.0))


def build_place(config: RunnableConfig, *team: str) -> tuple[str, ...]:
    """Return the namespace of the user of a run, or of one of their teams; no name has a dot."""
    user = read_identity(config.get("configurable", {}))
    return (NAMESPACE, NO_USER if user in ANONYMOUS else user.encode().hex(), *team)


def name_history(team: Team) -> str:
    """Return under which name the runs of a team are kept; those as one agent are others."""
    return f"{team.name} (single)" if is_single(team) else team.name


def build_run(values: SupervisorState, team: Team) -> DoneRun | None:
    """Return what a run has taken; None for one without a plan, or that was begun once more.

    Args:
        values: the state at its end.
    """
    plan, expected, ledger = values.get("plan"), values.get("estimate"), values["ledger"]
    is_again = any(each.reopenings for each in ledger.values())
    if plan is None or expected is None or not expected.low or is_again:
        return None
    usage, timing, results = values["usage"], values["timing"], values.get("results", {})
    costs = expect_costs(plan, team, values.get("materials", {}))
    spent, words = _sort_expenses(ledger.values(), results), build_team_record(team).words
    names: Mapping[Tier, str] = expected.models

    def describe(task: str, seconds: float, worker: Worker | None = None) -> DoneTask:
        return DoneTask(
            **describe_kind(worker, words, names.get(costs[task].tier, "")),
            expected_input=max(1, costs[task].input_tokens),
            **dict(zip(SPENT, _sum_usage(spent[task]), strict=True)),
            seconds=seconds,
        )

    known = {"", *(worker.name for worker in team.roster)}  # a user may have given a report
    ran = [task for task in plan.tasks if task.id in results and results[task.id].worker in known]
    last_s = max((each.ended_s for each in results.values()), default=values["planned_s"])
    tasks = [describe("", max(0.0, timing.wall_s + values["asked_s"] - last_s))]
    for task in ran[:: max(1, -(-len(ran) // (MAX_TASKS - 1)))]:
        report = results[task.id]
        worker = team.find_worker(report.worker or task.worker)
        tasks.append(describe(task.id, _measure_work_s(report, is_alone=len(ran) == 1), worker))
    return DoneRun(
        team=name_history(team),
        at=now_s(),
        status=values["status"],
        tasks=tuple(tasks),
        other=_sum_usage(spent[OTHER]),
        expected=expected,
        fact=Amounts(**usage.model_dump(include=set(AMOUNTS) - {"seconds"}), seconds=timing.wall_s),
    )


def describe_kind(worker: Worker | None, words: Mapping[str, str], model: str) -> dict[str, Any]:
    """Return by what tasks are alike; without a worker it is the answer.

    Args:
        words: the hashes of the team's files.
    """
    return {
        "worker": worker.name if worker else "",
        "version": words.get(f"{worker.name}.md", "") if worker else "",
        "model": model,
        "uses_tools": bool(worker and worker.tools),
    }


def _sort_expenses(
    ledger: Iterable[Expense], reported: Collection[str]
) -> Mapping[str, list[Expense]]:
    """Return the expenses of each task, those of the answer at "", and all others but planning."""
    spent = defaultdict[str, list[Expense]](list)
    for each in ledger:
        if each.task in reported:
            spent[each.task].append(each)
        elif each.purpose not in ("plan", "route"):
            spent["" if each.purpose == "synthesis" else OTHER].append(each)
    return spent


def _sum_usage(expenses: Iterable[Expense]) -> tuple[int, int, int]:
    usage = sum((each.usage for each in expenses), Usage())
    return usage.model_calls, usage.input_tokens, usage.output_tokens


def _measure_work_s(report: Report, *, is_alone: bool) -> float:
    """Return the seconds of a task, without those in which other tasks had its place."""
    span_s, usage = max(0.0, report.ended_s - report.started_s), report.usage
    is_known = usage.waited_s and not is_alone
    queued_s = max(0.0, usage.seconds - usage.waited_s) if is_known else 0.0
    return max(span_s - queued_s, min(span_s, usage.waited_s))


def read_runs(values: Iterable[Any]) -> list[DoneRun]:
    """Return the runs of items of the store, the newest last; one from the future is of now.

    What is damaged, or cannot be true, is left out.
    """
    now, runs = now_s(), list[DoneRun]()
    for value in values:
        with suppress(ValidationError, RecursionError):
            runs.append(DoneRun.model_validate(value))
    return sorted(runs, key=lambda run: min(run.at, now))


async def load_values(
    store: BaseStore, *places: tuple[str, ...], limit: int = MAX_READ
) -> Sequence[Any]:
    """Return what is kept at places, unread; what is at two of them once."""
    found = dict[tuple[tuple[str, ...], str], Any]()
    for place in places:
        for item in await store.asearch(place, limit=limit):
            found[item.namespace, item.key] = item.value
    return list(found.values())


async def save_run(store: BaseStore, config: RunnableConfig, run: DoneRun, number: int) -> None:
    """Keep a run; one that is resumed takes its own place. Now and then the oldest are removed.

    Args:
        number: of the request on its thread.
    """
    place = build_place(config, run.team)
    thread = config.get("configurable", {}).get("thread_id") or uuid4()
    key = sha256(f"{thread} {number}".encode()).hexdigest()[:32]
    await store.aput(place, key, run.model_dump(mode="json", exclude_defaults=True), index=False)
    if key[0] in "08":
        kept = await store.asearch(place, limit=2 * MAX_RUNS)
        kept.sort(key=lambda item: item.updated_at, reverse=True)
        for item in kept[MAX_RUNS:]:
            await store.adelete(place, item.key)
