"""The first model call of a task, built as its worker will build it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from nodes.execution.attempt import WorkerAgents
from nodes.execution.doer import Work
from nodes.execution.worker_agent import AgentDoer
from nodes.limits.deadline import count_steps_left
from nodes.limits.recorder import enter_effect, read_outside
from nodes.limits.run_scope import get_run_scope
from nodes.models.catalog import EMBEDDED, ModelCatalog
from nodes.models.guarded_model import GuardedModel, apply_parameters
from nodes.models.reply_stream import build_input_key
from nodes.models.run_context import listen_to_reply
from nodes.planning.assignments import build_sends
from nodes.planning.certificates import may_ask
from nodes.planning.speculation import BeginTask, SpeculativeCall, get_speculative_calls
from nodes.schemas.servers import split_tool_name
from nodes.schemas.team import SPECIALIST, Team
from nodes.telemetry.tracing import trace_step
from state import Context, Plan, SupervisorState, Task, WorkerState


@dataclass(frozen=True)
class FirstCalls:
    """Begins the first model calls of a team's tasks while its plan is being written."""

    models: ModelCatalog
    agents: WorkerAgents
    is_enabled: bool
    """As the settings say; a run's context may say otherwise."""

    def prepare(
        self, state: SupervisorState, config: RunnableConfig, context: Context, team: Team
    ) -> BeginTask | None:
        """Return what begins the call of a task; None where none may begin early."""
        calls = get_speculative_calls(config)
        budget, steps_left = get_run_scope(config).budget, count_steps_left({}, context, team)
        if calls is None or not self._may_begin(context, team):
            return None

        def begin(task: Task) -> None:
            worker = team.find_worker(task.worker)
            if worker.team or worker.remote or worker.name == SPECIALIST or task.is_compound:
                return
            if any(map(split_tool_name, worker.tools)):  # no server starts before the plan is valid
                return
            if calls.open_calls >= steps_left:
                return
            # With what the planner's own call may spend.
            if read_outside("is low", lambda: bool(budget and budget.is_low()), usual=False):
                return
            calls.begin(task, lambda call: self._begin(call, state, config, context, team))

        return begin

    def _may_begin(self, context: Context, team: Team) -> bool:
        is_on = self.is_enabled if context.speculate is None else context.speculate
        planner = self.models.get_chat_model(team.planner_tier, context)
        return (
            is_on
            and team.strategy == "plan"
            and not (context.sequential or context.certificate or may_ask(team, context))
            # On a slow machine, or with one call at a time, they take time from the planner.
            and isinstance(planner, GuardedModel)
            and planner.model != EMBEDDED
            and read_outside("is fast", lambda: planner.speed.limit_factor <= 1, usual=True)
            and planner.calls_at_once > 1
        )

    async def _begin(self, call: SpeculativeCall, *how: Any) -> AIMessage:
        """Ask outside of the planner's call, whose reply is listened to, and kept as one."""
        with listen_to_reply(None), enter_effect(0):
            return await self._ask(call, *how)

    async def _ask(
        self,
        call: SpeculativeCall,
        state: SupervisorState,
        config: RunnableConfig,
        context: Context,
        team: Team,
    ) -> AIMessage:
        """Ask the worker's model what the worker will ask it first."""
        task, worker = call.task, team.find_worker(call.task.worker)
        call.tier = worker.choose_tier(task.tier)
        model = apply_parameters(self.models.get_chat_model(call.tier, context), worker.parameters)
        work = Work(
            state=_build_worker_state(state, task),
            context=context,
            worker=worker,
            tier=call.tier,
            model=model,
        )
        doer = AgentDoer(work=work, get_agent=partial(self.agents.get_agent, worker.name))
        agent, message = await doer.prepare()
        bound, messages = agent.build_first_request(message, doer.context)
        kwargs: dict[str, Any] = dict(bound.kwargs)
        call.reply.key = build_input_key(getattr(model, "model", ""), messages, kwargs)
        if isinstance(model, GuardedModel):
            call.prompt_usage = model.estimate_prompt_usage(messages, kwargs)
        await call.emit_outcome("begun")
        metadata = {"task": task.id, "worker": worker.name}
        async with trace_step(f"speculated: {task.id}", {}, metadata):
            return await bound.ainvoke(messages)


def _build_worker_state(state: SupervisorState, task: Task) -> WorkerState:
    """Return the state in which the worker will find the task if the plan holds it."""
    planned: SupervisorState = {
        **state,
        "plan": Plan(goal="One task.", tasks=(task,)),
        "results": {},
        "max_attempts": 1,
        "steps_left": 1,
    }
    (send,) = build_sends(planned, [task.id])
    begun: WorkerState = {"inputs": {}, "description": task.description, "attempts": {}}
    begun.update(send.arg)
    begun["materials"] = {name: state["materials"][name] for name in task.materials}
    return begun
