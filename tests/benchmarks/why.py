"""Inject faults at the wire and in tools, and count how often `supervise why` names the first one.

    python -m tests.benchmarks.why [--faults 800] [--pairs 200] [--whole 300] [--seed 1]

Each run has a random graph of tasks. A fault is what the endpoint answers to one task's requests,
what a tool does, a cap, a worker's server that is not there, or a human's word; no event is made
up. What struck is taken from the endpoint's records: a second fault behind the first never does.
A run counts as exact when the causes are those that struck, each with its task and kind, and no
other. Runs without a fault, or that recover from one, must have none. Last, the processor time that
the trace of a run of 1,000 tasks takes.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extensions.insight.causes import explain
from graph import arun
from graph.runs.runner import aresume
from graph.runs.stopping import astop
from graph.runs.trace import load_trace
from graph.settings import Settings
from tests.benchmarks.injected_faults import (
    GOOD,
    NOTES,
    REQUEST,
    TOOLS,
    Injection,
    Truth,
    build_team,
    draw,
)
from tests.benchmarks.options import read_options
from tests.endpoint import Endpoint, Scenario, ScriptedTask

IN_REPORTS = ("unproved_claim", "tool_failed", "tool_incomplete", "tool_refused")
"""Kinds of faults with which a task is completed all the same."""
BLOCK, FAILING = 20, 5
"""In a large run each task needs the two before it in its block; of every third block one fails."""


async def play(run: Injection, home: Path) -> tuple[dict[str, Any], set[str]]:
    """Return the trace of a run, and the tasks whose requests reached the endpoint.

    The request for the answer is of no task.
    """
    scenario = Scenario(
        tasks=tuple(run.tasks.values()), faults=tuple(run.faults), answers=run.answers
    )
    async with Endpoint(scenario) as endpoint:
        settings = Settings(
            openai_base_url=endpoint.base_url,
            openai_api_key="sk-test",
            database_url=f"sqlite:///{home}/runs.sqlite",
            record=False,
            **run.settings,
        )
        how: dict[str, Any] = {"team": build_team(run), "settings": settings, "tools": TOOLS}
        running = asyncio.create_task(
            arun(REQUEST, context=run.context, materials=NOTES, thread="one", **how)
        )
        if run.stopped:
            await stop_task(running, run.stopped, endpoint, settings)
        await running
        if run.is_rejected:
            await aresume("one", answer="reject: another plan, please", **how)
        asked = {call.task for call in endpoint.requests if call.schema in ("Report", "Answer")}
    return load_trace("one", settings), asked


async def stop_task(
    running: Awaitable[Any], task: str, endpoint: Endpoint, settings: Settings
) -> None:
    """Stop a task as soon as its model works on it."""
    count = 0
    while not any(call.task == task for call in endpoint.requests):
        await endpoint.wait_for_calls(count := count + 1)
    await astop("one", task, settings=settings)


def find_truth(run: Injection, trace: Mapping[str, Any], asked: set[str]) -> Truth:
    """Return what has struck: at the tasks whose requests were made, and at the run.

    A task of a worker elsewhere makes none here: it is one that was not skipped. What a report has
    as a gap counts if there is one: the other fault, such as a rate limit, may have prevented it.
    """
    truth, ends = set[tuple[str, str]](), {task["id"]: task["status"] for task in trace["tasks"]}
    for kind, task in run.planned:
        is_lost = kind in IN_REPORTS and ends.get(task) != "completed"
        is_far = bool(task) and run.tasks[task].worker == "far"
        is_begun = ends.get(task) not in ("skipped", "waiting") if is_far else task in asked
        if not task or (is_begun and not is_lost):
            truth.add((kind, task))
    return truth


@dataclass
class Judged:
    """What came of a run."""

    number: int
    names: list[str]
    truth: Truth
    found: Truth
    is_exact: bool
    is_first: bool
    """The cause that is named first is one that struck."""
    status: str


async def judge(number: int, faults: int, seed: int) -> Judged:
    """Play a run, and compare the causes with what struck."""
    run = draw(number, faults, seed)
    with tempfile.TemporaryDirectory(prefix="why-") as home:
        trace, asked = await play(run, Path(home))
    why = explain(trace)
    found = {(cause.kind, cause.task) for cause in why.causes}
    truth = find_truth(run, trace, asked)
    if run.of_run and not {*run.tasks, ""} <= asked:
        # At whichever task it came first: one that was not asked.
        at = {task for kind, task in found if kind == run.of_run and task not in asked}
        truth = {(run.of_run, task) for task in list(at)[:1]} or {(run.of_run, "?")}
    first = {(why.causes[0].kind, why.causes[0].task)} if why.causes else set[tuple[str, str]]()
    is_first = first <= truth if first else not truth
    return Judged(number, run.names, truth, found, found == truth, is_first, why.status)


async def judge_all(count: int, faults: int, seed: int, at_once: int) -> list[Judged]:
    """Judge runs, some at the same time."""
    slots = asyncio.Semaphore(at_once)

    async def judge_one(number: int) -> Judged:
        async with slots:
            return await judge(number, faults, seed)

    return list(await asyncio.gather(*map(judge_one, range(count))))


def print_judged(title: str, judged: list[Judged]) -> Iterator[str]:
    """Yield a line for the runs together, for each kind of fault, and for each that was missed."""
    exact, first = (sum(getattr(j, name) for j in judged) for name in ("is_exact", "is_first"))
    total = len(judged)
    if not total:
        return
    yield f"{title}: {total} runs, all causes exact {exact} ({100 * exact / total:.1f} %), "
    yield f"  first cause exact {first} ({100 * first / total:.1f} %)"
    counts, right = Counter[str](), Counter[str]()
    for each in judged:
        for name in each.names:
            counts[name] += 1
            right[name] += each.is_exact
    yield from (f"    {name:22} {right[name]:4} of {n:4}" for name, n in sorted(counts.items()))
    for each in (j for j in judged if not j.is_exact):
        yield f"  missed {each.number} {each.names} {each.status}: struck {sorted(each.truth)}, "
        yield f"    found {sorted(each.found)}"


async def measure_large_trace(count: int = 1_000) -> tuple[float, float]:
    """Return the seconds for reading the trace of a run of so many tasks, and for explaining it."""
    run, failed = Injection({}), {"status": "failed", "output": "The archive is closed."}
    for number in range(count):
        before = range(max(number - number % BLOCK, number - 2), number)
        has_failed = number % (3 * BLOCK) == FAILING or number == count - 1
        run.tasks[f"t{number}"] = ScriptedTask(
            id=f"t{number}",
            depends_on=tuple(f"t{each}" for each in before),
            report=failed if has_failed else GOOD,
        )
    with tempfile.TemporaryDirectory(prefix="why-") as home:
        await play(run, Path(home))
        settings = Settings(database_url=f"sqlite:///{home}/runs.sqlite")
        began = time.process_time()
        trace = load_trace("one", settings)
        read = time.process_time()
        assert explain(trace).causes, "the last task has failed"
    return read - began, time.process_time() - read


def main() -> None:
    """Print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    for name, count in (("faults", 800), ("pairs", 200), ("whole", 300), ("tasks", 1000)):
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=4)
    options = read_options(parser, "faults", "pairs", "whole", "tasks")
    logging.disable(logging.CRITICAL)
    for title, count, faults in (
        ("one fault", options.faults, 1),
        ("two faults", options.pairs, 2),
        ("no fault, or recovered", options.whole, 0),
    ):
        judged = asyncio.run(judge_all(count, faults, options.seed, options.at_once))
        sys.stdout.writelines(f"{line}\n" for line in print_judged(title, judged))
        sys.stdout.flush()
    read_s, explained_s = asyncio.run(measure_large_trace(options.tasks))
    took = f"read in {1_000 * read_s:.0f} ms, explained in {1_000 * explained_s:.0f} ms"
    sys.stdout.write(f"the trace of a run of {options.tasks:,} tasks: {took}\n")


if __name__ == "__main__":
    main()
