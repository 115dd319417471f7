"""Reports what tools computed, found or refused; passages are quoted whole and read by no model.

A tool result with fields of a report (`summary`, `claims`, `findings`, `gaps`, `invalidates`, or
`escalation` for an unsuitable task) is quoted. There is no confidence: there was no judge.
"""

from collections.abc import Sequence
from typing import Any, get_args

from nodes.models.embedded.results import (
    choose_passages,
    list_claims,
    list_gaps,
    list_objects,
    quote_result,
    show_result,
)
from nodes.models.embedded.work import AnsweredCall, Work
from nodes.text.language import detect_language
from nodes.text.phrases import say
from nodes.text.tool_messages import drop_advice
from nodes.tools.documents.display import format_passage
from state import EscalationReason

MAX_REFUSAL_CHARS = 600


def write_report(work: Work, uncalled: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a worker's report; it escalates where nothing was found.

    Args:
        uncalled: a sentence for each tool of the team's own that could not be called.
    """
    answered = [call for call in work.calls if not call.has_failed]
    failed = [_describe_failure(call) for call in work.calls if call.has_failed]
    for call in answered:
        given = call.data.get("escalation")
        if isinstance(given, dict) and given.get("reason") in get_args(EscalationReason):
            return {"status": "escalated", "gaps": failed, "escalation": given}
    shown = [part for call in answered if (part := show_result(call))]
    passages = choose_passages(answered)
    quoted = [] if shown or passages else list(map(quote_result, answered))
    shown += [*(part for part, _ in quoted if part), *map(format_passage, passages)]
    if not shown:
        return _write_empty_report(work, answered, failed, uncalled)
    left_open = [gap for call in answered if not _is_complete(call) for gap in list_gaps(call)]
    gaps = [*failed, *(gap for call in answered for gap in list_gaps(call))]
    gaps += [*(gap for _, cuts in quoted for gap in cuts), *_list_omitted(work)]
    shortfalls = list(dict.fromkeys([*uncalled, *left_open]))
    invalidates = [str(call.data.get("invalidates") or "") for call in answered]
    quotations = [{key: each[key] for key in ("text", "source")} for each in passages]
    return {
        "status": "completed",
        "output": "\n\n".join(shown),
        "claims": [
            *(claim for call in answered for claim in list_claims(call)),
            *({**each, "quote": each["text"]} for each in quotations),
        ],
        "findings": [each for call in answered for each in list_objects(call, "findings")],
        "gaps": list(dict.fromkeys([*shortfalls, *gaps])),
        "failures": shortfalls,
        "invalidates": next(filter(None, invalidates), ""),
        "is_unread": bool(passages),
    }


def _write_empty_report(
    work: Work, answered: Sequence[AnsweredCall], failed: Sequence[str], uncalled: Sequence[str]
) -> dict[str, Any]:
    """Return the report of an attempt that has nothing to show: what failed, or was not found."""
    if any(call.has_failed and not call.is_refusal for call in work.calls):
        return {"status": "failed", "output": ". ".join(dict.fromkeys(failed))}
    gaps = [gap for call in answered for gap in list_gaps(call)]
    reasons, language = [*uncalled, *failed, *gaps], detect_language(work.words)
    if not reasons and work.calls:
        places = [*work.handoff.artifacts][:5] or [call.tool for call in work.calls]
        reasons = [say(language, "nothing_found", places=", ".join(dict.fromkeys(places)))]
    elif not reasons:
        lacking = [each.task for each in work.handoff.context if each.status != "completed"]
        if lacking and len(lacking) == len(work.handoff.context):
            said = say(language, "nothing_to_work_on", tasks=", ".join(lacking))
            return {"status": "skipped", "output": said}
        reasons = [say(language, "needs_model", part=work.request.partition("\n")[0])]
    texts = dict.fromkeys(reason.rstrip(".")[:MAX_REFUSAL_CHARS] for reason in reasons)
    has_inputs = work.calls or list(uncalled) not in ([], [say(language, "no_file")])
    reason = "ambiguous_input" if has_inputs else "out_of_scope"
    escalation = {"reason": reason, "message": "; ".join(texts)}
    return {"status": "escalated", "escalation": escalation}


def _describe_failure(call: AnsweredCall) -> str:
    """Return why a call has no result; several tools may refuse in the same words."""
    if call.is_cut:
        return f"{call.tool} failed: its answer was too long to be read"
    return drop_advice(call.text)[:MAX_REFUSAL_CHARS]


def _list_omitted(work: Work) -> list[str]:
    """Return a gap for each call that did not receive all claims or findings."""
    return [
        f"{call.tool} was given the first {len(given)} of {len(held)} {name}"
        for call in work.calls
        for name, held in (("claims", work.claims), ("findings", work.findings))
        if isinstance(given := call.arguments.get(name), list) and len(given) < len(held)
    ]


def _is_complete(call: AnsweredCall) -> bool:
    return call.data.get("is_complete") is not False
