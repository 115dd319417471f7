"""Replies as clients send them, read off their sources or recorded on the wire."""

import json
from typing import Any, Final

from nodes.human.reply import DecisionKind
from tests.node_samples import make_plan, make_task

EDITED: Final = make_plan(make_task("C", "writer")).model_dump(mode="json")
_ARGS: Final = {"goal": EDITED["goal"], "tasks": EDITED["tasks"]}
_TYPED: Final = {"goal": EDITED["goal"], "tasks": json.dumps(EDITED["tasks"])}
"""What a form with a text field for each argument makes of the arguments."""
_INBOX_EDIT: Final = {"action": "run_plan", "args": _TYPED}

PLAN_REPLIES: Final[dict[str, tuple[Any, DecisionKind]]] = {
    "agent-chat-ui approve": ({"decisions": [{"type": "approve"}]}, "approve"),
    "agent-chat-ui edit": (
        {"decisions": [{"type": "edit", "edited_action": {"name": "run_plan", "args": _TYPED}}]},
        "edit",
    ),
    "agent-chat-ui reject": (
        {"decisions": [{"type": "reject", "message": "leave out shop B"}]},
        "reject",
    ),
    "create-agent-chat-app accept": (
        [{"type": "accept", "args": {"action": "run_plan", "args": _ARGS}}],
        "approve",
    ),
    "create-agent-chat-app edit": ([{"type": "edit", "args": _INBOX_EDIT}], "edit"),
    "create-agent-chat-app response": (
        [{"type": "response", "args": "leave out shop B"}],
        "reject",
    ),
    "create-agent-chat-app ignore": ([{"type": "ignore", "args": None}], "reject"),
    "Agent Inbox accept": ({"decisions": [{"type": "approve", "args": _INBOX_EDIT}]}, "approve"),
    "Agent Inbox edit": ({"decisions": [{"type": "edit", "args": _INBOX_EDIT}]}, "edit"),
    "Agent Inbox response": (
        {"decisions": [{"type": "reject", "args": "leave out shop B"}]},
        "reject",
    ),
    "Agent Inbox ignore": ({"decisions": [{"type": "ignore", "args": None}]}, "reject"),
    "Agent Inbox single object": ({"type": "accept", "args": None}, "approve"),
    "deep-agents-ui approve": ({"decisions": [{"type": "approve"}]}, "approve"),
    "deep-agents-ui edit": (
        {"decisions": [{"type": "edit", "edited_action": {"name": "run_plan", "args": _ARGS}}]},
        "edit",
    ),
    "deep-agents-ui reject without a reason": ({"decisions": [{"type": "reject"}]}, "reject"),
    "LangChain per call": ({"type": "approve"}, "approve"),
    "LangChain per call edit": (
        {"type": "edit", "edited_action": {"name": "run_plan", "args": _ARGS}},
        "edit",
    ),
    "bare list": ([{"type": "approve"}], "approve"),
    "Studio words": ("accept", "approve"),
    "Studio objection": ("reject: leave out shop B", "reject"),
    "Studio JSON": (json.dumps({"decisions": [{"type": "approve"}]}), "approve"),
    "Studio plan": (json.dumps(EDITED), "edit"),
    "Studio quoted word": ('"approve"', "approve"),
    "A2A text": ("Looks good, go ahead!", "approve"),
    "A2A data": ({"accept": True}, "approve"),
    "form with all fields": ({"accept": True, "plan": None, "reject": ""}, "approve"),
    "form with a plan as text": ({"plan": json.dumps(EDITED), "reject": ""}, "edit"),
}
"""By client: what it sends about a plan, and what it decides."""
