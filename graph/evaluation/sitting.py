"""A team sitting its exam: each row planned or run, then graded."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Final

from langsmith import tracing_context
from langsmith.schemas import Example, Run

from graph.evaluation.exam import Exam
from graph.evaluation.grades import GradedRow
from graph.evaluation.judge import Judge
from graph.evaluation.metrics import measured
from graph.evaluation.rows import Row
from graph.evaluation.trial import Tally, Trial
from graph.materials import read_materials
from graph.runner import aplan, arun
from graph.settings import Settings
from nodes.errors import (
    FileUnreadable,
    ModelError,
    PlanInvalid,
    QuotaSpent,
    RequestInvalid,
    SupervisorError,
    Unauthorized,
)
from state import Team

OF_ONE_ROW: Final = (FileUnreadable, RequestInvalid, PlanInvalid, ModelError)
"""Errors that are a row's own end; any other is the end of the exam."""
OF_ALL_ROWS: Final = (Unauthorized, QuotaSpent)
"""Errors of the model that every further row would meet."""

STOPPING_S: Final = 1.0

Listener = Callable[[GradedRow], None]


class Sitting:
    """Tries and grades rows; LangSmith calls `attempt` and `grade` for each."""

    def __init__(
        self,
        team: Team,
        exam: Exam,
        settings: Settings,
        judge: Judge,
        on_row: Listener | None = None,
    ) -> None:
        self._team, self._exam, self._settings = team, exam, settings
        self._judge, self._on_row = judge, on_row
        self._rows = {row.id: row for row in exam.rows}
        self._trials: dict[str, Trial] = {}
        self._working: set[asyncio.Task[Any]] = set()
        self.graded: dict[str, GradedRow] = {}
        self._ended_by: Exception | None = None
        """What made it pointless to go on."""

    async def attempt(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Plan or run a row, and give what its trace keeps; an error is part of that."""
        row, task = self._rows[inputs["id"]], asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._working.add(task)
        traced = self._settings.langsmith_tracing
        try:
            with nullcontext() if traced else tracing_context(enabled=False):
                trial = self._trials[row.id] = await self._tried(row)
        except Exception as error:  # a mistake of ours, of which LangSmith would only log a line
            self._ended_by = error
            raise
        finally:
            self._working.discard(task)
        return trial.to_json()

    async def grade(self, run: Run, example: Example) -> dict[str, Any]:
        """Score a row that was tried."""
        row = self._rows[(example.inputs or {})["id"]]
        trial = self._trials[row.id]
        scores = await asyncio.to_thread(measured, row, trial, self._team.strategy)
        if row.expect.judged and (judged := await self._judge.score(row, trial)):
            scores["judged"] = judged
        graded = self.graded[row.id] = GradedRow(row, trial, scores)
        if self._on_row and self._ended_by is None:
            self._on_row(graded)
        told = [
            {"key": name, "score": score.value, "comment": score.remark or None}
            for name, score in scores.items()
        ]
        return {"results": told}

    async def stop(self) -> None:
        """Cancel the rows at work; LangSmith would let them go on without a reader."""
        working = set(self._working)
        for task in working:
            task.cancel()
        if working:
            await asyncio.wait(working, timeout=STOPPING_S)

    def problem(self) -> Exception | None:
        """Give what ended the exam: a thing all rows would meet, or no model in any of them."""
        if self._ended_by:
            return self._ended_by
        errors = [trial.error for trial in self._trials.values()]
        is_lost = bool(errors) and all(isinstance(error, ModelError) for error in errors)
        return errors[0] if is_lost else None

    async def _tried(self, row: Row) -> Trial:
        if isinstance(self._ended_by, SupervisorError):
            return Trial(error=self._ended_by)
        spent, began_s = Tally(), time.perf_counter()
        materials: Mapping[str, str] = {}
        try:
            files = self._exam.files(row)
            materials = await read_materials(files) if files else {}
            trial = await self._planned_or_run(row, materials, spent)
        except SupervisorError as error:
            trial = Trial(error=error, materials=materials, spent=spent)
        spent.seconds = time.perf_counter() - began_s
        if trial.error and _ends_all(trial.error):
            self._ended_by = self._ended_by or trial.error
        return trial

    async def _planned_or_run(self, row: Row, materials: Mapping[str, str], spent: Tally) -> Trial:
        given: dict[str, Any] = {
            "team": self._team,
            "materials": materials,
            "settings": self._settings,
            "on_event": spent.hear,
        }
        if row.expect.is_of_a_plan:
            plan = await aplan(row.request, **given)
            return Trial(plan=plan, materials=materials, spent=spent)
        outcome = await arun(row.request, **given)
        if outcome.error:
            _disown(outcome.error, outcome.thread)
        return Trial(
            plan=outcome.plan,
            outcome=outcome,
            error=outcome.error,
            materials=materials,
            spent=spent,
        )


def _disown(error: SupervisorError, thread: str) -> None:
    """Take back that a run can be resumed: those of an exam are not kept."""
    error.kept = "nothing of the exam"
    if error.next.endswith(thread):
        error.next = "supervise doctor"


def _ends_all(error: SupervisorError) -> bool:
    return not isinstance(error, OF_ONE_ROW) or isinstance(error, OF_ALL_ROWS)
