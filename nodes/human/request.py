"""Builds the value of an interrupt: what a human is asked, as clients can show it.

The keys are those of LangChain's HITLRequest, with our own beside them. `action_request` and
`config` are the older form that the published template of agent-chat-ui shows.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Final, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_config
from langgraph.types import interrupt

from nodes.human.reply import Decision, DecisionKind, read_decision
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_estimate
from nodes.text.plain_text import sanitize_text
from state import Estimate, Plan

RequestKind = Literal["plan", "question", "tool_call"]

MAX_UNUSABLE_REPLIES: Final = 5
"""Limit for unusable replies to one question; after the last one it counts as rejected."""
ASKED_KEY: Final = "asked_questions"
"""Key of a run's configurable: a list to which the kind of each question is added."""
MAX_DESCRIPTION_CHARS: Final = 8_000
CLIENT_KEYS: Final = (
    "action_requests",
    "review_configs",
    "description",
    "response_schema",
    "action_request",
    "config",
)
"""Keys for clients that show forms; the others hold all that a human must know."""
_ACTIVE_MARKDOWN: Final = Pattern(r"!(?=\[)|<(?=[A-Za-z/!?])")
"""Pictures and HTML: a client that renders the description must not load what a page wrote."""
_APPROVAL: Final[tuple[DecisionKind, ...]] = ("approve", "edit", "reject")
_ANSWER: Final[tuple[DecisionKind, ...]] = ("respond", "edit", "reject")


def build_plan_request(
    plan: Plan,
    problems: Sequence[str] = (),
    task: str = "",
    estimate: Estimate | None = None,
    certificate: Mapping[str, Any] | None = None,
    warning: str = "",
    hint: str = "",
) -> dict[str, Any]:
    """Build the question whether a plan may run.

    Args:
        problems: what was wrong with the last reply.
        task: the outer task of an inner team.
        estimate: of this plan.
        certificate: what the plan can at most cost and reach; its `summary` is a few lines.
        warning: what a rejection leads to, where it is not another plan.
        hint: what the reason of a rejection can change, where that is not anything.
    """
    fields = plan.model_dump(mode="json")
    more: dict[str, Any] = {"certificate": dict(certificate)} if certificate else {}
    words = [_describe_tasks(plan)]
    if estimate:
        more["estimate"] = estimate.model_dump(mode="json")
        words.append(f"**Expected:** {format_estimate(more['estimate'])}")
    words += [_join_line(line) for line in more.get("certificate", {}).get("summary", ())]
    if warning:
        more["warning"] = warning
        words.append(f"**{warning}**")
    if hint:
        more["hint"] = hint
        words.append(hint)
    return _build_request(
        "plan",
        action="run_plan",
        args={"goal": fields["goal"], "tasks": fields["tasks"]},
        description="\n\n".join(words),
        problems=problems,
        task=task,
        plan=fields,
        **more,
        reply="accept, reject: <why>, or the plan as edited",
    )


def build_question_request(
    question: str, *, task: str, worker: str, partial: str = "", asked_s: float = 0.0
) -> dict[str, Any]:
    """Build a worker's question to a human.

    Args:
        partial: what was found so far.
        asked_s: seconds from the run's start; open questions are answered in this order.
    """
    return _build_request(
        "question",
        action="answer_question",
        args={"answer": ""},
        description=question,
        task=task,
        worker=worker,
        question=question,
        partial=partial,
        asked_s=asked_s,
    )


def word_as_question(message: str) -> str:
    """Return what a worker says it lacks as a question; one that asks already is unchanged."""
    said = message.strip()
    if "?" in said:
        return said
    stop = "" if not said or said.endswith((".", "!", ":")) else "."
    return f"{said}{stop} What is missing, or what should be looked for instead?".strip()


def build_tool_request(
    tool: str,
    args: Mapping[str, Any],
    *,
    task: str,
    worker: str,
    description: str = "",
    args_schema: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Build the question whether a tool may be called with these arguments.

    Args:
        description: what the human should know; by default the tool, its worker and its task.
        args_schema: JSON Schema of the arguments.
    """
    return _build_request(
        "tool_call",
        action=tool,
        args=dict(args),
        description=description or f"{worker} wants to call {tool} for the task {task}.",
        args_schema=args_schema,
        task=task,
        worker=worker,
        tool=tool,
        call_args=dict(args),
    )


def ask(request: Mapping[str, Any]) -> Decision:
    """Interrupt the run until a human replies; return what the reply decides, perhaps unclear.

    The node runs again from its top when the reply comes.
    """
    value = dict(request)
    asked = get_config()["configurable"].get(ASKED_KEY)
    if asked is not None:
        asked.append(value["kind"])
    return read_decision(interrupt(value, response_schema=value["response_schema"]), value)


def ask_until_clear(
    request: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], Decision] = ask
) -> Decision:
    """Interrupt the run until a reply is clear, and return its decision.

    After the limit of unclear replies the question counts as rejected.
    """
    problems: list[str] = []
    for _ in range(MAX_UNUSABLE_REPLIES):
        decision = ask({**request, "problems": problems})
        if decision.kind != "unclear":
            return decision
        problems = [decision.message]
    return Decision("reject", message=problems[0])


def describe_plan(plan: Plan) -> str:
    """Return a plan as a human reads it, in Markdown: the goal, then each task with its worker."""
    return _clean(_describe_tasks(plan))


def _describe_tasks(plan: Plan) -> str:
    lines = [f"**Goal:** {_join_line(plan.goal)}", ""]
    for number, task in enumerate(plan.tasks, 1):
        needs = ", ".join(edge.task for edge in task.depends_on)
        after = f", after {needs}" if needs else ""
        lines.append(
            f"{number}. **{task.id}** ({task.worker}{after}): {_join_line(task.description)}"
        )
    if plan.untaken:
        lines += ["", f"**No worker takes:** {'; '.join(map(_join_line, plan.untaken))}"]
    return "\n".join(lines)


def _build_request(
    kind: RequestKind,
    *,
    action: str,
    args: Mapping[str, Any],
    description: str,
    args_schema: Mapping[str, Any] | None = None,
    problems: Sequence[str] = (),
    task: str = "",
    **own: Any,
) -> dict[str, Any]:
    allowed = _ANSWER if kind == "question" else _APPROVAL
    shown = _clean(description)
    return {
        "action_requests": [{"name": action, "args": dict(args), "description": shown}],
        "review_configs": [{"action_name": action, "allowed_decisions": list(allowed)}],
        "description": shown,
        "response_schema": _build_response_schema(action, allowed, args_schema),
        "action_request": {"action": action, "args": dict(args)},
        "config": {
            "allow_accept": "approve" in allowed,
            "allow_edit": "edit" in allowed,
            "allow_respond": True,
            "allow_ignore": True,
        },
        "kind": kind,
        **({"task": task} if task else {}),
        **own,
        "problems": list(problems),
    }


def _build_response_schema(
    action: str, allowed: Sequence[DecisionKind], args_schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the JSON Schema of a reply with one decision."""
    edited = {
        "type": "object",
        "properties": {
            "name": {"const": action},
            "args": dict(args_schema or {"type": "object"}),
        },
        "required": ["name", "args"],
    }
    text = {"type": "string"}
    fields: dict[DecisionKind, dict[str, Any]] = {
        "approve": {},
        "edit": {"edited_action": edited},
        "reject": {"message": text},
        "respond": {"message": text},
    }
    decisions = [
        {
            "type": "object",
            "properties": {"type": {"const": each}, **fields[each]},
            "required": ["type", *([] if each == "reject" else fields[each])],
        }
        for each in allowed
    ]
    return {
        "type": "object",
        "properties": {
            "decisions": {
                "type": "array",
                "items": {"anyOf": decisions},
                "minItems": 1,
                "maxItems": 1,
            }
        },
        "required": ["decisions"],
    }


def _join_line(text: str) -> str:
    return " ".join(sanitize_text(text).split())


def _clean(text: str) -> str:
    """Return Markdown of limited length, in which pictures and HTML are text."""
    limit = MAX_DESCRIPTION_CHARS
    clean = sanitize_text(text)
    cut = clean if len(clean) <= limit else f"{clean[: limit - 1]}…"
    return _ACTIVE_MARKDOWN.sub(lambda found: escape(found.group()).replace("!", "&#33;"), cut)


ASKS_KEY: Final = "asks"
"""Key of a chat message's `additional_kwargs`: the kind of the question that it asks."""
_HINTS: Final = {
    "plan": "Approve the plan, edit it, or say what to change.",
    "question": "Reply with the answer, in words.",
    "tool_call": "Approve the call, edit its arguments, or reject it.",
}


def build_plan_message(plan: Plan) -> AIMessage:
    """Return the message that proposes a plan; several teams may share a chat."""
    text = f"{describe_plan(plan)}\n\n{_HINTS['plan']}"
    return AIMessage(text, id=f"plan-{uuid4()}", additional_kwargs={ASKS_KEY: "plan"})


def is_question(message: AnyMessage) -> bool:
    """Return whether a chat message asks a human, and so answers no request."""
    return isinstance(message, AIMessage) and ASKS_KEY in message.additional_kwargs


def build_question_message(interrupt: str, value: Any) -> AIMessage | None:
    """Return the message for an open question; None for one that the chat contains already.

    Those are proposals of plans, and questions of a tool of the user's own.

    Args:
        interrupt: its id, from which that of the message is made.
    """
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if kind not in _HINTS:
        return None
    problems, task = value.get("problems") or (), value.get("task", "")
    if kind == "plan" and not problems and not task:
        return None
    asker = " of ".join(filter(None, (value.get("worker"), task and f"task {task}")))
    opening = f"**Question{f' ({asker})' if asker else ''}:** {value['description']}"
    text = "; ".join(problems) if problems else opening
    return AIMessage(
        f"{text}\n\n{_HINTS[kind]}",
        id=f"question-{interrupt}",
        additional_kwargs={ASKS_KEY: kind},
    )
