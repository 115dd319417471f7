"""The monitor: reads reports while other tasks work, and changes the plan when it must change."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch import Dispatch
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.deadline import is_deadline_past
from nodes.limits.degradation import should_degrade
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.planning.plan_review import REVIEW_TIER, review_plan
from nodes.planning.replanning import list_unfinished
from nodes.planning.revision import may_revise
from nodes.planning.unexpected import describe_surprise
from nodes.schemas.team import Team
from state import (
    Context,
    Expense,
    Report,
    SupervisorState,
    Task,
    enter_expenses,
    require_plan,
)

RunRevision = Callable[[SupervisorState, RunnableConfig], Awaitable[SupervisorState]]
"""Revises the plan beside the tasks that are at work, and does the new tasks; in a graph."""


async def monitor(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    dispatches: DispatchRegistry,
    run_revision: RunRevision,
) -> SupervisorState:
    """Wait for reports that are not as planned, until all tasks of the superstep have ended.

    After one, no waiting task starts until a model has judged whether they still make sense; a
    report that says itself that they do not needs no judge. If the plan must change and other
    tasks are at work, it is revised at once, and the new tasks begin beside them. With none at
    work the superstep ends, and the supervisor revises.
    """
    dispatch = await dispatches.join_from_node(runtime, config, steps_left=state["steps_left"])
    if dispatch.saved_version > require_plan(state).version:  # its graph continues after a crash
        dispatch.may_start.set()
        return await run_revision(state, config)
    watcher = _Watcher(state, config, runtime.context, team, models, dispatch)
    watch = dispatch.open_watch(watcher.list_open_tasks(), watcher.is_unexpected)
    try:
        unread = watcher.list_unread()
        while True:
            if unread:
                dispatch.may_start.clear()
                if await watcher.must_revise(unread):
                    break
            if not watch.has_unread:
                dispatch.may_start.set()
            unread = await watch.wait()
            if not unread:
                return watcher.update
        if not dispatch.list_running():
            dispatch.stop()
            return watcher.update
        return await run_revision(watcher.build_revision_input(), config)
    finally:
        dispatch.close_watch()


class _Watcher:
    """Decides which reports are not as planned, and whether they change the plan."""

    def __init__(
        self,
        state: SupervisorState,
        config: RunnableConfig,
        context: Context,
        team: Team,
        models: ModelCatalog,
        dispatch: Dispatch,
    ) -> None:
        self._state, self._config, self._context = state, config, context
        self._team, self._models, self._dispatch = team, models, dispatch
        self._plan = require_plan(state)
        self._dependants: dict[str, list[Task]] = {}
        for task in self._plan.tasks:
            for edge in task.depends_on:
                self._dependants.setdefault(edge.task, []).append(task)
        self._kept = list[str]()
        self.update: SupervisorState = {}

    def list_open_tasks(self) -> Collection[str]:
        """Return the tasks of the superstep: those of the plan without a report when it began."""
        if self._context.sequential:
            return self._state["todo"]
        return list_unfinished(self._plan, self._state.get("results", {}))

    def is_unexpected(self, report: Report) -> bool:
        """Return whether a report may change what waits, while the plan may still change."""
        if not self._describe(report) or not self._list_waiting() or not self._may_revise():
            return False
        return bool(report.invalidates) or self._may_review()

    def list_unread(self) -> list[Report]:
        """Return reports that are not as planned and came before the watch, such as saved ones."""
        answered = self._state.get("answered_objections", ())
        found = self._dispatch.list_reports().values()
        return [each for each in found if each.task not in answered and self.is_unexpected(each)]

    async def must_revise(self, reports: Sequence[Report]) -> bool:
        """Return whether the plan must change.

        A report that says so needs no judge; one call judges the others together.
        """
        if any(report.invalidates for report in reports):
            return True
        number = self._count_reviews() + 1
        surprises = [(report, self._describe(report)) for report in reports]
        review, usage = await review_plan(
            self._models.get_chat_model(REVIEW_TIER, self._context),
            self._state["request"],
            self._plan,
            surprises,
            self._list_waiting(),
        )
        spent = Expense(
            worker="supervisor",
            tier=REVIEW_TIER,
            usage=usage,
            purpose="plan review",
            attempt=number,
        )
        self.update["plan_reviews"] = number
        self.update["ledger"] = {**self.update.get("ledger", {}), **enter_expenses(spent)}
        if review.makes_sense:
            self._kept += [report.task for report in reports]
        else:
            found = {report.task: review.reason or why for report, why in surprises}
            self.update["doubts"] = {**self._state.get("doubts", {}), **found}
        return not review.makes_sense

    def build_revision_input(self) -> SupervisorState:
        """Return the state from which the plan is revised: with the reports that have come."""
        state, update = self._state, self.update
        return {
            **state,
            **update,
            "ledger": {**state.get("ledger", {}), **update.get("ledger", {})},
            "results": {**state.get("results", {}), **self._dispatch.list_reports()},
            "answered_objections": (*state.get("answered_objections", ()), *self._kept),
            "todo": (),
        }

    def _describe(self, report: Report) -> str:
        dependants = self._dependants.get(report.task, ())
        waiting = [task for task in dependants if self._is_waiting(task)]
        return describe_surprise(report, waiting, min_confidence=self._team.min_confidence)

    def _list_waiting(self) -> list[Task]:
        return [task for task in self._plan.tasks if self._is_waiting(task)]

    def _is_waiting(self, task: Task) -> bool:
        has_begun = task.id in self._dispatch.started or self._dispatch.is_settled(task.id)
        return not has_begun and task.id not in self._state.get("results", {})

    def _may_revise(self) -> bool:
        is_late = is_deadline_past(self._config) or should_degrade(self._config)
        return not is_late and may_revise(self._state, self._team)

    def _may_review(self) -> bool:
        """Return whether a language model may judge; the built-in one cannot."""
        if self._count_reviews() >= self._team.max_plan_reviews:
            return False
        return self._models.identify(REVIEW_TIER, self._context)[1] != EMBEDDED

    def _count_reviews(self) -> int:
        return self.update.get("plan_reviews", self._state.get("plan_reviews", 0))
