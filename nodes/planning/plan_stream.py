"""Reads the tasks of a plan while a model still writes it."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final

from nodes.limits.patterns import Pattern
from nodes.models.json_reading import JSON_DECODER
from nodes.planning.corrections import correct_plan
from nodes.planning.validation import list_plan_problems, list_vague_tasks
from nodes.schemas.team import Team
from state import Plan, Task

_TASKS = Pattern(r'(?<!\\)"tasks"\s*:\s*\[')
MIN_CHARS_PER_S: Final = 40.0
"""About ten tokens a second, from the request on: a server of one's own is often slower."""
MAX_READ_TASKS: Final = 64
"""Only so many tasks of a plan are read before it is complete."""
BeginTask = Callable[[Task], None]
"""Begins what can be begun of a task before the plan is complete."""


class PlanStream:
    """Passes on each task that is complete, valid and free of dependencies, as soon as it is read.

    What it passes on is a guess: the plan may still end otherwise, or be refused. Of a reply that
    is written slowly it passes on nothing: calls that begin early would slow it down further.
    """

    def __init__(self, team: Team, materials: Mapping[str, str], begin: BeginTask) -> None:
        self._team, self._materials, self._begin = team, materials, begin
        self._began_s = monotonic()
        self._text, self._seen, self._at = "", 0, 0
        self._ids = set[str]()

    def read_text(self, text: str) -> None:
        """Read the reply so far; a reply that is written again is read from its beginning."""
        if not text.startswith(self._text):
            self._seen = self._at = 0
        self._text = text
        if not self._at and (found := _TASKS.search(text)):
            self._at = found.end()
        while self._at and self._seen < MAX_READ_TASKS:
            start = self._at + len(text[self._at :]) - len(text[self._at :].lstrip(", \t\r\n"))
            try:
                fields, self._at = JSON_DECODER.raw_decode(text, start)
            except ValueError:
                return
            self._seen += 1
            task = self._read_task(fields)
            if task is not None and task.id not in self._ids and self._is_fast():
                self._ids.add(task.id)
                self._begin(task)

    def _is_fast(self) -> bool:
        return len(self._text) >= MIN_CHARS_PER_S * (monotonic() - self._began_s)

    def _read_task(self, fields: Any) -> Task | None:
        """Return a task that can begin as it is; None for any other."""
        if not isinstance(fields, dict) or fields.get("depends_on"):
            return None
        if self._materials and not fields.get("materials"):
            return None  # whether it gets some is known when the plan is complete
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
