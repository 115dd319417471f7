"""Real runs for the bench of estimates: the application against the endpoint simulator.

Each run has a random plan, tasks of lognormal or bimodal seconds, tool calls, and attempts that
fail; half-way everything becomes twice as slow. What comes of their estimates is read from the
store, as `supervise calibration` does.
"""

import asyncio
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from extensions.insight.calibration import measure_calibration
from extensions.insight.history import MAX_LISTED, NAMESPACE, NO_USER, load_values, read_runs
from graph.runs.run_store import build_run_store
from graph.runs.runner import arun
from nodes.schemas.team import Team
from tests.benchmarks.at_endpoint import build_settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

FAST_S, SLOW_S = 0.08, 0.4
FAILING_SHARE = 0.1
WORKERS = ("researcher", "analyst", "writer")


def measure_real_runs(runs: int, seed: int) -> dict[str, Any]:
    """Return what `supervise calibration --json` says after so many runs of each of two teams."""
    with tempfile.TemporaryDirectory(prefix="estimates-") as folder:
        return asyncio.run(_run_all(runs, random.Random(seed), Path(folder)))


async def _run_all(runs: int, draw: random.Random, place: Path) -> dict[str, Any]:
    teams, ended = [_build_team("lognormal"), _build_team("bimodal")], Counter[str]()
    for number in range(runs):
        for team in teams:
            scenario = _draw_scenario(draw, team.name, 2.0 if number >= runs // 2 else 1.0)
            async with Endpoint(scenario) as endpoint:
                settings = build_settings(place, endpoint.base_url)
                outcome = await arun("Compare the parts.", team=team, settings=settings)
                ended[outcome.status] += 1
    async with build_run_store(build_settings(place)) as store:
        kept = read_runs(await load_values(store, (NAMESPACE, NO_USER), limit=MAX_LISTED))
    return {**measure_calibration(kept), "ended": dict(ended)}


def _build_team(name: str) -> Team:
    team = make_team(*WORKERS, name=name, judge=False)
    able = team.workers[1].model_copy(update={"tools": ("calculate",)})
    return team.model_copy(update={"workers": (team.workers[0], able, team.workers[2])})


def _draw_scenario(draw: random.Random, shape: str, slower: float) -> Scenario:
    tasks = list[ScriptedTask]()
    for place in range(draw.randint(3, 8)):
        worker = draw.choice(WORKERS)
        sums = [("calculate", {"expression": f"{draw.randint(1, 99)}*3"}) for _ in range(3)]
        needs = draw.sample([task.id for task in tasks], min(place, draw.choice((0, 1, 2))))
        tasks.append(
            ScriptedTask(
                id=f"t{place}",
                worker=worker,
                depends_on=tuple(needs),
                latency_s=slower * _draw_seconds(draw, shape),
                tool_calls=tuple(sums[: draw.randint(0, 3)]) if worker == "analyst" else (),
                report=_draw_report(draw, f"t{place}"),
            )
        )
    latency_s = {"Plan": 0.1 * slower, "Answer": slower * draw.uniform(0.1, 0.2), "*": 0.02}
    return Scenario(tasks=tuple(tasks), latency_s=latency_s)


def _draw_seconds(draw: random.Random, shape: str) -> float:
    if shape == "lognormal":
        return FAST_S * draw.lognormvariate(0, 0.5)
    return (SLOW_S if draw.random() < 0.3 else FAST_S) * draw.uniform(0.8, 1.25)


def _draw_report(draw: random.Random, name: str) -> Any:
    output = f"Part {name} costs {draw.randint(10, 99)} euros. " * draw.randint(1, 12)
    good = {"status": "completed", "output": output, "confidence": 90}
    failed = {**good, "status": "failed", "output": "no source"}
    return [failed, good] if draw.random() < FAILING_SHARE else good
