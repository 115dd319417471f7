"""Requests of the kinds that the application was built for, word for word, without a model.

Each is planned and answered by rule. The expectations were written from the words of the requests,
the cards of the workers and the sample files, by somebody who had seen neither plans nor answers:
each part goes to a worker that it is for, or is said to have no worker, and the facts that the
request asks for are in the answer or in its gaps.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from graph import arun
from graph.runs.outcome import Outcome
from graph.runs.plan_only import aplan
from nodes.text.markdown import format_answer
from state import Plan

TEAMS = Path(__file__).parents[2] / "teams"
MIN_COVERED = 11
"""Of the plans: each part is in a task of a worker that it is for, or is said to have none."""


@dataclass(frozen=True)
class Row:
    """One request, and what it asks for."""

    team: str
    request: str
    parts: dict[str, str]
    """Words of each part, and the workers it is for, with spaces between; empty: none."""
    facts: tuple[str, ...]
    """Each is in the answer or in its gaps; of those with a bar between, one is."""
    sample: str = "sample"
    may_be_done: bool = False
    """The tools alone can do all that is asked."""
    lacks: str = ""
    """What is known to fall short."""


TEXT = Path(__file__).with_name("requests_verbatim.jsonl").read_text(encoding="utf-8")
ROWS = tuple(Row(**json.loads(line)) for line in TEXT.splitlines())


def list_files(row: Row) -> list[Path]:
    folder = TEAMS / row.team / row.sample
    return sorted(path for path in folder.iterdir() if path.is_file()) if row.sample else []


def list_uncovered(row: Row, plan: Plan) -> list[str]:
    """Return the parts that no worker they are for has, and that are not said to be untaken."""
    untaken = " ".join(plan.untaken)
    return [
        words
        for words, workers in row.parts.items()
        if words not in untaken
        and not any(task.worker in workers.split() and words in task.asked for task in plan.tasks)
    ]


async def plan_row(row: Row) -> Plan:
    return await aplan(row.request, team=row.team, files=list_files(row))


async def answer_row(row: Row) -> Outcome:
    return await arun(row.request, team=row.team, files=list_files(row))


@pytest.mark.slow
async def test_plans_cover_every_part_of_most_requests():
    uncovered = {row.request: list_uncovered(row, await plan_row(row)) for row in ROWS}

    assert sum(not parts for parts in uncovered.values()) >= MIN_COVERED, uncovered


@pytest.mark.slow
@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=row.request[:30],
            marks=[pytest.mark.xfail(reason=row.lacks, strict=bool(row.sample))]
            if row.lacks
            else [],
        )
        for row in ROWS
    ],
)
async def test_what_is_asked_is_in_the_answer_or_its_gaps(row: Row):
    outcome = await answer_row(row)

    assert outcome.answer is not None
    said = format_answer(outcome.answer.model_dump(mode="json")).casefold()
    each_fact = [[one.casefold() for one in fact.split("|")] for fact in row.facts]
    assert [fact for fact in each_fact if not any(one in said for one in fact)] == []
    assert row.may_be_done or outcome.status not in ("done", "passages")
