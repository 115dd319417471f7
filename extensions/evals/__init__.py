"""Exams of teams: `evals.jsonl` is read, run, and graded."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graph.extensions import Extension, find_first

if TYPE_CHECKING:
    from extensions.evals.kept_exams import ExamPages
    from graph.settings import Settings


class _Exams(Extension):
    def add_commands(self, app: typer.Typer) -> None:
        """Add `supervise eval`."""
        from extensions.evals.options import evaluate

        app.command("eval")(evaluate)

    def list_team_problems(self, folder: Path, settings: "Settings | None") -> Iterable[str]:
        """Return the problems of a team's exam."""
        from extensions.evals.exam import EXAM_FILE, read_exam
        from graph.teams.team_loader import list_team_problems, load_team

        if not (folder / EXAM_FILE).exists():
            return []
        is_valid = not list_team_problems(folder, settings)
        workers = [each.name for each in load_team(folder, settings).workers] if is_valid else ()
        replays = find_first(lambda each: each.open_replays())
        return map(str, read_exam(folder, workers, replays)[1])

    def open_exams(self) -> "ExamPages":
        """Return the exams, as a page shows them."""
        from extensions.evals.kept_exams import ExamPages

        return ExamPages()

    def count_parts(self, folder: Path) -> Iterable[str]:
        """Return how many rows the exam has."""
        from extensions.evals.exam import EXAM_FILE, read_exam
        from nodes.text.counts import format_count

        if not (folder / EXAM_FILE).exists():
            return ["no exam"]
        return [f"{format_count(len(read_exam(folder)[0]), 'row')} in its exam"]


EXTENSION = _Exams()
