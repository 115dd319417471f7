"""Measure what one task's recovery costs the others: their finish times, against a clean run.

    python -m tests.benchmarks.siblings [--repeat 5]

A wide plan: one task fails and climbs the whole ladder (refine, a stronger tier, another worker,
and a division into smaller tasks, all in vain), the others never fail. Each sibling's finish time
is held against the same sibling's in a run in which nothing fails; medians over the repeats. Each
kind has one graph, built once, as a server has it.
"""

import argparse
import asyncio
import statistics

from graph import build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team, Worker
from state import Report, Rung
from tests.endpoint import Scenario, ScriptedTask, script_tasks
from tests.endpoint.process import EndpointProcess, run_endpoint_process
from tests.teams import make_team

WIDTH = 12
LADDER: tuple[Rung, ...] = ("refine", "tier", "reassign", "split")


def make_scenario(*, fails: bool, runs: int) -> Scenario:
    """Twelve tasks of a second or so, a third of them with one behind it, and the patient."""
    edges: dict[str, tuple[str, ...]] = {f"s{n}": () for n in range(WIDTH)}
    edges |= {f"after{n}": (f"s{n}",) for n in range(0, WIDTH, 3)}
    latency_s = {name: 0.6 + 0.1 * (index % 8) for index, name in enumerate(edges)}
    failure = {"status": "failed", "output": "It cannot be done."} if fails else None
    patient = ScriptedTask(id="patient", latency_s=0.3, report=failure)
    planned = Scenario(tasks=(patient, *script_tasks(edges, latency_s=latency_s))).build_plan()
    parts = (ScriptedTask(id="part", latency_s=0.3, report=failure),)
    return Scenario(
        tasks=(patient, *script_tasks(edges, latency_s=latency_s), *parts),
        answers={
            "Plan": [planned, Scenario(tasks=parts).build_plan()] * runs if fails else planned
        },
        latency_s={"*": 0.1},
    )


def make_wide_team() -> Team:
    """A team whose ladder has every rung that asks no person, and a worker to fall back on."""
    made = make_team(ladder=LADDER, max_attempts=5)
    first, *others = made.workers
    spare = Worker(name="spare", description="Stands in.", instructions="Work.")
    workers = (first.model_copy(update={"fallback": "spare"}), *others, spare)
    return made.model_copy(update={"workers": workers})


def build_graph(endpoint: EndpointProcess) -> SupervisorGraph:
    """Build the team's graph, with its models at an endpoint."""
    settings = Settings(
        openai_base_url=endpoint.base_url,
        openai_api_key="sk-benchmark",
        model_fast="openai:gpt-5-mini",
        model_standard="openai:gpt-5-mini",
        model_strong="openai:gpt-5",
        max_concurrency=64,
    )
    return build_supervisor(make_wide_team(), settings=settings)


async def run_plan(graph: SupervisorGraph) -> dict[str, Report]:
    """Run the plan and give the reports."""
    state = await graph.ainvoke({"request": "Compare the parts."})
    results: dict[str, Report] = state["results"]
    return results


def measure_ends(runs: list[dict[str, Report]]) -> dict[str, float]:
    """Return each sibling's median finish time."""
    names = [name for name in runs[0] if name != "patient"]
    return {name: statistics.median(run[name].ended_s for run in runs) for name in names}


async def print_comparison(well: EndpointProcess, ill: EndpointProcess, repeat: int) -> None:
    """Run both kinds in turn and print the ratios; the first of each warms up."""
    clean, failing = build_graph(well), build_graph(ill)
    pairs = [(await run_plan(clean), await run_plan(failing)) for _ in range(repeat + 1)][1:]
    before, after = (
        measure_ends([pair[0] for pair in pairs]),
        measure_ends([pair[1] for pair in pairs]),
    )
    ratios = {name: after[name] / before[name] for name in before}
    worst = max(ratios, key=lambda name: ratios[name])
    patient = pairs[-1][1]["patient"]
    middle = statistics.median(ratios.values())
    print(
        f"patient: {patient.status} after {patient.attempts} attempts, at {patient.ended_s:.2f} s"
    )
    print(f"siblings: {len(ratios)}; finish times over those of a clean run: ", end="")
    print(f"median {middle:.3f}, worst {ratios[worst]:.3f} ({worst})")


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    well, ill = (make_scenario(fails=fails, runs=repeat + 1) for fails in (False, True))
    with run_endpoint_process(well) as first, run_endpoint_process(ill) as second:
        asyncio.run(print_comparison(first, second, repeat))


if __name__ == "__main__":
    main()
