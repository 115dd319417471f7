"""Plans a request without running it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from graph.otel import start_otel
from graph.runs.event_log import EventListener, EventLog
from graph.runs.materials import build_input
from graph.runs.run_store import open_readable_store
from graph.settings import Settings, read_settings
from graph.stores.thread_locks import make_thread_id
from graph.supervisor import build_supervisor
from graph.teams.default_team import DEFAULT_TEAM
from graph.topology.input_validation import read_context
from nodes.errors import RequestInvalid, require_type
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, CertificateListener, RunScope, set_deadline
from nodes.schemas.team import Team
from state import Context, Estimate, Plan


async def aplan(
    request: str,
    *,
    team: str | Path | Team = DEFAULT_TEAM,
    files: str | Path | Sequence[str | Path] = (),
    materials: Mapping[str, str] | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
) -> Plan:
    """Return the plan of a request; nothing is run or saved.

    Raises:
        UsageError: the request, the team, a file or a setting cannot be used, or the request is
            small talk, which has no plan.
        PlanInvalid: no valid plan within the allowed repairs.
        ModelError: the planner cannot be reached.
    """
    options: dict[str, Any] = {"files": files, "materials": materials, "settings": settings}
    options |= {"context": context, "on_event": on_event}
    return (await aplan_with_estimate(request, team=team, **options))[0]


async def aplan_with_estimate(
    request: str,
    *,
    team: str | Path | Team = DEFAULT_TEAM,
    files: str | Path | Sequence[str | Path] = (),
    materials: Mapping[str, str] | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    plan: Plan | None = None,
    on_certificate: CertificateListener | None = None,
) -> tuple[Plan, Estimate]:
    """Return the plan of a request as `aplan` does, with the expected cost of its run.

    Args:
        plan: is checked instead of one that the planner makes.
        on_certificate: as of `arun`.
    """
    context, begun = replace(read_context(context), speculate=False), now_s()
    settings = read_settings(settings)
    plan = require_type("plan", plan, Plan)
    await asyncio.to_thread(start_otel, settings)
    given = await build_input(request, files, materials, context, on_event)
    async with open_readable_store(settings) as store:  # for the estimate
        saver = InMemorySaver()
        graph = build_supervisor(team, settings=settings, checkpointer=saver, store=store)
        deadline = set_deadline(begun, graph.team.add_caps(context).deadline_s)
        scope = RunScope(
            deadline=deadline,
            given_plan=plan,
            on_certificate=on_certificate,
            keep_event=EventLog(None, on_event).record_event,
        )
        config: RunnableConfig = {"configurable": {"thread_id": make_thread_id(), SCOPE_KEY: scope}}
        state = await graph.ainvoke(
            given,
            config,
            context=context,
            interrupt_after=["supervisor"],
            output_keys=["plan", "estimate"],
        )
    if state["plan"] is None:
        raise RequestInvalid(
            "the request asks for no work, so there is no plan",
            next="write what the team should do",
        )
    return cast(Plan, state["plan"]), cast(Estimate, state["estimate"])
