"""Runs and plans for tests of the estimate."""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from extensions.insight.estimate import estimate_run
from extensions.insight.history import DoneRun, DoneTask
from extensions.insight.simulation import PlannedRun, PlannedTask, Price
from state import Amounts, Estimate

MODEL = "openai:m"
PRICE = Price(1e-6, 2e-6)


def plan_task(worker: str = "w", needs: tuple[int, ...] = (), **fields: Any) -> PlannedTask:
    """Return a task of one call: 1,000 tokens in, 300 out."""
    given = {"worker": worker, "version": "v1", "model": MODEL, "uses_tools": False, "needs": needs}
    amounts = {"calls": 1, "input_tokens": 1000, "output_tokens": 300, "price": PRICE}
    return PlannedTask(**{**given, **amounts, **fields})


def plan_run(*tasks: PlannedTask, **fields: Any) -> PlannedRun:
    """Return a plan whose answer is one call."""
    answer = plan_task("", version="")
    return PlannedRun(
        **{"team": "t", "tasks": tasks or (plan_task(),), "answer": answer, "call_s": 5.0, **fields}
    )


def finish_task(worker: str = "w", seconds: float = 10.0, **fields: Any) -> DoneTask:
    """Return a task that took 900 tokens in and 200 out."""
    given = {"worker": worker, "version": "v1" if worker else "", "model": MODEL}
    amounts = {"expected_input": 1000, "calls": 1, "input_tokens": 900, "output_tokens": 200}
    return DoneTask(**{**given, **amounts, "seconds": seconds, **fields})


def finish_run(
    planned: PlannedRun, before: Sequence[DoneRun], draw: random.Random, slower: float = 1.0
) -> DoneRun:
    """Return a run of tasks that are done one after another, estimated from those before."""
    tasks = [
        finish_task(
            task.worker,
            slower * 10 * draw.lognormvariate(0, 0.4),
            output_tokens=round(200 * draw.lognormvariate(0, 0.3)),
        )
        for task in (*planned.tasks, planned.answer)
    ]
    read, written = (sum(getattr(t, n) for t in tasks) for n in ("input_tokens", "output_tokens"))
    return DoneRun(
        team=planned.team,
        at=len(before),
        status="done",
        tasks=tuple(tasks),
        expected=estimate_run(before, planned, Estimate()),
        fact=Amounts(
            model_calls=len(tasks),
            input_tokens=int(read),
            output_tokens=int(written),
            cost_usd=PRICE.read * read + PRICE.written * written,
            seconds=sum(task.seconds for task in tasks),
        ),
    )


def make_history(runs: int, *, team: str = "t", drift_at: int | None = None) -> tuple[DoneRun, ...]:
    """Return runs of a chain of one to four tasks; from `drift_at` on they are twice as slow."""
    if drift_at is None:
        return tuple(_grow_history(team).grow(runs))
    whole = History(team, before=_grow_history(team), at=drift_at, slower=2.0)
    return tuple(whole.grow(runs))


class History:
    """Runs one after another: a longer history begins as a shorter one does."""

    def __init__(
        self, team: str, *, before: "History | None" = None, at: int = 0, slower: float = 1.0
    ) -> None:
        """Begin with the runs of another history, up to a place."""
        self.runs = before.grow(at) if before else []
        self._team, self._slower = team, slower

    def grow(self, runs: int) -> list[DoneRun]:
        """Return the first runs, each of a chance that hangs on its place alone."""
        for place in range(len(self.runs), runs):
            draw = random.Random(place)
            chain = [plan_task(needs=(n - 1,) if n else ()) for n in range(draw.randint(1, 4))]
            planned = plan_run(*chain, team=self._team)
            self.runs.append(finish_run(planned, self.runs, draw, self._slower))
        return self.runs[:runs]


@cache
def _grow_history(team: str) -> History:
    return History(team)
