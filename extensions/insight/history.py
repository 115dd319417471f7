"""What runs have taken, kept in the store for the estimates of later ones.

An item for each run, in a namespace of its user: no other user of a server can write there. What
cannot be read, or cannot be true, does not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import log
from typing import Annotated, Any, Final
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.store.base import BaseStore
from pydantic import Field, ValidationError

from graph.topology.stop_watch import ANONYMOUS, read_identity
from nodes.limits.deadline import now_s
from nodes.planning.estimate import expect_costs
from nodes.planning.team_record import build_team_record
from nodes.schemas.team import Team
from state import Amounts, Estimate, Expense, Frozen, Report, RunStatus, SupervisorState, Tier

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

Number = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
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

    def measure_error(self, amount: str, middle: float) -> float:
        """Return the logarithm of an amount over what was expected of it."""
        return take_log(amount, getattr(self.fact, amount)) - take_log(amount, middle)


def take_log(amount: str, value: float) -> float:
    """Return the logarithm of an amount."""
    return log(value + FLOORS.get(amount, 1.0))


def build_place(config: RunnableConfig, *team: str) -> tuple[str, ...]:
    """Return the namespace of the user of a run, or of one of their teams; no name has a dot."""
    user = read_identity(config.get("configurable", {}))
    own = () if user in ANONYMOUS else (user.encode().hex(),)
    return (NAMESPACE, *own, *team) if own else (NAMESPACE, "all", *team)


def build_run(values: SupervisorState, team: Team) -> DoneRun | None:
    """Return what a run has taken; None for one without a plan or an estimate.

    Args:
        values: the state at its end.
    """
    plan, expected, results = values.get("plan"), values.get("estimate"), values["results"]
    if plan is None or expected is None or not expected.low:
        return None
    usage, timing, ledger = values["usage"], values["timing"], values["ledger"]
    planned = {task.id: task for task in plan.tasks if task.id in results}
    costs = expect_costs(plan, team, values.get("materials", {}))
    spent, other = _sort_expenses(ledger.values(), planned)
    words = build_team_record(team).words
    models: Mapping[Tier, str] = expected.models
    done = list[DoneTask]()
    for name, task in planned.items():
        worker = team.find_worker(results[name].worker or task.worker)
        done.append(
            DoneTask(
                worker=worker.name,
                version=words.get(f"{worker.name}.md", ""),
                model=models.get(costs[name].tier, ""),
                uses_tools=bool(worker.tools),
                expected_input=max(1, costs[name].input_tokens),
                seconds=_measure_work_s(results[name], len(planned)),
                **_sum_usage(spent[name]),
            )
        )
    last_s = max((each.ended_s for each in results.values()), default=values["planned_s"])
    answer = DoneTask(
        worker="",
        model=models.get(team.synthesizer_tier, ""),
        expected_input=max(1, costs[""].input_tokens),
        seconds=max(0.0, timing.wall_s + values["asked_s"] - last_s),
        **_sum_usage(spent[""]),
    )
    rest = _sum_usage(other)
    step = max(1, -(-len(done) // (MAX_TASKS - 1)))
    return DoneRun(
        team=team.name,
        at=now_s(),
        status=values["status"],
        tasks=(answer, *done[::step]),
        other=(rest["calls"], rest["input_tokens"], rest["output_tokens"]),
        expected=expected,
        fact=Amounts(**usage.model_dump(include=set(AMOUNTS) - {"seconds"}), seconds=timing.wall_s),
    )


def _sort_expenses(
    ledger: Iterable[Expense], planned: Iterable[str]
) -> tuple[Mapping[str, list[Expense]], list[Expense]]:
    """Return the expenses of each task, those of the answer at "", and all others but planning."""
    spent, other = defaultdict[str, list[Expense]](list), list[Expense]()
    known = {*planned}
    for each in ledger:
        if each.task in known:
            spent[each.task].append(each)
        elif each.purpose == "synthesis":
            spent[""].append(each)
        elif each.purpose not in ("plan", "route"):
            other.append(each)
    return spent, other


def _sum_usage(expenses: Iterable[Expense]) -> dict[str, float]:
    usages = [each.usage for each in expenses]
    return {
        "calls": sum(each.model_calls for each in usages),
        "input_tokens": sum(each.input_tokens for each in usages),
        "output_tokens": sum(each.output_tokens for each in usages),
    }


def _measure_work_s(report: Report, tasks: int) -> float:
    """Return the seconds of a task, without those in which other tasks had its place."""
    span_s, usage = max(0.0, report.ended_s - report.started_s), report.usage
    is_alone = tasks == 1 or not usage.waited_s
    queued_s = 0.0 if is_alone else max(0.0, usage.seconds - usage.waited_s)
    return max(span_s - queued_s, min(span_s, usage.waited_s))


def read_run(value: Any) -> DoneRun | None:
    """Return a run of the store; None for an item that is damaged or cannot be true."""
    try:
        run = DoneRun.model_validate(value)
    except (ValidationError, RecursionError):
        return None
    ends = (run.fact, run.expected, run.expected.low, run.expected.high)
    known = [getattr(each, name) for each in ends if each for name in AMOUNTS]
    known += [number for three in run.expected.simulated.values() for number in three]
    is_sound = all(0 <= number <= 1e12 for number in known if number is not None)
    return run if is_sound and run.expected.low and run.expected.high else None


def read_runs(values: Iterable[Any]) -> list[DoneRun]:
    """Return the runs of items of the store, the newest last; one from the future is of now."""
    now = now_s()
    runs = filter(None, map(read_run, values))
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
    """Keep a run; one that is resumed takes its own place. The oldest are removed.

    Args:
        number: of the request on its thread.
    """
    place = build_place(config, run.team)
    thread = str(config.get("configurable", {}).get("thread_id") or uuid4())
    key = sha256(f"{thread} {number}".encode()).hexdigest()[:32]
    await store.aput(place, key, run.model_dump(mode="json", exclude_defaults=True), index=False)
    kept = await store.asearch(place, limit=2 * MAX_RUNS)
    kept.sort(key=lambda item: item.updated_at, reverse=True)
    for item in kept[MAX_RUNS:]:
        await store.adelete(place, item.key)
