"""Reads a human's reply to a question: each form that clients send, and plain words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from nodes.limits.nesting import MAX_STORABLE_LEVELS, is_nested_too_deeply, parse_json
from nodes.limits.patterns import Pattern
from nodes.models.json_reading import InvalidJson, read_json_object
from nodes.text.plain_text import sanitize_text
from nodes.text.word_lists import APPROVING_WORDS, FILLING_WORDS, REJECTING_WORDS

DecisionKind = Literal["approve", "edit", "reject", "respond", "unclear"]

MAX_REPLY_CHARS: Final = 100_000
"""Limit for the words of one reply; a longer one is unclear."""
TOO_LONG: Final = f"it is longer than {MAX_REPLY_CHARS:,} characters"
MAX_DEPTH: Final = 6
"""Limit for forms within forms, such as JSON in a string in a list."""
TYPES: Final[Mapping[str, DecisionKind]] = {
    "approve": "approve",
    "accept": "approve",
    "edit": "edit",
    "reject": "reject",
    "ignore": "reject",
    "respond": "respond",
    "response": "respond",
}
"""The types of LangChain's decisions and of Agent Inbox's responses."""
FORM_FIELDS: Final = ("accept", "reject", "plan", "args", "answer")
_RANKS: Final = ("approve", "edit", "respond", "unclear", "reject")
"""Of several decisions the last of these counts: what objects is never approved."""


@dataclass(frozen=True)
class Decision:
    """What a human's reply decides."""

    kind: DecisionKind
    args: Mapping[str, Any] | None = None
    """Of an edit: the arguments to use. Nothing has checked them yet."""
    message: str = ""
    """The answer, the reason of a rejection, or why the reply is unclear."""


def read_decision(reply: Any, request: Mapping[str, Any]) -> Decision:
    """Return what a reply to a request decides; one that is not certain is unclear.

    The words of a reply to a question are its answer, whatever they are. Elsewhere words approve,
    reject, or are unclear.

    Args:
        reply: LangChain's `{"decisions": [...]}` or one decision, Agent Inbox's list, our forms
            (`{"accept": true}`, `{"plan": {...}}` or `{"args": {...}}`, `{"reject": "why"}`,
            `{"answer": "..."}`), words, or any of these as JSON in a string.
        request: the value of the interrupt, as `nodes.human.request` builds it.
    """
    depth = 0 if is_nested_too_deeply(reply, MAX_STORABLE_LEVELS) else MAX_DEPTH
    return _check_allowed(_read(reply, request, depth), request)


def _read(reply: Any, request: Mapping[str, Any], depth: int) -> Decision:
    if depth <= 0:
        return _unclear("it is nested too deeply")
    if isinstance(reply, str):
        return _read_text(reply, request, depth)
    if isinstance(reply, bool) and not _is_question(request):
        return Decision("approve") if reply else Decision("reject")
    if isinstance(reply, Mapping):
        return _read_mapping(reply, request, depth)
    if isinstance(reply, Sequence) and not isinstance(reply, bytes):
        return _read_list(reply, request, depth)
    if _is_question(request) and reply is not None:
        return _answer(reply)
    return _unclear("it is empty" if reply is None else "it is neither words nor a decision")


def _read_list(reply: Sequence[Any], request: Mapping[str, Any], depth: int) -> Decision:
    if _is_question(request) and not any(isinstance(item, Mapping) for item in reply):
        return _answer(reply)
    return _choose_decision([_read(item, request, depth - 1) for item in reply])


def _read_text(text: str, request: Mapping[str, Any], depth: int) -> Decision:
    if len(text) > MAX_REPLY_CHARS:
        return _unclear(TOO_LONG)
    text = sanitize_text(text).strip()
    found = _parse_json(text)
    if isinstance(found, Mapping | list) or (isinstance(found, str) and found != text):
        decision = _read(found, request, depth - 1)
        if decision.kind != "unclear" or not _is_question(request):
            return decision
    if _is_question(request):
        return _answer(text)
    if text.startswith(("{", "[{", "```")):
        return _unclear(_describe_broken_json(text))
    verdict, reason = read_words(text)
    return Decision(verdict, message=reason) if verdict != "unclear" else _slip(text)


def _read_mapping(reply: Mapping[Any, Any], request: Mapping[str, Any], depth: int) -> Decision:
    if _is_decision(reply, request) and not _is_set(reply.get("reject")):
        decision = (
            _read(reply["decisions"], request, depth - 1)
            if "decisions" in reply
            else _read_typed(reply["type"], reply, request, depth)
        )
        if decision.kind in ("approve", "edit") and _read_flag(reply.get("accept")) is False:
            return _unclear("`accept` is false beside a decision")
        return decision
    if any(field in reply for field in FORM_FIELDS):
        return _read_form(reply, request, depth)
    if request.get("kind") == "plan" and ("tasks" in reply or "goal" in reply):
        return _read_edit(reply, request)
    if _is_question(request) and reply:
        return _answer(reply)
    return _unclear("it is no decision")


def _is_decision(reply: Mapping[Any, Any], request: Mapping[str, Any]) -> bool:
    """Return whether an object is meant as decisions; the answer to a question may be any other."""
    kind = reply.get("type")
    is_typed = isinstance(kind, str) and (not _is_question(request) or kind.lower() in TYPES)
    return "decisions" in reply or is_typed


def _read_typed(
    kind: str, reply: Mapping[Any, Any], request: Mapping[str, Any], depth: int
) -> Decision:
    """Read a decision of LangChain or a response of Agent Inbox."""
    decision, args = TYPES.get(kind.strip().lower()), reply.get("args")
    if decision == "edit":
        return _read_edit(reply.get("edited_action", args), request)
    words = _read_message(reply)
    if decision == "approve":
        is_plain = not words or read_words(words)[0] == "approve"
        return Decision("approve") if is_plain else _unclear("it approves and says more")
    if decision is None or words is None:
        return _unclear(f"the type {kind[:40]!r} is unknown" if words is not None else TOO_LONG)
    # Agent Inbox has one field for words and sends them to a HITLRequest as a rejection.
    if _is_question(request) and (decision == "respond" or (words and isinstance(args, str))):
        return _answer(words)
    if decision == "reject":
        return Decision("reject", message=words)
    said = _read_text(words, request, depth - 1)
    return said if said.kind == "approve" or not words else Decision("reject", message=words)


def _read_message(reply: Mapping[Any, Any]) -> str | None:
    """Return the words of a decision, as LangChain or Agent Inbox names them; None if too long."""
    args = reply.get("args")
    words = str(reply.get("message") or (args if isinstance(args, str) else ""))
    return sanitize_text(words).strip() if len(words) <= MAX_REPLY_CHARS else None


def _read_form(reply: Mapping[Any, Any], request: Mapping[str, Any], depth: int) -> Decision:
    """Read a form, which sends all its fields: an edited plan that is accepted is an edit."""
    accepted, rejected = _read_flag(reply.get("accept")), reply.get("reject")
    if _is_question(request) and str(reply.get("answer") or "").strip():
        return _answer(reply["answer"])
    if _is_set(rejected):
        reason = "" if rejected is True else str(rejected)[:MAX_REPLY_CHARS]
        return Decision("reject", message=sanitize_text(reason).strip())
    if edited := reply.get("plan" if request.get("kind") == "plan" else "args"):
        if accepted is False:
            return _unclear("`accept` is false beside an edit")
        return _read_edit(edited, request)
    if accepted is True:
        return Decision("approve")
    if accepted is False or rejected == "":
        return Decision("reject")
    if reply.get("answer"):
        return _read(reply["answer"], request, depth - 1)
    return _unclear("its form is empty")


def _is_set(rejected: Any) -> bool:
    """Return whether the field `reject` of a form objects: a reason, or a switch that is on."""
    return bool(rejected) and rejected != "false"


def _read_flag(value: Any) -> bool | None:
    """Return a switch of a form, which may be a word; None where it is neither on nor off."""
    if not isinstance(value, str):
        return value if isinstance(value, bool) else None
    return {"approve": True, "reject": False, "unclear": None}[read_words(value)[0]]


def _read_edit(edited: Any, request: Mapping[str, Any]) -> Decision:
    """Read edited arguments, bare or as an action; values may come back as strings."""
    found = _parse_json(edited) if isinstance(edited, str) else edited
    action, inner = _get_action(request)
    if isinstance(found, Mapping) and "args" in found and not inner.get("args"):
        name = found.get("name") or found.get("action") or action
        if name != action:
            return _unclear(f"it edits {str(name)[:80]!r}, and the question is about {action!r}")
        found = found["args"]
        found = _parse_json(found) if isinstance(found, str) else found
    if not isinstance(found, Mapping):
        problem = _describe_broken_json(edited) if isinstance(edited, str) else "no object"
        return _unclear(f"its edited arguments cannot be read: {problem}")
    restored = {str(name): _restore(value, inner.get(name)) for name, value in found.items()}
    if not _is_question(request):
        return Decision("edit", args=restored)
    return _answer(restored.get("answer", ""))


def _restore(value: Any, before: Any) -> Any:
    """Return a value that a form has made a string as what it was; other values unchanged."""
    if not isinstance(value, str) or isinstance(before, str) or before is None:
        return value
    found = _parse_json(value)
    return value if found is None else found


def _choose_decision(decisions: Sequence[Decision]) -> Decision:
    """Return the decision of a list for one action; a rejection wins, two edits are unclear."""
    if not decisions:
        return _unclear("its list of decisions is empty")
    first = max(decisions, key=lambda each: _RANKS.index(each.kind))
    same_kind = [each for each in decisions if each.kind == first.kind]
    if first.kind in ("edit", "respond") and any(each != first for each in same_kind):
        return _unclear("its decisions contradict each other")
    return first


def _check_allowed(decision: Decision, request: Mapping[str, Any]) -> Decision:
    configs = request.get("review_configs") or [{}]
    allowed = configs[0].get("allowed_decisions", ())
    if decision.kind == "unclear" or decision.kind in allowed:
        return decision
    return _unclear(f"{decision.kind} is not possible here, only {', '.join(allowed)}")


def _get_action(request: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name and the arguments of the action that a request is about."""
    action = (request.get("action_requests") or [{}])[0]
    return action.get("name", ""), action.get("args") or {}


def _is_question(request: Mapping[str, Any]) -> bool:
    return request.get("kind") == "question"


def _answer(value: Any) -> Decision:
    """Return an answer in words; one that is empty or too long is unclear."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=str)
        except (ValueError, TypeError):
            return _unclear("the answer is not JSON")
    if len(value) > MAX_REPLY_CHARS:
        return _unclear(TOO_LONG)
    words = sanitize_text(value).strip()
    return Decision("respond", message=words) if words else _unclear("the answer is empty")


def _slip(text: str) -> Decision:
    said = f"{text[:80]!r} is neither" if text else "it is empty, so neither"
    return _unclear(f"{said} an approval nor a reason against it")


def _unclear(why: str) -> Decision:
    return Decision("unclear", message=f"the reply is unclear: {why}")


def _parse_json(text: str) -> Any:
    """Return the value of a JSON text; None for any other text."""
    text = text.strip()
    try:
        return read_json_object(text) if text.startswith(("{", "```")) else parse_json(text)
    except ValueError:
        return None


def _describe_broken_json(text: str) -> str:
    try:
        read_json_object(text)
    except InvalidJson as error:
        return str(error)
    return "it is no JSON"


Verdict = Literal["approve", "reject", "unclear"]

MIN_OBJECTION_WORDS: Final = 3
"""A shorter reply that is neither yes nor no counts as a slip: the question is repeated."""


_PHRASES: Final = (
    ("\N{THUMBS UP SIGN}", " yes "),
    ("\N{WHITE HEAVY CHECK MARK}", " yes "),
    ("\N{THUMBS DOWN SIGN}", " no "),
    ("\N{CROSS MARK}", " no "),
    ("\N{RIGHT SINGLE QUOTATION MARK}", "'"),
    ("let's", "lets"),
    ("do it", " go "),
    ("thank you", " thanks "),
)
_APPROVABLE: Final = Pattern(r"[a-z\s.,;:!'\-()*_\ufe0f\U0001f3fb-\U0001f3ff]+")
_WORD: Final = Pattern(r"[a-z]+")
_DOUBTFUL: Final = Pattern(
    r"\bis (?:it|that|the|this)\b|\b(?:correct|perfect) (?:it|that|the|this)\b"
)
"""Words that ask or order: "is it good", "correct the plan"."""


def read_words(text: str) -> tuple[Verdict, str]:
    """Return what plain words decide, and the reason of a rejection.

    Only words that all belong to an approval approve; a sentence of anything else is an objection.
    """
    said = text.strip()
    plain = _replace_phrases(said.lower())
    if _is_approval(plain):
        return "approve", ""
    first, _, reason = said.partition(":")
    if _replace_phrases(first.lower()).strip(" .!") in REJECTING_WORDS:
        return "reject", reason.strip()
    opening, _, rest = said.partition(",")
    if rest and _replace_phrases(opening.lower()).strip() in REJECTING_WORDS:
        return "reject", rest.strip()
    return ("reject", said) if len(said.split()) >= MIN_OBJECTION_WORDS else ("unclear", said)


def _is_approval(plain: str) -> bool:
    if not plain or not _APPROVABLE.fullmatch(plain) or _DOUBTFUL.search(plain):
        return False
    words = {word.group() for word in _WORD.finditer(plain)}
    return bool(words & APPROVING_WORDS) and words <= APPROVING_WORDS | FILLING_WORDS


def _replace_phrases(text: str) -> str:
    for phrase, word in _PHRASES:
        text = text.replace(phrase, word)
    return text.strip()
