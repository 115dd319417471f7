"""Reports what tools computed, found or refused, and composes the answer from the reports."""

from collections.abc import Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import PurePath
from typing import Any, get_args

from extensions.embedded.work import OTHERS_READ_ON, AnsweredCall, Work
from nodes.schemas.handoff import AnswerValues
from nodes.text.phrases import PHRASES, detect_language, say
from nodes.text.tool_messages import drop_advice
from nodes.text.word_lists import FUNCTION_WORDS, GERMAN_FUNCTION_WORDS
from nodes.tools.framework.documents import format_passage
from nodes.tools.framework.tool_report import format_table
from state import EscalationReason, Report


def write_answer(values: AnswerValues) -> dict[str, Any]:
    """Return the fields of the answer; no model judged it, so it has no confidence."""
    language = values.language
    done = [report for report in values.reports if report.status == "completed"]
    nearest = list(
        dict.fromkeys(each.escalation.partial for each in values.reports if each.escalation)
    )
    shown = [report for report in done if not _only_confirms(report)] or done * (not any(nearest))
    computed = [report for report in shown if not report.is_unread]
    unread = _list_new([report for report in shown if report.is_unread])
    headings = values.headings if shown[1:] else {}
    parts = [say(language, "no_model"), *_show_reports(computed, headings)]
    parts += nearest
    if unread:
        parts.append(f"**{say(language, 'passages')}**")
    parts += _show_reports(unread, headings)
    if not (done or any(nearest)):
        parts.append(say(language, "none_completed"))
    read = done + [report for report in values.reports if report.escalation]
    claims = [claim for report in read for claim in report.claims]
    return {
        "text": "\n\n".join(filter(None, parts)),
        "gaps": list(dict.fromkeys(values.missing)),
        "sources": list(dict.fromkeys(claim.source for claim in claims if claim.source)),
    }


def format_heading(identifier: str) -> str:
    """Return a task's id as a heading."""
    text = identifier.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def _only_confirms(report: Report) -> bool:
    """Return whether a report says no more than that all is so, as the line of proofs does.

    One of a language model, which has a confidence, may say more.
    """
    confirms = report.found_as_expected is True and report.confidence is None
    return confirms and not (report.claims or report.findings)


def _show_reports(reports: Sequence[Report], headings: Mapping[str, str]) -> list[str]:
    """Return reports, each under the words of the request that it answers; of several, else its id.

    Their own headings go one level down.
    """
    shown = []
    for report in reports:
        lines = _drop_framing(report.output).splitlines()
        body = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines).strip()
        heading = headings.get(report.task) or (format_heading(report.task) if reports[1:] else "")
        is_named = body and heading
        shown.append(f"## {heading[:1].upper()}{heading[1:]}\n\n{body}" if is_named else body)
    return shown


def _drop_framing(text: str) -> str:
    """Return what a team has answered without the lines that the whole answer begins with."""
    said = {say(language, "no_model") for language in PHRASES}
    said |= {f"**{say(language, 'passages')}**" for language in PHRASES}
    return "\n\n".join(part for part in text.split("\n\n") if part.strip() not in said)


def _list_new(reports: Sequence[Report]) -> list[Report]:
    """Return the reports that quote a passage which no report before them quotes."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for report in reports:
        quoted = {(claim.source, claim.text) for claim in report.claims}
        if not quoted <= seen or not quoted:
            kept.append(report)
        seen |= quoted
    return kept


MAX_REFUSAL_CHARS = 600
MAX_QUOTED_CHARS = 800
"""Limit for a quotation; a longer answer is cut at the end of a line."""
MAX_SCALAR_CHARS = 40
MAX_PASSAGES, PASSAGES_BY_SEARCH = 3, 2
MAX_PLACES = 5
_KNOWN_KEYS = frozenset(("results", "rows", "tables", "claims", "findings", "gaps", "note"))


NOTHING_TO_LOOK_UP: Mapping[str, Any] = {
    "status": "completed",
    "output": "What was found is computed: there is no quotation to look up.",
    "found_as_expected": True,
}
"""The report of a check whose every claim is proved."""
NOTHING_LEFT_OPEN: Mapping[str, Any] = {
    "status": "completed",
    "output": "The tables leave nothing open that a document has.",
    "found_as_expected": True,
}
"""The report of who reads documents where the tables leave nothing open that one has."""


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
    shown = [part for call in answered if (part := _show_result(call))]
    passages = _choose_passages(answered, work.queries)
    quoted = [] if shown or passages else list(map(_quote_result, answered))
    shown += [*(part for part, _ in quoted if part), *map(format_passage, passages)]
    if not shown:
        return _write_empty_report(work, answered, failed, uncalled)
    tables = [each for each in work.handoff.context if each.status == "skipped" and each.is_unread]
    tables *= bool(work.absent)  # what they have near those words may be what is meant
    shown[:0] = [each.output for each in tables]
    gaps = [*failed, *(gap for call in answered for gap in call.gaps), *_list_absent(work)]
    left_open = [
        gap
        for call in answered
        if call.data.get("is_complete") is False
        for gap in call.gaps or _list_absent(work)
    ]
    gaps += [*(gap for _, cuts in quoted for gap in cuts), *_list_omitted(work)]
    shortfalls = list(dict.fromkeys([*uncalled, *left_open]))
    verdicts = [call.data.get("found_as_expected") for call in answered]
    is_denied = any(each is False for each in verdicts)
    quotations = [{key: each[key] for key in ("text", "source")} for each in passages]
    return {
        "status": "completed",
        "output": "\n\n".join(shown),
        "claims": [
            *(claim for call in answered for claim in _list_claims(call)),
            *(claim.model_dump() for each in tables for claim in each.claims),
            *({**each, "quotation": each["text"]} for each in quotations),
        ],
        "findings": [each for call in answered for each in call.list_objects("findings")],
        "gaps": list(dict.fromkeys([*shortfalls, *gaps])),
        "failures": shortfalls,
        "left_open": _collect(answered, "left_open"),
        "gaps_of_parts": _collect(answered, "gaps_of_parts"),
        "found_as_expected": False if is_denied else all(verdicts) or None,
        "is_unread": bool(passages),
    }


def _list_absent(work: Work) -> list[str]:
    """Return a gap for the words that no searched document has."""
    if not work.absent:
        return []
    places = ", ".join([*work.handoff.artifacts][:MAX_PLACES]) or work.calls[0].tool
    values = {"words": ", ".join(work.absent), "places": places}
    return [say(detect_language(work.words), "words_absent", **values)]


def _write_empty_report(
    work: Work, answered: Sequence[AnsweredCall], failed: Sequence[str], uncalled: Sequence[str]
) -> dict[str, Any]:
    """Return the report of an attempt that has nothing to show: what failed, or was not found."""
    if any(call.has_failed and not call.is_refusal for call in work.calls):
        return {"status": "failed", "output": ". ".join(dict.fromkeys(failed))}
    gaps = [gap for call in answered for gap in call.gaps]
    reasons, language = [*uncalled, *failed, *gaps], detect_language(work.words)
    if not reasons and work.calls:
        places = [*work.handoff.artifacts][:MAX_PLACES] or [call.tool for call in work.calls]
        reasons = [say(language, "nothing_found", places=", ".join(dict.fromkeys(places)))]
    elif not reasons:
        lacking = [each.task for each in work.handoff.context if each.status != "completed"]
        if lacking and len(lacking) == len(work.handoff.context):
            said = say(language, "nothing_to_work_on", tasks=", ".join(lacking))
            return {"status": "skipped", "output": said}
        reasons = [say(language, "needs_model", part=work.request.partition("\n")[0])]
    texts = dict.fromkeys(reason.rstrip(".")[:MAX_REFUSAL_CHARS] for reason in reasons)
    nearest = [call.data["nearest"] for call in answered if call.data.get("nearest")]
    partial = "\n\n".join(dict.fromkeys(each["text"] for each in nearest))
    claims = [dict(each) for found in nearest for each in found["results"]]
    if OTHERS_READ_ON in work.handoff.intent:
        return {
            "status": "skipped",
            "output": partial or "; ".join(texts),
            "claims": claims,
            "gaps": _list_unused(answered, "; ".join(texts), language),
            "is_unread": bool(partial),
        }
    has_inputs = work.calls or list(uncalled) not in ([], [say(language, "no_file")])
    reason = "ambiguous_input" if has_inputs else "out_of_scope"
    escalation = {"reason": reason, "message": "; ".join(texts), "partial": partial}
    return {"status": "escalated", "claims": claims, "escalation": escalation}


def _list_unused(answered: Sequence[AnsweredCall], reason: str, language: str) -> list[str]:
    """Return a gap for the tables that have a word of the question and did not answer it."""
    files = _collect(answered, "about")
    empty = FUNCTION_WORDS | GERMAN_FUNCTION_WORDS
    if words := [w for w in _collect(answered, "left_open") if w.lower() not in empty]:
        reason = say(language, "lacks_words", words=", ".join(words))
    return [say(language, "not_used", files=", ".join(files), reason=reason)] if files else []


def _collect(answered: Sequence[AnsweredCall], name: str) -> list[str]:
    """Return the texts of a list that the answers have, each once."""
    return list(dict.fromkeys(str(each) for call in answered for each in call.data.get(name, ())))


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


def _show_result(call: AnsweredCall) -> str:
    """Return a result that a tool computed or made, as Markdown; empty for passages and others."""
    data, text = call.data, call.text.strip()
    if isinstance(summary := data.get("summary"), str):
        return summary
    if data.get("columns") and data.get("rows"):
        return format_table(data["columns"], data["rows"], max_rows=len(data["rows"]))
    if data.get("path"):
        return f"The document is written: {PurePath(data['path']).name} (path: {data['path']})."
    if "value" in data:
        return f"{data.get('expression', call.arguments)} = {data['value']}"
    is_scalar = 0 < len(text) <= MAX_SCALAR_CHARS and "\n" not in text
    return f"{call.tool}: {text}" if is_scalar and not data else ""


def _quote_result(call: AnsweredCall) -> tuple[str, list[str]]:
    """Return an answer of a form of its own in a code block, and the gap of one that is cut.

    Empty for a form that is known, and for a long answer to a query or an address: its beginning
    need not concern the task.
    """
    text = call.text.strip()
    is_searched = len(text) > MAX_QUOTED_CHARS and {"query", "url"} & {*call.arguments}
    if is_searched or not _KNOWN_KEYS.isdisjoint(call.data):
        return "", []
    shown, gaps = text, list[str]()
    if len(text) > MAX_QUOTED_CHARS:
        cut = text[:MAX_QUOTED_CHARS]
        shown = (cut.rpartition("\n")[0] or cut).rstrip()
        gaps = [
            f"{call.tool}: the first {len(shown)} of {len(text):,} characters of its answer are "
            "quoted"
        ]
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{call.tool}:\n\n{fence}text\n{shown}\n{fence}", gaps


def _choose_passages(calls: Sequence[AnsweredCall], queries: Sequence[str]) -> list[dict[str, str]]:
    """Return the best passages of searches, each once, with `source`, `place` and `text`.

    Of searches for several questions each has its best first; those of one for all come after one.
    """
    searched = [each for each in calls if not _show_result(each)]
    parts = [each for each in searched if each.has_passages and each.arguments["query"] in queries]
    results = [each.list_objects("results") for each in parts]
    items = chain(*zip_longest(*results, fillvalue={}))
    if len(parts) < 2:
        items = chain(*results, *(each.list_objects("results") for each in searched))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for item in items:
        if text := str(item.get("text") or "").strip():
            source, place = str(item.get("source", "")), str(item.get("place") or "")
            passage = {"source": source, "place": place, "text": text}
            found.setdefault((source, text), passage)
    return list(found.values())[: max(MAX_PASSAGES, PASSAGES_BY_SEARCH * len(parts))]


def _list_claims(call: AnsweredCall) -> list[dict[str, Any]]:
    """Return the claims that a tool made, else one for each row that it computed."""
    stated = [each for each in call.list_objects("claims") if each.get("text")]
    rows = call.list_objects("results") if call.data.get("rows") else []
    return [{key: each[key] for key in each if key != "confidence"} for each in stated] or [
        {"text": str(each["text"]), "source": str(each.get("source", ""))}
        for each in rows
        if each.get("text")
    ]
