"""The part of `make cluster` in which servers die, pause, drain and lose their database."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from tests.cluster.cluster import TEAM, Cluster
from tests.cluster.outages import (
    lose_postgres,
    lose_redis,
    restart_postgres,
    restart_redis,
    stop_postgres,
    stop_redis,
)
from tests.cluster.special_runs import (
    NESTED_TEAM,
    keep_deadline,
    keep_money_cap,
    keep_token_cap,
    kill_after_revision,
    kill_nested_team,
    kill_while_asked,
    repeat_answer,
)
from tests.cluster.stage import Stage
from tests.cluster.table import Row
from tests.cluster.takeovers import (
    RECOVERY_S,
    drain,
    kill_after_reports,
    kill_twice,
    kill_with_runs,
    pause_past_the_lease,
    recover_orphan,
)
from tests.cluster.workload import Outcome, build_scenario
from tests.endpoint import Endpoint

Experiment = Callable[[Stage], Awaitable[Outcome]]
PAUSES: Final = 20
KILLED_AFTER: Final = (0, 1, 3, 5, 8, 11, 12)
ROOM_FOR_ALL: Final = {"N_JOBS_PER_WORKER": "20"}
"""One server can take over all runs of the other without ending its own first."""
SHORT_DRAIN: Final = {"WORKER_DRAIN_TIMEOUT": "1"}


@dataclass(frozen=True)
class Series:
    """Experiments that are made one after another on one cluster."""

    experiments: Sequence[Experiment]
    variables: Mapping[str, str] = field(default_factory=dict)
    own_variables: Mapping[int, Mapping[str, str]] = field(default_factory=dict)


def run_part(is_quick: bool) -> Iterator[Row]:
    """Yield a row for each experiment."""
    for series in list_series(is_quick):
        with (
            Endpoint(build_scenario()).run_in_thread() as endpoint,
            Cluster(
                2,
                endpoint=endpoint.base_url,
                teams=(TEAM, NESTED_TEAM),
                variables=series.variables,
                own_variables=series.own_variables,
            ) as cluster,
        ):
            stage = Stage(cluster, endpoint)
            asyncio.run(stage.warm_up())
            for experiment in series.experiments:
                yield _make_row(experiment, stage)
                stage.restore()


def list_series(is_quick: bool) -> list[Series]:
    """Return the experiments; the quick ones are a few of each kind."""
    killed_after = KILLED_AFTER[1:4:2] if is_quick else KILLED_AFTER
    pauses: list[Experiment] = [
        partial(pause_past_the_lease, reports=(0, 2, 6)[n % 3])
        for n in range(2 if is_quick else PAUSES)
    ]
    return [
        Series(
            [
                kill_with_runs,
                *(partial(kill_after_reports, reports=reports) for reports in killed_after),
                kill_twice,
                recover_orphan,
                *pauses,
                partial(pause_past_the_lease, reports=2, runs=12),
                partial(drain, runs=12),
            ],
            variables=ROOM_FOR_ALL,
        ),
        Series([partial(drain, runs=12)], variables=SHORT_DRAIN),
        Series(
            [
                keep_deadline,
                partial(keep_token_cap, is_killed_twice=False),
                partial(keep_token_cap, is_killed_twice=True),
                keep_money_cap,
                kill_while_asked,
                repeat_answer,
                kill_nested_team,
                kill_after_revision,
            ]
        ),
        Series(
            [
                partial(restart_postgres, mode="fast"),
                partial(restart_postgres, mode="immediate"),
                stop_postgres,
                lose_postgres,
                restart_redis,
                stop_redis,
                lose_redis,
            ]
        ),
    ]


def build_row(outcome: Outcome) -> Row:
    """Return an experiment's row of the table."""
    figures: dict[str, Any] = {
        "planner calls": sum(outcome.calls.planned.values()),
        "saved tasks again": outcome.repeated,
        "in flight again": outcome.calls.again + outcome.calls.cut,
        "done in s": f"{max(run.real_s for run in outcome.runs):.1f}",
    }
    late = outcome.recovered_s is not None and outcome.recovered_s > RECOVERY_S
    if outcome.recovered_s is not None:
        figures["taken over in s"] = f"{outcome.recovered_s:.1f}"
    problems = [*outcome.problems, *([f"recovered later than {RECOVERY_S:g} s"] if late else [])]
    problems += [f"{outcome.repeated} saved tasks done again"] if outcome.repeated else []
    shown = "; ".join([*(f"{name} {value}" for name, value in figures.items()), *outcome.notes])
    return Row(
        outcome.what, len(outcome.runs), outcome.count_right(), shown, "; ".join(problems)[:300]
    )


def _make_row(experiment: Experiment, stage: Stage) -> Row:
    """Make an experiment; one that does not end is a failed row, and the others are made."""
    try:
        return build_row(asyncio.run(_make_experiment(experiment, stage)))
    except TimeoutError:
        name = getattr(experiment, "func", experiment).__name__
        return Row(name.replace("_", " "), 1, 0, problem="it did not end in time")


async def _make_experiment(experiment: Experiment, stage: Stage) -> Outcome:
    return await experiment(stage)
