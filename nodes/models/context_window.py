"""Recognizes a refusal because the request is longer than the model's context window."""

from collections.abc import Mapping
from typing import Any

from nodes.errors import ContextTooSmall
from nodes.limits.patterns import Pattern
from nodes.models.usage import is_credible_count

CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""Of OpenAI and of llama.cpp."""
_NEEDED_THEN_LIMIT = Pattern(
    r"(?i)(?P<needed>[\d,]+) tokens?\)? (?:exceeds the available context size \(|> )"
    r"(?P<limit>[\d,]+)"
)
_LIMIT_THEN_NEEDED = Pattern(
    r"(?i)maximum context length (?:is|of) (?P<limit>[\d,]+)(?: tokens)?"
    r"(?:.{0,80}?(?:resulted in|requested|contains at least|has) (?P<needed>[\d,]+))?"
)
_WORDS = Pattern(r"(?i)prompt is too long|exceeds the (?:available )?context|context the overflows")


def read_context_error(
    body: Mapping[str, Any], code: str, said: str, model: str
) -> ContextTooSmall | None:
    """Return the error of a request that is too long; None for another refusal."""
    found = _NEEDED_THEN_LIMIT.search(said) or _LIMIT_THEN_NEEDED.search(said)
    if not found and code not in CODES and not _WORDS.search(said):
        return None
    named = found.groupdict() if found else {}
    return ContextTooSmall(
        model,
        needed=_read_count(body.get("n_prompt_tokens") or named.get("needed")),
        limit=_read_count(body.get("n_ctx") or named.get("limit")),
        cause=said,
    )


def _read_count(value: Any) -> int | None:
    if isinstance(value, str):
        digits = value.replace(",", "")
        value = int(digits) if digits.isdigit() and len(digits) < 12 else None
    return value if is_credible_count(value) and value else None
