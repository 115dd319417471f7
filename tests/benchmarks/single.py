"""Compare one agent with a team: the exams of the shipped teams, and their plans' work alone.

    python -m tests.benchmarks.single [--teams 13] [--limit 10000] [--shapes 5] [--model MODEL]

The first table is graded: each team sits its exam with the built-in model (or MODEL for all tiers,
at the address in the settings), as a team and as one agent, by the rows and metrics that both have.

The second grades nothing. The endpoint simulator is told what to plan and to report: plans of
different structure that the built-in model made for rows of the exam, each task of which takes the
model `WORK_S` seconds wherever it is done; one agent does them one after another and reports once.
It shows calls, tokens and seconds for the same work.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from pydantic import SecretStr

from extensions.evals.command import keep_comparable
from extensions.evals.evaluate import aevaluate_team
from extensions.evals.scores import Evaluation, GradedRow
from extensions.insight.compare import measure
from extensions.insight.plan_variety import describe_structure
from graph.runs.runner import arun
from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams, load_team
from nodes.schemas.single_agent import SINGLE_AGENT
from state import Plan, Strategy
from tests.benchmarks.options import read_options
from tests.endpoint import Endpoint, Scenario, ScriptedTask

WORK_S = 0.2
"""Seconds of the model for a task's work, for a plan, and for an answer."""
MODELS = ("model_fast", "model_standard", "model_strong")
Row = tuple[str, ...]
EXAM_HEADS: Row = (
    *(
        "team",
        "rows",
        "score",
        "facts",
        "claims proved",
        "calls",
        "1,000 tokens",
        "s",
        "higher score",
    ),
)
WORK_HEADS: Row = ("team", "plans", "tasks of a plan", "calls", "1,000 tokens", "s")


@dataclass(frozen=True)
class Asked:
    """A row of an exam, and the plan that the built-in model made for it."""

    graded: GradedRow
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


def choose_shapes(evaluation: Evaluation, limit: int) -> list[Asked]:
    """Return the first rows whose plans differ in their structure, the largest plans first."""
    found = dict[Any, Asked]()
    for row in evaluation.rows:
        if row.result.plan is not None and not row.row.worker:
            found.setdefault(describe_structure(row.result.plan), Asked(row, row.result.plan))
    ordered = sorted(found.values(), key=lambda each: -len(each.plan.tasks))
    return ordered[:limit]


async def compare_work(folder: Path, asked: Sequence[Asked], settings: Settings) -> Row:
    """Return the row of a team's plans against the endpoint simulator: means over the plans."""
    figures = dict[Strategy, list[dict[str, Any]]]()
    async with Endpoint() as endpoint:
        of_endpoint = Settings(
            database_url=settings.database_url,
            record=False,
            openai_base_url=endpoint.base_url,
            openai_api_key=SecretStr("sk-test-0123456789abcdef"),
            **dict.fromkeys(MODELS, "openai:gpt-5-mini"),
        )
        for strategy in ("plan", "single"):
            for each in asked:
                endpoint.load_scenario(script_work(each.plan, strategy))
                outcome = await arun(
                    each.graded.row.request,
                    team=load_team(folder, settings),
                    materials=each.graded.result.materials,
                    settings=of_endpoint,
                    context={"strategy": strategy, "speculate": False},
                )
                figures.setdefault(strategy, []).append(measure(outcome))
    sides = [figures["plan"], figures["single"]]
    return (
        folder.name,
        str(len(asked)),
        f"{mean(len(each.plan.tasks) for each in asked):.1f}",
        *_pair(f"{mean(row['model_calls'] for row in side):.1f}" for side in sides),
        *_pair(f"{mean(row['tokens'] for row in side) / 1000:.1f}" for side in sides),
        *_pair(f"{mean(row['seconds'] or 0.0 for row in side):.2f}" for side in sides),
    )


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


def format_table(head: Row, rows: Sequence[Row]) -> str:
    """Return a table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


async def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--teams", type=int, default=13, help="the first so many shipped teams")
    parser.add_argument("--limit", type=int, default=10_000, help="rows of each exam")
    parser.add_argument("--shapes", type=int, default=5, help="plans of each team")
    parser.add_argument("--model", default="embedded", help="of all tiers, for the exams")
    options = read_options(parser, "teams", "limit", "shapes")
    exams, works = list[Row](), list[Row]()
    with tempfile.TemporaryDirectory(prefix="single-") as home:
        models = dict.fromkeys(MODELS, options.model)
        kept = {"database_url": f"sqlite:///{home}/runs.sqlite", "record": False}
        settings = Settings().model_copy(update={**models, **kept})
        for folder in list_shipped_teams()[: options.teams]:
            how: dict[str, Any] = {"settings": settings, "limit": options.limit}
            evaluation = await aevaluate_team(folder, **how)
            alone = await aevaluate_team(folder, strategy="single", **how)
            exams.append(compare_exam(folder.name, evaluation, alone))
            print(f"| {' | '.join(exams[-1])} |", flush=True)
            if shapes := choose_shapes(evaluation, options.shapes):
                works.append(await compare_work(folder, shapes, settings))
    print(f"\nexams, with {options.model}; each cell: team / one agent\n")
    print(format_table(EXAM_HEADS, exams))
    print("\nthe same work against the endpoint simulator; means; each cell: team / one agent\n")
    print(format_table(WORK_HEADS, works))


if __name__ == "__main__":
    asyncio.run(main())
