"""What a request is about: matters that a person decides, and what is no request for support."""

from collections.abc import Mapping
from typing import Any, Final

from nodes.tools.plain_text import plain_line
from nodes.tools.scope import foreign, out_of_scope
from nodes.tools.secrets import masked
from nodes.tools.support.log import is_log, read_log
from nodes.tools.support.wording import wording

ASKS_FOR_A_PERSON: Final = "asks for a person"
MAX_WORDS_CHARS: Final = 60
MIN_PASTED: Final = 3
"""Lines with a time or a level, for a request to hold a log."""
ELSEWHERE: Final = (
    "this desk answers requests for support of a product; the request asks for something else"
)


def matters(request: str) -> dict[str, str]:
    """Give the matters of a request that a person decides, each with the words that say so."""
    spoken = prose(request)
    hits = {name: pattern.search(spoken) for name, pattern in wording().matters.items()}
    return {name: plain_line(masked(hit[0]), MAX_WORDS_CHARS) for name, hit in hits.items() if hit}


def prose(request: str) -> str:
    """Give what a request says in words, without a log that was pasted into it."""
    log = read_log("the request", request)
    if not log.failures and len(log.entries) < MIN_PASTED:
        return request
    logged = {n for each in log.failures for n in range(each.first, each.last + 1)}
    logged |= {entry.number for entry in log.entries}
    return "\n".join(line for n, line in enumerate(log.lines, 1) if n not in logged)


def aside(request: str, materials: Mapping[str, str] | None) -> dict[str, Any] | None:
    """Hand back a request that is none for support; None when it is one."""
    if matters(request) or read_log("the request", request).failures:
        return None
    pages = [text for name, text in (materials or {}).items() if not is_log(name, text)]
    return out_of_scope(ELSEWHERE) if foreign(prose(request), wording().vocabulary, pages) else None


def handed_over(request: str) -> dict[str, Any] | None:
    """Hand a request to the escalator that a person must decide; None when none need."""
    found = matters(request)
    if not found:
        return None
    named = "; ".join(f'{name} ("{words}")' for name, words in found.items())
    return out_of_scope(f"a person decides this, so it is for the escalator: {named}")
