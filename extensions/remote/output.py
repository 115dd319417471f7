"""Reads what a remote worker returned: a report, and the usage where it says one.

All of it comes from an untrusted source: text is sanitized and cut, and what has another shape is
left out. The state of a graph of ours is read in full, of another graph the last AI message.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from nodes.errors.redaction import redact_text
from nodes.limits.nesting import is_nested_too_deeply
from nodes.prompts.tags import shorten_text
from nodes.text.markdown import PASSAGES_STATUSES
from nodes.text.plain_text import sanitize_line, sanitize_text
from state import COMPLETE_STATUSES, Claim, Confidence, Finding, Report, Usage

MAX_OUTPUT_CHARS: Final = 24_000
MAX_CLAIMS: Final = 60
MAX_FINDINGS: Final = 200
MAX_GAPS: Final = 40
MAX_LINE_CHARS: Final = 1_000
MAX_TOKENS: Final = 10**9
"""A larger count is an error of the far side."""

Model = TypeVar("Model", bound=BaseModel)


class _Rating(BaseModel):
    value: Confidence = None


def read_report(values: Any) -> Report:
    """Return the far side's state as the report of a task; a failed one where it has no answer."""
    state = values if isinstance(values, Mapping) else {}
    answer = state.get("answer")
    if isinstance(answer, Mapping) and isinstance(answer.get("text"), str):
        return _read_answer(answer, state)
    if state.get("status") == "failed":
        return _build_failure("the far side says that it failed, and gives no answer")
    text = _read_last_message(state.get("messages")) or _dump(values)
    if not text:
        return _build_failure("the far side has ended without an answer")
    return Report(output=_clean(text), is_unread=text.rstrip().endswith(PASSAGES_STATUSES))


def read_usage(values: Any) -> Usage | None:
    """Return the usage that the far side says; None where it says none that is credible."""
    said = values.get("usage") if isinstance(values, Mapping) else None
    if not isinstance(said, Mapping):
        return None
    counts = {name: said.get(name, 0) for name in ("model_calls", "input_tokens", "output_tokens")}
    if not all(isinstance(each, int) and 0 <= each <= MAX_TOKENS for each in counts.values()):
        return None
    if not any(counts.values()):
        return None
    cost, uncounted = said.get("cost_usd"), said.get("uncounted_calls")
    is_cost = isinstance(cost, int | float) and 0 <= cost < MAX_TOKENS
    try:
        return Usage(
            **counts,
            cost_usd=cost if is_cost else None,
            uncounted_calls=min(uncounted, MAX_TOKENS) if isinstance(uncounted, int) else 0,
        )
    except ValidationError:
        return None


def _read_answer(answer: Mapping[str, Any], state: Mapping[str, Any]) -> Report:
    status, results = state.get("status"), state.get("results")
    reports = [each for each in _list_values(results) if isinstance(each, Mapping)]
    is_completed = any(each.get("status") == "completed" for each in reports) or not reports
    gaps = _read_gaps(answer)
    confidence = _Rating(value=answer.get("confidence")).value
    if status == "failed" or not is_completed:
        return _build_failure("; ".join(gaps) or _clean(answer["text"]))
    claims = [claim for each in reports for claim in _read_all(Claim, each.get("claims"))]
    kept = {(claim.text, claim.source): claim for claim in claims}
    return Report(
        output=_clean(answer["text"]),
        claims=tuple(kept.values())[:MAX_CLAIMS],
        findings=tuple(_read_all(Finding, answer.get("findings")))[:MAX_FINDINGS],
        confidence=confidence,
        gaps=tuple(gaps)[:MAX_GAPS],
        is_partial=status not in (*COMPLETE_STATUSES, None),
        is_unread=status == "passages" or answer.get("is_unread") is True,
    )


def _build_failure(reason: str) -> Report:
    return Report(status="failed", output=_clean(reason), confidence=0)


def _read_all(model: type[Model], values: Any) -> Iterator[Model]:
    """Yield the values that are of a kind; keys that it does not know are left out."""
    for value in _list_values(values)[:MAX_FINDINGS]:
        if isinstance(value, Mapping):
            known = {name: value[name] for name in model.model_fields if name in value}
            try:
                yield model.model_validate(
                    {k: _clean(v) if isinstance(v, str) else v for k, v in known.items()}
                )
            except ValidationError:
                continue


def _list_values(values: Any) -> Sequence[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list | tuple) else ()


def _read_gaps(answer: Mapping[str, Any]) -> list[str]:
    """Return the gaps of an answer, and its contradictions as gaps."""
    found = [each for each in _list_values(answer.get("gaps"))[:MAX_GAPS] if isinstance(each, str)]
    for each in _list_values(answer.get("contradictions"))[:MAX_GAPS]:
        if isinstance(each, Mapping) and isinstance(each.get("subject"), str):
            verdict = each.get("verdict") or "it is undecided which holds"
            found.append(f"{each['subject']}: sources contradict each other; {verdict}")
    return [sanitize_line(redact_text(line), MAX_LINE_CHARS) for line in found]


def _read_last_message(messages: Any) -> str:
    for message in reversed(_list_values(messages)):
        if isinstance(message, Mapping) and (
            message.get("type") == "ai" or message.get("role") in ("assistant", "ai")
        ):
            content = message.get("content")
            blocks = [content] if isinstance(content, str | Mapping) else _list_values(content)
            texts = (each.get("text") if isinstance(each, Mapping) else each for each in blocks)
            return "\n".join(text for text in texts if isinstance(text, str)).strip()
    return ""


def _dump(values: Any) -> str:
    """Return a state without an answer or messages as JSON; empty if there is nothing in it."""
    kept = values
    if isinstance(values, Mapping):
        kept = {name: each for name, each in values.items() if name != "messages"}
    if not kept or is_nested_too_deeply(kept):
        return ""
    return json.dumps(kept, ensure_ascii=False, default=str)


def _clean(text: str) -> str:
    # Cut before it is searched for secrets: the text may be as long as an answer may be.
    return shorten_text(redact_text(sanitize_text(text[: 4 * MAX_OUTPUT_CHARS])), MAX_OUTPUT_CHARS)
