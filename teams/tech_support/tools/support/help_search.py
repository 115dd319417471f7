"""Search the help documents by the words of a request and by the errors of its logs."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nodes.errors import ToolFailed
from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms
from nodes.text.word_forms import is_generic, is_verb
from nodes.tools.documents.folder import describe_unread
from nodes.tools.documents.index import PassageIndex
from nodes.tools.documents.library import DocumentLibrary
from nodes.tools.documents.passages import Passage
from nodes.tools.framework.out_of_scope import escalate_out_of_scope

from .error_kinds import list_error_kinds
from .human_decisions import remove_pasted_log
from .log import find_logs, is_log, read_log
from .log_diagnosis import redact_as_code
from .request_wording import load_wording

MAX_CANDIDATES: Final = 20
MAX_PASSAGES: Final = 3
MAX_ERRORS: Final = 5
MAX_NAMES: Final = 5
MAX_PASSAGE_CHARS: Final = 1200
MIN_COVERAGE: Final = 0.4
"""Share of what a question asks for, by the rarity of its words, that a passage must have."""
MIN_ERROR_COVERAGE: Final = 0.3
"""The same for an error, of which half is often the name of a file or a number."""
MIN_SHARE_OF_BEST: Final = 0.6
CONFIDENCE: Final = 85

_WORD = Pattern(r"[^\W_][\w.\-]*[^\W_]|[^\W\d_]")
_LINK_IN_BRACKETS = Pattern(r"\([^()]*https?://[^()]*\)")
_PACKAGE_PREFIX = Pattern(r"(?<![\w.])(?:[A-Za-z_]\w*+\.){1,20}(?=[A-Z])")
_PROPER_NAME = Pattern(r"(?<=[a-z,] )[A-Z][\w-]*[\w]")
_LINE_MARKER = Pattern(r"\A(?:(?:[-*#>]+|\d{1,3}[.)])\s+)+")
"""Start of a list, a heading or a quotation."""
_SENTENCE_BREAK = Pattern(r"(?<=[.!?:])\s+|\n+")


@dataclass(frozen=True)
class PassageMatch:
    """A passage, and how much of the question it covers."""

    passage: Passage
    coverage: float
    quote: str
    body: str
    """The part of it that is shown."""


async def search_help_documents(
    library: DocumentLibrary, request: str, query: str, materials: Mapping[str, str] | None
) -> dict[str, Any]:
    """Answer from the help documents, or escalate what they do not cover."""
    held = materials or {}
    pages = await asyncio.to_thread(_select_pages, held)
    index, skipped, read = await library.get_index(pages)
    unread = describe_unread(skipped)
    if not read and unread:
        raise ToolFailed(f"no help document could be read: {unread}")
    if not read:
        return escalate_out_of_scope(
            "there are no help documents to answer from, which come with "
            "--file or SUPERVISE_DOCUMENTS"
        )
    return await asyncio.to_thread(
        _build_report,
        index,
        request,
        query,
        held,
        [f"Not read: {unread}"] * bool(unread),
    )


def _select_pages(held: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in held.items() if not is_log(name, text)}


def _build_report(
    index: PassageIndex, request: str, query: str, held: Mapping[str, str], gaps: list[str]
) -> dict[str, Any]:
    asked = remove_pasted_log(f"{request}\n{query}")
    found = _find_best_passages(index, asked)
    errors = (
        _list_errors(request, held) if not found or load_wording().failure.search(asked) else []
    )
    for error in errors:
        about = _find_best_passages(index, error, MIN_ERROR_COVERAGE)[:1]
        found += [one for one in about if one.passage not in [each.passage for each in found]]
        if not about:
            gaps.append(f"The help documents say nothing on {redact_as_code(error)}")
    if not found:
        on = ", ".join(list(dict.fromkeys(_select_keywords(asked)))[:8]) or "it"
        return escalate_out_of_scope(
            "; ".join([f"the help documents say nothing on this ({on})", *gaps])
        )
    kept = found[: MAX_PASSAGES + len(errors)]
    if unnamed := _find_unnamed(request, kept):
        gaps.append(f"The passages found do not mention {', '.join(unnamed)}")
    return {
        "summary": "\n\n".join(_format_passage(each) for each in kept),
        "claims": [_build_claim(each) for each in kept],
        "gaps": gaps,
    }


def _find_unnamed(request: str, found: Sequence[PassageMatch]) -> list[str]:
    """Return the names in a request that none of the passages has."""
    told = " ".join(f"{each.passage.place} {each.passage.text}" for each in found).lower()
    named = dict.fromkeys(_PROPER_NAME.findall(remove_pasted_log(request)))
    return [name for name in named if name.lower() not in told][:MAX_NAMES]


def _list_errors(request: str, held: Mapping[str, str]) -> list[str]:
    """Return the errors of the logs that came with a request, including root causes."""
    logs = [read_log("the request", request), *find_logs(held)]
    said = [
        _PACKAGE_PREFIX.sub(
            "", _LINK_IN_BRACKETS.sub("", " < ".join(dict.fromkeys((each.title, each.root_title))))
        )
        for log in logs
        if log.failures or log.name != "the request"
        for each in list_error_kinds(log)[:MAX_ERRORS]
    ]
    return list(dict.fromkeys(said))[:MAX_ERRORS]


def _find_best_passages(
    index: PassageIndex, asked: str, least: float = MIN_COVERAGE
) -> list[PassageMatch]:
    words = _select_keywords(asked)
    hits = index.search(" ".join(words), MAX_CANDIDATES)
    passages = [hit.passage for hit in hits]
    wanted = extract_terms(" ".join(words))
    held = [extract_terms(f"{each.place} {each.text}") for each in passages]
    weights = _weigh_terms(wanted, held)
    total = sum(weights.values()) or 1.0
    ranked = sorted(
        (
            PassageMatch(
                passage,
                sum(weights[t] for t in wanted & has) / total,
                _choose_quote(passage, weights),
                _choose_paragraphs(passage, weights),
            )
            for passage, has in zip(passages, held, strict=True)
        ),
        key=lambda one: -one.coverage,
    )
    least = max(least, MIN_SHARE_OF_BEST * ranked[0].coverage) if ranked else least
    return [one for one in ranked if one.coverage >= least][:MAX_PASSAGES]


def _select_keywords(text: str) -> list[str]:
    """Return the words that identify the subject of a text."""
    words = [word.lower() for word in _WORD.findall(text)]
    named = [word for word in words if not is_generic(word)]
    return [word for word in named if not is_verb(word)] or named


def _weigh_terms(wanted: Iterable[str], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh words by how few passages have them; a word in none counts as in one."""
    counts = Counter(term for has in held for term in has)
    return {term: math.log(1 + (len(held) + 1) / (max(counts[term], 1) + 0.5)) for term in wanted}


def _choose_quote(passage: Passage, weights: Mapping[str, float]) -> str:
    """Return the sentence that covers most of the question."""
    parts = [
        part.strip() for part in _SENTENCE_BREAK.split(_get_body(passage)) if len(part.strip()) > 20
    ]
    return max(
        parts or [passage.text[:200].strip()],
        key=lambda part: sum(weights.get(term, 0.0) for term in extract_terms(part)),
    )


def _choose_paragraphs(passage: Passage, weights: Mapping[str, float]) -> str:
    """Return the relevant paragraphs of a page without headings."""
    paragraphs = _get_body(passage).split("\n\n")
    if passage.place or len(paragraphs) < 2:
        return _get_body(passage)
    held = [sum(weights.get(term, 0.0) for term in extract_terms(part)) for part in paragraphs]
    least = MIN_SHARE_OF_BEST * max(held)
    return "\n\n".join(p for p, has in zip(paragraphs, held, strict=True) if has >= least)


def _get_body(passage: Passage) -> str:
    first, _, rest = passage.text.partition("\n")
    return rest.strip() if first.startswith("#") and rest.strip() else passage.text


def _format_passage(found: PassageMatch) -> str:
    body, place = found.body, f", {found.passage.place}" if found.passage.place else ""
    cut = body if len(body) <= MAX_PASSAGE_CHARS else f"{body[:MAX_PASSAGE_CHARS].rstrip()} …"
    lines = "\n".join(f"> {line}".rstrip() for line in cut.splitlines())
    return f"**{found.passage.source}{place}**\n\n{lines}"


def _build_claim(found: PassageMatch) -> dict[str, Any]:
    text = " ".join(_LINE_MARKER.sub("", found.quote).split()) or found.quote
    return {
        "text": text[:400],
        "source": found.passage.source,
        "quote": found.quote[:400],
        "confidence": CONFIDENCE,
    }
