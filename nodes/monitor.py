"""The monitor: reads reports while other tasks work, and changes the plan when it must change."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.execution.dispatch import Dispatch
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.deadline import is_deadline_past, should_degrade
from nodes.limits.recorder import pass_point
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.planning.plan_review import (
    MAX_SURPRISE_CHECKS,
    REVIEW_TIER,
    check_surprise,
    describe_surprise,
    review_plan,
)
from nodes.planning.replanning import list_unfinished
from nodes.planning.revision import may_revise
from nodes.schemas.team import Team
from state import (
    Context,
    Expense,
    Purpose,
    Report,
    SupervisorState,
    Task,
    Usage,
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

    After one, no waiting task starts until a model has judged whether they still make sense, or
    whether a report that does not say so found what was expected. If the plan must change and other
    tasks are at work, it is revised at once, and the new tasks begin beside them. With none at
    work the superstep ends, and the supervisor revises.
    """
    dispatch = await dispatches.join_from_node(runtime, config, steps_left=state["steps_left"])
    if dispatch.saved_version > require_plan(state).version:  # its graph continues after a crash
        dispatch.may_start.set()
        return await run_revision(state, config)
    watcher = _Watcher(state, config, runtime.context, team, models, dispatch)
    await pass_point("watch")
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
        await pass_point("revise")
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
        self._tasks = {task.id: task for task in self._plan.tasks}
        self._dependants: dict[str, list[Task]] = {}
        for task in self._plan.tasks:
            for edge in task.depends_on:
                self._dependants.setdefault(edge.task, []).append(task)
        self._kept = list[str]()
        self._may_judge = models.identify(REVIEW_TIER, context)[1] != EMBEDDED
        ledger = state.get("ledger", {}).values()
        asked = Counter(each.purpose for each in ledger if not each.reopenings)
        self._checks, self._reviews = asked["surprise check"], asked["plan review"]
        self.update: SupervisorState = {}

    def list_open_tasks(self) -> Collection[str]:
        """Return the tasks of the superstep: those of the plan without a report when it began."""
        if self._context.sequential:
            return self._state["todo"]
        return list_unfinished(self._plan, self._state.get("results", {}))

    def is_unexpected(self, report: Report) -> bool:
        """Return whether a report may change what waits, while the plan may still change."""
        why = self._describe(report)
        if not (why or self._may_check(report)) or not self._list_waiting():
            return False
        if not self._may_judge:
            return report.found_as_expected is False and bool(why) and self._may_revise()
        return self._reviews < self._team.max_plan_reviews and self._may_revise()

    def list_unread(self) -> list[Report]:
        """Return reports that are not as planned and came before the watch, such as saved ones."""
        answered = self._state.get("answered_objections", ())
        found = self._dispatch.list_reports().values()
        return [each for each in found if each.task not in answered and self.is_unexpected(each)]

    async def must_revise(self, reports: Sequence[Report]) -> bool:
        """Return whether the plan must change: one call judges all reports together.

        Where only the built-in model could judge, what was not found is enough.
        """
        described = [(report, self._describe(report)) for report in reports]
        checked = await self._check([report for report, why in described if not why])
        surprises = [each for each in (*described, *checked) if each[1]]
        if not surprises:
            self._kept += [report.task for report in reports]
            return False
        if not self._may_judge:
            self._enter_doubts({report.task: why for report, why in surprises})
            return True
        review, usage = await review_plan(
            self._models.get_chat_model(REVIEW_TIER, self._context),
            self._state["request"],
            self._plan,
            surprises,
            self._list_waiting(),
        )
        self._reviews += 1
        self._bill("plan review", usage, self._reviews)
        if review.makes_sense:
            self._kept += [report.task for report in reports]
        else:
            self._enter_doubts({report.task: review.reason or why for report, why in surprises})
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

    async def _check(self, reports: Sequence[Report]) -> list[tuple[Report, str]]:
        """Return the reports that do not say what they found, and why each is a surprise."""
        asked = reports[: MAX_SURPRISE_CHECKS - self._checks]
        model = self._models.get_chat_model(REVIEW_TIER, self._context)
        replies = await asyncio.gather(
            *(
                check_surprise(model, self._tasks[each.task], each, self._list_dependants(each))
                for each in asked
            )
        )
        for _, usage in replies:
            self._checks += 1
            self._bill("surprise check", usage, self._checks)
        return [(report, why) for report, (why, _) in zip(asked, replies, strict=True)]

    def _may_check(self, report: Report) -> bool:
        if report.status != "completed" or report.found_as_expected is not None:
            return False
        return self._checks < MAX_SURPRISE_CHECKS and bool(self._list_dependants(report))

    def _bill(self, purpose: Purpose, usage: Usage, number: int) -> None:
        spent = Expense(
            worker="supervisor", tier=REVIEW_TIER, usage=usage, purpose=purpose, attempt=number
        )
        self.update["ledger"] = {**self.update.get("ledger", {}), **enter_expenses(spent)}

    def _enter_doubts(self, found: Mapping[str, str]) -> None:
        self.update["doubts"] = {**self._state.get("doubts", {}), **found}

    def _describe(self, report: Report) -> str:
        return describe_surprise(report, min_confidence=self._team.min_confidence)

    def _list_dependants(self, report: Report) -> list[Task]:
        """Return the waiting tasks that depend on a report."""
        return [task for task in self._dependants.get(report.task, ()) if self._is_waiting(task)]

    def _list_waiting(self) -> list[Task]:
        return [task for task in self._plan.tasks if self._is_waiting(task)]

    def _is_waiting(self, task: Task) -> bool:
        has_begun = task.id in self._dispatch.started or self._dispatch.is_settled(task.id)
        return not has_begun and task.id not in self._state.get("results", {})

    def _may_revise(self) -> bool:
        is_late = is_deadline_past(self._config) or should_degrade(self._config)
        return not is_late and may_revise(self._state, self._team)
