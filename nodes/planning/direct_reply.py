"""The reply to a message that asks for no work: what the team does, or what it still needs."""

from collections.abc import Mapping, Sequence
from typing import Final

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from nodes.limits.clock import get_elapsed_s
from nodes.limits.run_scope import get_run_scope
from nodes.planning.request import (
    find_request_text,
    is_last_message,
    list_read_attachments,
    list_unread_attachments,
)
from nodes.planning.small_talk import recognize_small_talk
from nodes.planning.team_record import build_team_record
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team
from nodes.security.provenance import build_request_origin
from nodes.telemetry.events import build_task_path, emit
from nodes.text.plain_text import format_as_code
from state import Answer, Estimate, SupervisorState, Tier, reset_for_new_request

THANKS_REPLY: Final = "You are welcome."
MAX_EXAMPLE_CHARS: Final = 400


def find_direct_reply(state: SupervisorState, config: RunnableConfig, team: Team) -> str | None:
    """Return the reply to a message that asks for no work; None for a request.

    The request of a team that does a task, and one that comes with a plan, is never small talk.
    """
    if build_task_path(config) or get_run_scope(config).given_plan is not None:
        return None
    request = find_request_text(state)
    read, unread = list_read_attachments(state), list_unread_attachments(state)
    if not request and (read or unread):
        return _ask_what_to_do(read, unread)
    kind = recognize_small_talk(request)
    if kind is None:
        return None
    reply = THANKS_REPLY if kind == "thanks" else _introduce_team(team)
    return "\n\n".join([reply, _ask_what_to_do(read, unread)]) if read or unread else reply


async def begin_direct_reply(
    state: SupervisorState,
    config: RunnableConfig,
    reply: str,
    *,
    team: Team,
    models: Mapping[Tier, str],
    asked_s: float,
) -> SupervisorState:
    """Return the state of a request that has a reply and no plan; the synthesizer delivers it.

    Args:
        models: the names of the tiers' models, none of which is called.
    """
    request = find_request_text(state)
    await emit(
        "request",
        request=request,
        team=team.name,
        models=models,
        materials=list(state.get("materials", {})),
        kept_materials=[],
    )
    is_message = not request or is_last_message(state, request)
    named = request or ", ".join(list_read_attachments(state)) or "files that were not read"
    return {
        **reset_for_new_request(),
        "request": named,
        "planned_for": named,
        "given": (),
        "origin": build_request_origin(state, request, config),
        "team_record": build_team_record(team),
        "messages": [] if is_message else [HumanMessage(request)],
        "plan": None,
        "answer": Answer(text=reply, confidence=100),
        "estimate": Estimate(),
        "asked_s": asked_s,
        "planned_s": get_elapsed_s(config),
        "todo": (),
    }


def _introduce_team(team: Team) -> str:
    """Return what the team does, its workers, and a request that it was made for."""
    workers = [f"- **{worker.name}**: {worker.description}" for worker in team.workers]
    lines = [
        f"This is the team **{team.name}**. {team.description}".strip(),
        "A supervisor plans the work, and these workers do it:",
        "\n".join(workers),
    ]
    if team.examples:
        example = shorten_text(team.examples[0].request, MAX_EXAMPLE_CHARS)
        lines.append(f"An example of a request: {format_as_code(example)}")
    return "\n\n".join([*lines, "What should the team do?"])


def _ask_what_to_do(read: Sequence[str], unread: Sequence[str]) -> str:
    """Return a question about files that came without a request."""
    known = f"These files were read: {', '.join(map(format_as_code, read))}." if read else ""
    lost = "\n".join(f"- {line}" for line in unread)
    asked = "What should be done with them?" if read else "What should the team do?"
    return "\n\n".join(filter(None, [known, lost, asked]))
