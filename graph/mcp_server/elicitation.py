"""Questions of a run, asked through the client's own form."""

import json
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError

from graph.mcp_server.caller import Caller
from graph.mcp_server.result import format_question_text, name_question
from graph.runs.questions import Question

MAX_WAIT_S: Final = 600.0
"""For a user's reply; after it the call returns, and the question stays open."""
_PLAN_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": ["accept", "reject"]},
        "reason": {"type": "string", "title": "Why it is rejected"},
    },
    "required": ["decision"],
}
_ANSWER_FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer"}},
    "required": ["answer"],
}


def can_ask(session: ServerSession) -> bool:
    """Return whether a client can show a form to its user."""
    return session.check_client_capability(
        types.ClientCapabilities(elicitation=types.ElicitationCapability())
    )


async def ask_user(caller: Caller, question: Question) -> str | None:
    """Return the user's reply as `aresume` takes it; None if the user gives none."""
    is_plan = question.get("kind") == "plan"
    try:
        with anyio.fail_after(MAX_WAIT_S):
            said = await caller.session.elicit_form(
                format_question_text(question),
                _PLAN_FORM if is_plan else _ANSWER_FORM,
                related_request_id=caller.request_id,
            )
    except (TimeoutError, McpError):  # also a client that cannot show this form after all
        return None
    if said.action != "accept":
        return None
    content = said.content or {}
    return _read_decision(content) if is_plan else _read_answer(question, content)


def _read_decision(content: dict[str, Any]) -> str | None:
    if content.get("decision") == "accept":
        return "accept"
    reason = str(content.get("reason") or "").strip() or "the user does not want this plan"
    return f"reject: {reason}" if content.get("decision") == "reject" else None


def _read_answer(question: Question, content: dict[str, Any]) -> str | None:
    answer = str(content.get("answer") or "").strip()
    return json.dumps({name_question(question): answer}) if answer else None
