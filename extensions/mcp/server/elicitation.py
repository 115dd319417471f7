"""Questions of a run, asked through the client's own form."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError

from extensions.mcp.server.caller import Caller
from extensions.mcp.server.result import Question, format_question_text

MAX_WAIT_S: Final = 600.0
"""For a user's reply; after it the call returns, and the question stays open."""
_DECISION_FORM: Final[dict[str, Any]] = {
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


async def ask_user(caller: Caller, questions: Sequence[Question]) -> str | None:
    """Return the user's reply to the first question as `aresume` takes it; None without one."""
    question = questions[0]
    is_decision = question.get("kind") in ("plan", "tool_call")
    try:
        with anyio.fail_after(MAX_WAIT_S):
            said = await caller.session.elicit_form(
                format_question_text(question),
                _DECISION_FORM if is_decision else _ANSWER_FORM,
                related_request_id=caller.request_id,
            )
    except (TimeoutError, McpError):  # also a client that cannot show this form after all
        return None
    if said.action == "decline" and question.get("kind") == "tool_call":
        # Left open, the calling model could approve what its user has just refused.
        return json.dumps({question["id"]: "reject: the user declined it"})
    content = (said.content if said.action == "accept" else None) or {}
    reply = _read_decision(content) if is_decision else str(content.get("answer") or "").strip()
    # A reply to the only plan is no object by task, since an edited plan is an object.
    is_bare = not reply or (len(questions) == 1 and question.get("kind") == "plan")
    return (reply or None) if is_bare else json.dumps({question["id"]: reply})


def _read_decision(content: Mapping[str, Any]) -> str:
    """Return a decision in words; empty where the form has none."""
    if content.get("decision") == "accept":
        return "accept"
    reason = str(content.get("reason") or "").strip() or "the user does not want this"
    return f"reject: {reason}" if content.get("decision") == "reject" else ""
