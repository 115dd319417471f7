"""Reads the tasks of a plan while a model still writes it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic_core import from_json

from nodes.planning.corrections import correct_plan
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team
from state import Plan, Task

MAX_READ_TASKS: Final = 64
"""Only so many tasks of a plan are read before it is complete."""
BeginTask = Callable[[Task], None]
"""Begins what can be begun of a task before the plan is complete."""


class PlanStream:
    """Passes on each task that is complete, valid and free of dependencies, as soon as it is read.

    What it passes on is a guess: the plan may still end otherwise, or be refused.
    """

    def __init__(self, team: Team, materials: Mapping[str, str], begin: BeginTask) -> None:
        self._team, self._materials, self._begin = team, materials, begin
        self._seen = 0

    def read_text(self, text: str) -> None:
        """Read the reply so far; the last task is complete once something follows the tasks."""
        if self._seen >= MAX_READ_TASKS:
            return
        try:
            value = from_json(text[max(0, text.find("{")) :], allow_partial=True)
        except ValueError:
            return
        tasks = value.get("tasks") if isinstance(value, dict) else None
        if not isinstance(tasks, list):
            return
        is_complete = [*value][-1] != "tasks"
        complete = tasks if is_complete else tasks[:-1]
        for fields in complete[self._seen : MAX_READ_TASKS]:
            self._seen += 1
            if (task := self._read_task(fields)) is not None:
                self._begin(task)

    def _read_task(self, fields: Any) -> Task | None:
        """Return a task that can begin as it is; None for any other."""
        if not isinstance(fields, dict) or fields.get("depends_on"):
            return None
        alone = {"goal": "One task.", "tasks": [fields]}
        try:
            corrected, _ = correct_plan(alone, self._team, self._materials)
            plan = Plan.model_validate(corrected)
        except (ValueError, TypeError, KeyError):
            return None
        problems = list_plan_problems(plan, self._team, max_tasks=1, materials=self._materials)
        if problems or list_vague_tasks(plan.tasks):
            return None
        return plan.tasks[0]
