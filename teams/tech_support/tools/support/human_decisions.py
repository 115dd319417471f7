"""Classify a request: what a human must decide, and what is not a support request."""

from collections.abc import Mapping
from typing import Any, Final

from nodes.text.plain_text import sanitize_line
from nodes.tools.failures.secrets import mask_secrets
from nodes.tools.framework.out_of_scope import escalate_out_of_scope, find_foreign_words

from .log import is_log, read_log
from .request_wording import load_wording

ASKS_FOR_HUMAN: Final = "asks for a person"
MAX_WORDS_CHARS: Final = 60
MIN_PASTED_LINES: Final = 3
"""Lines with a time or a level from which a request contains a log."""
OUT_OF_SCOPE_MESSAGE: Final = (
    "this desk answers requests for support of a product; the request asks for something else"
)


def find_human_decisions(request: str) -> dict[str, str]:
    """Return what a human must decide in a request, each with the words that show it."""
    spoken = remove_pasted_log(request)
    hits = {name: pattern.search(spoken) for name, pattern in load_wording().matters.items()}
    return {
        name: sanitize_line(mask_secrets(hit[0]), MAX_WORDS_CHARS)
        for name, hit in hits.items()
        if hit
    }


def remove_pasted_log(request: str) -> str:
    """Return the text of a request without a log that was pasted into it."""
    log = read_log("the request", request)
    if not log.failures and len(log.entries) < MIN_PASTED_LINES:
        return request
    logged = {n for each in log.failures for n in range(each.first_line, each.last_line + 1)}
    logged |= {entry.number for entry in log.entries}
    return "\n".join(line for n, line in enumerate(log.lines, 1) if n not in logged)


def reject_if_out_of_scope(
    request: str, materials: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Escalate a request that is not for support; None if it is."""
    if find_human_decisions(request) or read_log("the request", request).failures:
        return None
    pages = [text for name, text in (materials or {}).items() if not is_log(name, text)]
    return (
        escalate_out_of_scope(OUT_OF_SCOPE_MESSAGE)
        if find_foreign_words(remove_pasted_log(request), load_wording().vocabulary, pages)
        else None
    )


def escalate_human_decisions(request: str) -> dict[str, Any] | None:
    """Route a request to the escalator if a human must decide; None otherwise."""
    found = find_human_decisions(request)
    if not found:
        return None
    named = "; ".join(f'{name} ("{words}")' for name, words in found.items())
    return escalate_out_of_scope(f"a human decides this, so it is for the escalator: {named}")
