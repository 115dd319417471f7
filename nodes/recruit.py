"""The step that recruits a specialist for a task that fits no worker of the team."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError, UsageError
from nodes.execution.dispatch import Dispatch
from nodes.limits.recorder import take_fact
from nodes.limits.run_scope import enforce_stop
from nodes.limits.stop_requests import STOPPED, TaskStopped
from nodes.models.catalog import ModelCatalog
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_recruit_messages
from nodes.schemas.handoff import RecruitValues, lay_beside
from nodes.schemas.team import SPECIALIST, Team
from nodes.telemetry.events import emit
from state import Context, Expense, Recruit, Usage, WorkerState, enter_expenses

DescribeTools = Callable[[tuple[str, ...]], Awaitable[Mapping[str, str]]]
"""Returns the descriptions of tools, by name."""


async def recruit(
    state: WorkerState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    describe_tools: DescribeTools,
    dispatch: Dispatch,
) -> WorkerState:
    """Return the specialist that a model defines; it gets only granted tools.

    If no model defines one, it gets all granted tools and a plain instruction.
    """
    task, team = state["task"], team.apply_context(runtime.context)
    granted = await take_fact("granted tools", partial(describe_tools, team.grant))
    description = state.get("description", task.description)
    made = Recruit(role="assistant", instructions="Do the task with your tools.", tools=team.grant)
    remark, usage, messages = "", Usage(), build_recruit_messages(task, description, granted)
    try:
        async with enforce_stop(config, task.id):
            with lay_beside(RecruitValues(description, granted)):
                model = models.get_chat_model(team.recruit_tier, runtime.context)
                reply = await ask_model(model, Recruit, messages)
        made, usage = reply.value, reply.usage
    except TaskStopped:  # the next step ends it
        remark = STOPPED
    except UnreadableReply as error:
        usage, remark = error.usage, f"the reply contains no readable specialist: {error}"
    except (ModelError, UsageError) as error:
        remark = f"no specialist could be defined: {error}"
    refused = [name for name in made.tools if name not in granted]
    tools = [name for name in dict.fromkeys(made.tools) if name in granted]
    made = made.model_copy(update={"tools": tuple(tools)})
    shown = {"role": made.role, "instructions": made.instructions, "tools": tools}
    await emit(
        "recruited", task=task.id, worker=SPECIALIST, **shown, refused=refused, remark=remark
    )
    tier = team.recruit_tier
    spent = Expense(worker="supervisor", tier=tier, usage=usage, purpose="recruit", task=task.id)
    return {"recruit": made, "ledger": enter_expenses(spent)}


def after_recruit(state: WorkerState) -> Literal["await_inputs", "act"]:
    """Return the next step: a task that was reassigned already has its inputs."""
    return "act" if "inputs" in state else "await_inputs"
