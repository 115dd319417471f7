"""Route labelled questions by words, and by words and meaning; print how many go right.

Run: `python -m tests.benchmarks.meaning PATH [--team NAME]`; each line of the file has a `text` and
a `label`, the name of a worker. Meaning counts where the extra `meaning` is installed.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from extensions.embedded.model import EmbeddedModel
from graph.teams.team_loader import load_team
from nodes.models.structured_output import ask_model
from nodes.prompts.messages import build_route_messages
from nodes.schemas.handoff import PlanningValues, lay_beside
from nodes.schemas.replies import Decision
from nodes.schemas.team import Team
from nodes.text.similarity import is_meaning_available, rank_examples
from tests.benchmarks.options import read_options


@dataclass(frozen=True)
class Question:
    """A question, and the worker that should get it."""

    text: str
    label: str


def read_questions(path: Path) -> list[Question]:
    """Read the labelled questions of a JSONL file."""
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Question(line["text"], line["label"]) for line in lines]


async def count_right_workers(team: Team, questions: Sequence[Question]) -> int:
    """Count the questions that the embedded router sends to the right worker first."""
    right = 0
    for question in questions:
        asked = build_route_messages(team, question.text, [])
        with lay_beside(PlanningValues(team, question.text)):
            reply = await ask_model(EmbeddedModel(), Decision, asked)
        right += reply.value.worker == question.label
    return right


def count_right_examples(team: Team, questions: Sequence[Question]) -> int:
    """Count the questions whose nearest example begins with the right worker."""
    requests = [example.request for example in team.examples]
    workers = [example.plan.tasks[0].worker for example in team.examples]
    nearest = [rank_examples(question.text, requests)[0][0] for question in questions]
    return sum(
        workers[index] == question.label for index, question in zip(nearest, questions, strict=True)
    )


async def _main() -> None:
    parser = ArgumentParser(prog="python -m tests.benchmarks.meaning", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--team", default="expert_router")
    options = read_options(parser)
    team, questions = load_team(options.team), read_questions(options.path)[: options.rows]
    means = "words and meaning" if is_meaning_available() else "words"
    routed = await count_right_workers(team, questions)
    matched = count_right_examples(team, questions)
    sys.stdout.write(
        f"by {means}, of {len(questions)} questions: "
        f"{routed} to the right worker, {matched} with the right nearest example\n"
    )


if __name__ == "__main__":
    asyncio.run(_main())
