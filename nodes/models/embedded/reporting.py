"""Reports the results of tools: passages, rows and figures, each with its source.

A tool result with fields of a report (`summary`, `claims`, `findings`, `gaps`, `invalidates`, or
`escalation` for an unsuitable task) is quoted.

Confidence is a rule, not a judgement: 70 for what tools computed or quoted from sources, 55 where
something is missing or a source does not support a claim, 40 for what comes from the handoff only,
a tool's answer quoted as it is, or a column taken for other words; 10 less when a tool failed; 20
when escalated. Sentences of the handoff never replace the result of a failed tool.
"""

import json
import re
from collections import Counter
from typing import Any, get_args

from nodes.limits.patterns import Pattern
from nodes.models.embedded.arguments import SMALL_NUMBERS
from nodes.models.embedded.column_matching import COMPARING_WORDS, is_same_word
from nodes.models.embedded.prompt_reading import (
    AnsweredCall,
    Passage,
    ReceivedHandoff,
    is_cut_object,
    list_claims,
    list_objects,
)
from nodes.models.embedded.quoting import describe_cut, quote_answer
from nodes.models.embedded.statements import choose_statements
from nodes.models.embedded.table_reading import (
    list_tables,
    match_number_columns,
    name_missing_measure,
)
from nodes.models.embedded.table_reporting import build_row_claims, report_table
from nodes.models.embedded.text_similarity import extract_words, pair_words
from nodes.text.counts import format_count
from nodes.text.csv_table import is_table_name
from nodes.text.tool_messages import drop_advice
from nodes.text.word_forms import is_verb
from nodes.text.word_lists import FUNCTION_WORDS
from state import EscalationReason

MAX_SHARE_UNANSWERED = 0.5
"""Above this share of the request's words that no claim has, the report says which are open."""
MAX_REFUSAL_CHARS = 600
_SCALAR = Pattern(r"-?\d{1,30}(?:\.\d{1,30})?|true|false", re.IGNORECASE)
_NAME = Pattern(r"(?<=[\w,;] )[A-Z][\w\-]+|\b(?:19|20)\d\d\b")
_ESCALATION_REASONS = get_args(EscalationReason)


def write_report(brief: ReceivedHandoff) -> dict[str, Any]:
    """Return a worker's report; it escalates when nothing was found."""
    if escalation := _find_escalation(brief):
        return _write_escalation(brief, [], escalation)
    answered = [call for call in brief.calls if not call.has_failed]
    broken = [call for call in brief.calls if call.has_failed and not call.is_refusal]
    shown = [part for call in answered if (part := _format_result(call, brief))]
    passages = [
        passage for call in answered if not _format_result(call, brief) for passage in call.passages
    ]
    is_undone = bool(broken or _find_missing_measure(brief) or _list_missing_inputs(brief))
    is_undone = is_undone or _is_material_refused(brief)
    handed = [] if passages or shown or is_undone else _list_handoff_passages(brief)
    claims = [
        claim for call in answered for claim in list_claims(call.data) or build_row_claims(call)
    ]
    statements = choose_statements(
        brief.subject, passages or handed, is_question=brief.subject != brief.intent
    )
    claims += statements
    quoted = [] if shown or claims else [call for call in answered if quote_answer(call)]
    shown += map(quote_answer, quoted)
    if not shown and not claims:
        return _write_failure(brief) if broken else _write_escalation(brief, answered)
    shown_text = " ".join(shown)
    if listed := [s for s in statements if s["text"] not in shown_text] if shown else claims:
        shown.append("\n".join(f"- {claim['text']} ({claim['source']})" for claim in listed))
    undone = [_describe_failed_call(call) for call in brief.calls if call.has_failed]
    gaps = [gap for call in answered for gap in _list_gaps(call)]
    gaps += [cut for call in quoted if (cut := describe_cut(call))]
    is_assumed = any(data.get("rows") for data in (call.data for call in answered)) and any(
        each.taken_for for each in match_number_columns(brief)
    )
    findings = [
        finding
        for call in answered
        for finding in list_objects(call.data, "findings") + _build_doubt_findings(call)
    ]
    gaps = [*undone, *gaps, *_list_omitted_items(brief), *_list_open_words(brief, claims)]
    is_doubtful = any(map(_build_doubt_findings, answered))
    confidence = 40 if handed or is_assumed or quoted else 55 if gaps or is_doubtful else 70
    return {
        "status": "completed",
        "output": "\n\n".join(shown),
        "claims": claims,
        "findings": findings,
        "gaps": list(dict.fromkeys(gaps)),
        "invalidates": next(filter(None, map(_read_invalidates, answered)), ""),
        "confidence": confidence - 10 * bool(undone),
    }


def _format_result(call: AnsweredCall, brief: ReceivedHandoff) -> str:
    """Return a result that is not prose as text: a table, verdicts, a document, a value."""
    data = call.data
    if data.get("columns") and data.get("rows") and "summary" not in data:
        return report_table(call, brief)
    if isinstance(data.get("summary"), str):
        return str(data["summary"])
    if "checked" in data:
        verdicts = Counter(_read_verdict(item) for item in _list_results(data))
        more = data.get("supported_and_not_listed")
        verdicts["supported"] += more if isinstance(more, int) else 0
        counted = ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items()) if count)
        doubts = [
            f"- {item.get('claim')}: {item.get('text')}" for item in _list_doubtful_results(data)
        ]
        return "\n".join([f"{format_count(data['checked'], 'claim')} checked: {counted}.", *doubts])
    if data.get("path"):
        return f"The document is at {data['path']}."
    if not data and _SCALAR.fullmatch(call.text.strip()):
        return f"{call.tool}: {call.text.strip()}"
    if "value" in data:
        return f"{data.get('expression', call.arguments)} = {data['value']}"
    return ""


def _list_open_words(brief: ReceivedHandoff, claims: list[dict[str, Any]]) -> list[str]:
    """Return a gap with the request's words that no claim and no summary has: most, or a name.

    Words that only count or compare, and those of the rows that a table was asked for, are no gap.
    """
    if brief.subject == brief.intent or not claims:
        return []  # an example's task, whose words tell how to work
    used = [json.dumps(call.arguments) for call in brief.calls if call.data.get("rows")]
    assumed = [each.taken_for for each in match_number_columns(brief)]
    sources = list(dict.fromkeys(str(claim.get("source", "")) for claim in claims))
    quoted = [str(call.data.get("summary", "")) for call in brief.calls]
    texts = [*(str(claim["text"]) for claim in claims), *sources, *used, *assumed, *quoted]
    known = {*extract_words(" ".join(texts)), *COMPARING_WORDS, *SMALL_NUMBERS}
    asked = {
        word: written
        for word, written in pair_words(brief.subject)
        if written.lower() not in FUNCTION_WORDS
        and not is_verb(written.lower())
        and (not word.isdigit() or _NAME.search(f" {word}"))
    }
    missing = [
        word for word in asked if not any(word == one or is_same_word(word, one) for one in known)
    ]
    names = {word for name in _NAME.findall(brief.subject) for word in extract_words(name)}
    is_open = len(missing) > MAX_SHARE_UNANSWERED * len(asked) or names & set(missing)
    places = ", ".join(filter(None, sources)) or "what was searched"
    words = ", ".join(asked[word] for word in missing)
    return [f"Nothing was found on {words} in {places}"] if is_open else []


def _list_handoff_passages(brief: ReceivedHandoff) -> list[Passage]:
    """Return the passages of the handoff: its materials, else the claims of earlier tasks.

    A table whose analysis was refused is no prose, and its lines state nothing.
    """
    claims = [Passage(str(c.get("source", "")), str(c["text"])) for c in brief.claims]
    is_refused = any(call.is_refusal for call in brief.calls)
    names = _list_documents(brief) if is_refused else list(brief.artifacts)
    return [Passage(name, brief.artifacts[name]) for name in names] or claims


def _write_failure(brief: ReceivedHandoff) -> dict[str, Any]:
    """Return a failed report with the reasons of the failed calls."""
    reasons = dict.fromkeys(_describe_failed_call(call) for call in brief.calls if call.has_failed)
    return {"status": "failed", "output": ". ".join(reasons), "confidence": 0}


def _describe_failed_call(call: AnsweredCall) -> str:
    """Return why a call has no result, with the name of its tool."""
    text = drop_advice(call.text)[:MAX_REFUSAL_CHARS]
    if is_cut_object(call.text):
        return f"{call.tool} failed: its answer was too long to be read"
    return f"{call.tool}: {text}" if call.is_refusal else text


def _list_omitted_items(brief: ReceivedHandoff) -> list[str]:
    """Return a gap for each call that did not receive all claims or findings."""
    return [
        f"{call.tool} was given the first {len(given)} of {len(held)} {name}"
        for call in brief.calls
        for name, held in (("claims", brief.claims), ("findings", brief.findings))
        if isinstance(given := call.arguments.get(name), list) and len(given) < len(held)
    ]


def _write_escalation(
    brief: ReceivedHandoff, answered: list[AnsweredCall], escalation: dict[str, Any] | None = None
) -> dict[str, Any]:
    tried = ", ".join(dict.fromkeys(call.tool for call in brief.calls))
    refused = [drop_advice(call.text) for call in brief.calls if call.has_failed]
    gaps = [gap for call in answered for gap in _list_gaps(call)]
    texts = [text[:MAX_REFUSAL_CHARS] for text in (*refused, *gaps)]
    answers = ". ".join(dict.fromkeys(texts))
    missing = "; ".join(_list_missing_inputs(brief))
    # A document may state what no column of a table has.
    is_elsewhere = bool(_list_documents(brief) and _find_missing_measure(brief) and not answers)
    is_elsewhere = is_elsewhere or not (tried or missing)
    message = (
        answers or f"{tried} found nothing on {_name_unknown(brief)}{_describe_searched(brief)}"
        if tried
        else "without a language model only a tool can answer this, and none can be called with "
        f"what the handoff gives{_suggest_file(brief)}"
    )
    if missing:
        message = f"{message}; {missing}"
    return {
        "status": "escalated",
        "output": "\n".join(_describe_failed_call(call) for call in brief.calls if call.has_failed),
        "confidence": 20,
        "escalation": escalation
        or {
            "reason": "out_of_scope" if is_elsewhere else "ambiguous_input",
            "message": message,
        },
    }


def _list_missing_inputs(brief: ReceivedHandoff) -> list[str]:
    """Return the inputs without a result, if no other input allows a tool call."""
    is_any_there = any(each.get("status") == "completed" for each in brief.reports)
    if brief.calls or is_any_there:
        return []
    return [f"{each.get('task')} has no result" for each in brief.reports]


def _name_unknown(brief: ReceivedHandoff) -> str:
    """Return what no column measures, else the names that no material holds; "it" without any."""
    if measure := _find_missing_measure(brief):
        return f"“{measure}”"
    held = " ".join(brief.artifacts.values()).lower()
    names = [name for name in _NAME.findall(brief.subject) if name.lower() not in held]
    return ", ".join(dict.fromkeys(names)) if held and names else "it"


def _find_missing_measure(brief: ReceivedHandoff) -> str:
    """Return the task's words for what no column of the listed tables measures, if there are."""
    has_listed = any("tables" in call.data for call in brief.calls)
    return name_missing_measure(brief) if has_listed else ""


def _list_documents(brief: ReceivedHandoff) -> list[str]:
    return [name for name in brief.artifacts if not is_table_name(name)]


def _describe_searched(brief: ReceivedHandoff) -> str:
    if not brief.artifacts:
        return "; a document, a table or a reachable page on it is needed"
    columns = [name for each in list_tables(brief) for name in (*each.labels, *each.numbers)]
    has_listed = any("tables" in call.data for call in brief.calls)
    shown = f", whose columns are {', '.join(columns)}" if has_listed and columns else ""
    return f" in {', '.join(brief.artifacts)}{shown}"[:MAX_REFUSAL_CHARS]


def _suggest_file(brief: ReceivedHandoff) -> str:
    if brief.artifacts or brief.reports:
        return ""
    return ": no file; attach one, on the command line with --file"


def _is_material_refused(brief: ReceivedHandoff) -> bool:
    """Return whether a tool refused a material by name: quoting it would not fix that."""
    refusals = [call.text for call in brief.calls if call.has_failed]
    return any(name in text for text in refusals for name in brief.artifacts)


def _find_escalation(brief: ReceivedHandoff) -> dict[str, Any] | None:
    """Return the escalation of a tool, whatever other tools found."""
    escalations = [call.data.get("escalation") for call in brief.calls]
    return next(
        (
            one
            for one in escalations
            if isinstance(one, dict) and one.get("reason") in _ESCALATION_REASONS
        ),
        None,
    )


def _list_results(data: dict[str, Any]) -> list[dict[str, Any]]:
    return list_objects(data, "results")


def _list_gaps(call: AnsweredCall) -> list[str]:
    gaps = call.data.get("gaps")
    return [str(gap) for gap in gaps] if isinstance(gaps, list) else []


def _read_invalidates(call: AnsweredCall) -> str:
    reason = call.data.get("invalidates")
    return reason if isinstance(reason, str) else ""


def _list_doubtful_results(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        item for item in _list_results(data) if _read_verdict(item) in ("partly", "unsupported")
    ]


def _read_verdict(item: dict[str, Any]) -> str:
    """Return a result's verdict; a computed row, which quotes nothing, is "computed"."""
    verdict = str(item.get("verdict"))
    computed = verdict != "supported" and item.get("quote_found") is None
    return "computed" if computed and item.get("figures_missing") else verdict


def _build_doubt_findings(call: AnsweredCall) -> list[dict[str, Any]]:
    doubtful = _list_doubtful_results(call.data) if "checked" in call.data else []
    return [
        {
            "severity": "medium" if _read_verdict(item) == "unsupported" else "low",
            "message": f"{_read_verdict(item)}: {item.get('claim')} {item.get('text', '')}".strip(),
            "file": str(item.get("source", "")),
        }
        for item in doubtful
    ]
