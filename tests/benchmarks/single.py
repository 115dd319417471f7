"""Compare one agent with a team: the exams of the shipped teams, and their plans' work alone.

    python -m tests.benchmarks.single [--part exams] [--teams 13] [--limit 100] [--shapes 5]

Exams are graded: each team sits its own with the built-in model (or `--model` for all tiers, at the
address in the settings), as a team and as one agent, by the rows and metrics that both have.

The work is not graded. The endpoint simulator is told what to plan and to report: plans of
different structure that the built-in model makes for rows of the exam, each task of which takes the
model `WORK_S` seconds wherever it is done; one agent does them one after another and reports once.
It shows calls, tokens and seconds for the same work.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from pydantic import SecretStr

from extensions.evals.command import keep_comparable
from extensions.evals.evaluate import aevaluate_team
from extensions.evals.exam import ExamRow, load_exam
from extensions.evals.scores import Evaluation
from extensions.insight.compare import measure
from extensions.insight.plan_variety import describe_structure
from graph.runs.materials import read_materials
from graph.runs.plan_only import aplan
from graph.runs.runner import arun
from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams, load_team
from nodes.errors import SupervisorError
from nodes.schemas.single_agent import SINGLE_AGENT
from state import Plan, Strategy
from tests.benchmarks.options import read_options
from tests.endpoint import Endpoint, Scenario, ScriptedTask

WORK_S = 1.0
"""Seconds of the model for a task's work, for a plan, and for an answer."""
AT_ONCE = 3
"""Runs that wait for the simulator at once; more would wait for the processor."""
MODELS = ("model_fast", "model_standard", "model_strong")
Row = tuple[str, ...]
EXAM_HEADS: Row = (
    *(
        *("team", "rows", "score", "facts", "claims proved", "calls", "1,000 tokens", "s"),
        "higher score",
    ),
)
WORK_HEADS: Row = ("team", "plans", "tasks of a plan", "calls", "1,000 tokens", "s")


@dataclass(frozen=True)
class Asked:
    """A row of an exam with its files, and the plan that the built-in model makes for it."""

    request: str
    materials: Mapping[str, str]
    plan: Plan


def compare_exam(team: str, evaluation: Evaluation, alone: Evaluation) -> Row:
    """Return the row of a team's exam: score, facts, proved claims, calls, tokens and seconds."""
    sides = keep_comparable(evaluation, alone)
    better = "team" if sides[0].score > sides[1].score else "one agent"
    better = better if sides[0].score != sides[1].score else "equal"
    return (
        team,
        str(len(sides[0].rows)),
        *_pair(f"{side.score:.1f}" for side in sides),
        *_pair(_format_metric(side, "facts") for side in sides),
        *_pair(_format_claims(side) for side in sides),
        *_pair(f"{side.sum_usage()['calls']:,}" for side in sides),
        *_pair(f"{_sum_tokens(side) / 1000:,.0f}" for side in sides),
        *_pair(f"{side.sum_usage()['seconds']:,.0f}" for side in sides),
        better,
    )


def _pair(values: Iterator[str]) -> tuple[str]:
    return (" / ".join(values),)


def _format_metric(side: Evaluation, name: str) -> str:
    value = side.average_metric(name)
    return "-" if value is None else f"{value:.0f}"


def _format_claims(side: Evaluation) -> str:
    """Return how many claims of the answers are proved, of how many."""
    rows = [measure(row.result.outcome) for row in side.rows if row.result.outcome]
    return f"{sum(row['proved'] for row in rows)} of {sum(row['facts'] for row in rows)}"


def _sum_tokens(side: Evaluation) -> int:
    spent = side.sum_usage()
    return int(spent["input_tokens"] + spent["output_tokens"])


def read_rows(folder: Path, settings: Settings) -> Sequence[ExamRow]:
    """Return the rows of a team's exam."""
    team = load_team(folder, settings)
    return load_exam(folder, [worker.name for worker in team.workers]).rows


def is_answered(row: ExamRow) -> bool:
    """Return whether a row is run, and not planned alone."""
    return not row.expect.needs_only_a_plan


async def choose_shapes(folder: Path, settings: Settings, limit: int, shapes: int) -> list[Asked]:
    """Return rows whose plans differ in their structure, those with the largest plans.

    Args:
        limit: rows of the exam that are planned.
    """
    team, found = load_team(folder, settings), dict[Any, Asked]()
    for row in read_rows(folder, settings)[:limit]:
        materials = await read_materials([folder / name for name in row.files])
        how: dict[str, Any] = {"settings": settings, "context": {"strategy": "plan"}}
        with suppress(SupervisorError):  # a row of what the team must refuse
            plan = await aplan(row.request, team=team, materials=materials, **how)
            asked = Asked(row.request, materials, plan)
            found.setdefault(describe_structure(plan), asked)
    return sorted(found.values(), key=lambda each: -len(each.plan.tasks))[:shapes]


async def compare_work(folder: Path, asked: Sequence[Asked], settings: Settings) -> Row:
    """Return the row of a team's plans against the endpoint simulator: means over the plans."""
    strategies: tuple[Strategy, ...] = ("plan", "single")
    ways = [(each, strategy) for strategy in strategies for each in asked]
    gate = asyncio.Semaphore(AT_ONCE)

    async def do_one(way: tuple[Asked, Strategy]) -> dict[str, Any]:
        async with gate:
            return await do_work(folder, *way, settings)

    rows = await asyncio.gather(*map(do_one, ways))
    sides = [rows[: len(asked)], rows[len(asked) :]]
    return (
        folder.name,
        str(len(asked)),
        f"{mean(len(each.plan.tasks) for each in asked):.1f}",
        *_pair(f"{mean(row['model_calls'] for row in side):.1f}" for side in sides),
        *_pair(f"{mean(row['tokens'] for row in side) / 1000:.1f}" for side in sides),
        *_pair(f"{mean(row['seconds'] or 0.0 for row in side):.1f}" for side in sides),
    )


async def do_work(
    folder: Path, asked: Asked, strategy: Strategy, settings: Settings
) -> dict[str, Any]:
    """Return the figures of one run against a simulator of its own."""
    async with Endpoint(script_work(asked.plan, strategy)) as endpoint:
        of_endpoint = Settings(
            database_url=settings.database_url,
            record=False,
            openai_base_url=endpoint.base_url,
            openai_api_key=SecretStr("sk-test-0123456789abcdef"),
            **dict.fromkeys(MODELS, "openai:gpt-5-mini"),
        )
        outcome = await arun(
            asked.request,
            team=load_team(folder, settings),
            materials=asked.materials,
            settings=of_endpoint,
            context={"strategy": strategy, "speculate": False},
        )
    return measure(outcome)


def script_work(plan: Plan, strategy: Strategy) -> Scenario:
    """Return the scenario of a plan's work: in its tasks, or all of it in one task."""
    tasks = tuple(
        ScriptedTask(
            id=task.id,
            worker=task.worker,
            depends_on=tuple(edge.model_dump() for edge in task.depends_on),
            description=task.description,
            materials=task.materials,
            latency_s=WORK_S,
        )
        for task in plan.tasks
    )
    if strategy == "single":
        said = {"output": "\n".join(f"Result of {task.id}." for task in plan.tasks)}
        seconds = WORK_S * len(plan.tasks)
        tasks = (ScriptedTask(id="T1", worker=SINGLE_AGENT, latency_s=seconds, report=said),)
    return Scenario(tasks=tasks, latency_s={"Plan": WORK_S, "Answer": WORK_S})


async def main() -> None:
    """Print one table or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("exams", "work", "both"), default="both")
    parser.add_argument("--teams", type=int, default=13, help="the first so many shipped teams")
    parser.add_argument("--limit", type=int, default=100, help="rows of each exam")
    parser.add_argument("--shapes", type=int, default=5, help="plans of each team")
    parser.add_argument("--model", default="embedded", help="of all tiers, for the exams")
    options = read_options(parser, "teams", "limit", "shapes")
    folders = list_shipped_teams()[: options.teams]
    with tempfile.TemporaryDirectory(prefix="single-") as home:
        kept = {"database_url": f"sqlite:///{home}/runs.sqlite", "record": False}
        settings = Settings().model_copy(update={**dict.fromkeys(MODELS, options.model), **kept})
        if options.part != "work":
            print(f"exams, with {options.model}; each cell: team / one agent\n")
            print_rows(EXAM_HEADS)
            for folder in folders:
                answered = [row.id for row in read_rows(folder, settings) if is_answered(row)]
                how: dict[str, Any] = {"settings": settings, "only": answered[: options.limit]}
                sides = await aevaluate_team(folder, **how)
                alone = await aevaluate_team(folder, strategy="single", **how)
                print_rows(compare_exam(folder.name, sides, alone), has_head=False)
        if options.part != "exams":
            settings = settings.model_copy(update=dict.fromkeys(MODELS, "embedded"))
            print("\nthe same work against the endpoint simulator; means; team / one agent\n")
            print_rows(WORK_HEADS)
            for folder in folders:
                sizes = (options.limit, options.shapes)
                if asked := await choose_shapes(folder, settings, *sizes):
                    print_rows(await compare_work(folder, asked, settings), has_head=False)


def print_rows(row: Row, *, has_head: bool = True) -> None:
    """Print a row of a table in Markdown, at once; a head with the line below it."""
    lines = [row, ("---",) * len(row)] if has_head else [row]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
