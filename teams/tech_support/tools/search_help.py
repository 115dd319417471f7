"""Answer from the product's help documents, for a question and for the errors of logs."""

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from langchain_core.tools import BaseTool, tool
from pydantic import Field

from extensions.tools.documents.index import STOP_WORDS, PassageIndex
from extensions.tools.documents.library import describe_unread, get_library
from extensions.tools.documents.passages import Passage
from extensions.tools.logs.reader import is_log, read_log
from nodes.errors import NothingToRead, ToolFailed
from nodes.limits.patterns import Pattern
from nodes.text.terms import extract_terms
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_report import ToolReport, escalate_out_of_scope

from .support.log_diagnosis import ErrorKind, list_error_kinds, redact_as_code

MAX_CANDIDATES: Final = 20
MAX_PASSAGES: Final = 3
MAX_ERRORS: Final = 5
MAX_PASSAGE_CHARS: Final = 1200
MIN_COVERAGE: Final = 0.5
"""Share of what a question asks for, by the rarity of its words, that a passage must have."""
MIN_ERROR_COVERAGE: Final = 0.3
"""The same for an error, of which half is often the name of a file or a number."""
MIN_SHARE_OF_BEST: Final = 0.6
MIN_SHARED_TERMS: Final = 2
"""Terms of an error in a question from which the question is about the error."""
_LIGHT_VERBS: Final = (
    "come could get go make many may mean much must need off out set should take turn up use using "
    "used want work would"
)
_LIGHT_WORDS: Final = STOP_WORDS | frozenset(_LIGHT_VERBS.split())
"""Words of a question that say little on what it is about."""

_LINE_MARKER = Pattern(r"\A(?:(?:[-*#>]+|\d{1,3}[.)])\s+)+")
"""Start of a list, a heading or a quotation."""
_IN_LOGS = Pattern(
    r"\b(?:logs?(?! (?:in|into|on|out|off)\b)|log ?files?|errors?|exceptions?|tracebacks?"
    r"|stack ?traces?)\b"
)
_SENTENCE_BREAK = Pattern(r"(?<=[.!?:])\s+|\n+")


class PassageMatch(NamedTuple):
    """A passage, and how much of the question it and its heading cover."""

    passage: Passage
    coverage: float
    heading_coverage: float
    quotation: str


def find_best_passages(
    index: PassageIndex, asked: str, least: float = MIN_COVERAGE
) -> list[PassageMatch]:
    """Return the passages that cover a question by the rarity of its words, the best first.

    What a heading covers counts twice. A word that no passage has counts as if one had it.
    """
    words = [word for word in Pattern(r"\w+").findall(asked.lower()) if word not in _LIGHT_WORDS]
    passages = [hit.passage for hit in index.search(" ".join(words), MAX_CANDIDATES)]
    held = [extract_terms(f"{each.place} {each.text}") for each in passages]
    counts = Counter(term for has in held for term in has)
    terms = extract_terms(" ".join(words))
    weights = {t: math.log(1 + (len(held) + 1) / (max(counts[t], 1) + 0.5)) for t in terms}
    total = sum(weights.values()) or 1.0
    found = [
        PassageMatch(
            each,
            _sum(weights, f"{each.place} {each.text}") / total,
            _sum(weights, each.place) / total,
            _choose_quote(each, weights),
        )
        for each in passages
    ]
    best = max((one.coverage for one in found), default=0.0)
    kept = [one for one in found if one.coverage >= max(least, MIN_SHARE_OF_BEST * best)]
    return sorted(kept, key=lambda one: -one.coverage - one.heading_coverage)[:MAX_PASSAGES]


def list_log_errors(
    materials: Mapping[str, str], query: str, *, is_asked: bool = False
) -> list[str]:
    """Return the errors of the logs, with root causes; none if a query is about something else.

    Args:
        is_asked: the task is about the errors, whatever the query names.
    """
    logs = [read_log(name, text) for name, text in materials.items() if is_log(name, text)]
    kinds = [each for log in logs for each in list_error_kinds(log)[:MAX_ERRORS]]
    named = bool(_IN_LOGS.search(query.lower())) or any(log.name in query for log in logs)
    if not (is_asked or named or any(_is_named_in(query, each) for each in kinds)):
        return []
    titles = (" < ".join(dict.fromkeys((each.title, each.root_title))) for each in kinds)
    return list(dict.fromkeys(titles))[:MAX_ERRORS]


def _is_named_in(query: str, kind: ErrorKind) -> bool:
    """Return whether a query names what an error is about: a part of it is one word by chance."""
    said = f"{kind.title} {kind.announcement}".replace("_", " ")
    terms = extract_terms(query) - extract_terms(" ".join(_LIGHT_WORDS))
    return len(terms & extract_terms(said)) >= MIN_SHARED_TERMS


def build_report(index: PassageIndex, query: str, errors: Sequence[str]) -> ToolReport:
    """Return the passages on a query and on each error; without claims if there are none."""
    reply, found = ToolReport(), find_best_passages(index, query)
    if not found:
        reply.gaps.append(f"the help documents say nothing on this: {redact_as_code(query)}")
    for error in errors:
        about = find_best_passages(index, error, MIN_ERROR_COVERAGE)[:1]
        found += [one for one in about if one.passage not in [each.passage for each in found]]
        if not about:
            reply.gaps.append(f"The help documents say nothing on {redact_as_code(error)}")
    for one in found:
        reply.lines.append(_format_passage(one.passage) + "\n")
        text = " ".join(_LINE_MARKER.sub("", one.quotation).split()) or one.quotation
        reply.add_claim(text[:400], one.passage.source, one.quotation[:400])
    return reply


def _sum(weights: Mapping[str, float], text: str) -> float:
    return sum(weights.get(term, 0.0) for term in extract_terms(text))


def _choose_quote(passage: Passage, weights: Mapping[str, float]) -> str:
    """Return the sentence that covers most of the question."""
    parts = [part.strip() for part in _SENTENCE_BREAK.split(_get_body(passage))]
    long = [part for part in parts if len(part) > 20] or [passage.text[:200].strip()]
    return max(long, key=lambda part: _sum(weights, part))


def _get_body(passage: Passage) -> str:
    first, _, rest = passage.text.partition("\n")
    return rest.strip() if first.startswith("#") and rest.strip() else passage.text


def _format_passage(passage: Passage) -> str:
    body, place = _get_body(passage), f", {passage.place}" if passage.place else ""
    cut = body if len(body) <= MAX_PASSAGE_CHARS else f"{body[:MAX_PASSAGE_CHARS].rstrip()} …"
    lines = "\n".join(f"> {line}".rstrip() for line in cut.splitlines())
    return f"**{passage.source}{place}**\n\n{lines}"


ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_QUERY_CHARS = 2000
NO_DOCUMENTS = (
    "there are no help documents. Attach them (on the command line: --file), or name their folder "
    "(setting: SUPERVISE_DOCUMENTS): without them, only a language model or a human can explain it"
)


def search_help(settings: ToolSettings) -> BaseTool:
    """Build the search over help documents: the files of the run, and `settings.documents`."""
    library = get_library(settings.documents)

    @tool("search_help")
    async def search(
        query: Annotated[
            str,
            Format("query"),
            Field(
                description="The words that a page on it would contain",
                max_length=MAX_QUERY_CHARS,
            ),
        ],
        with_log_errors: Annotated[
            bool,
            Field(
                description="Whether the question is about the errors of the logs among the files, "
                "which are then looked up too"
            ),
        ] = False,
        materials: Materials = None,
    ) -> dict[str, Any]:
        """Find what the help documents say: passages with their page and heading.

        Logs are not searched, but the errors in them can be looked up. Where no passage is on the
        question, the answer is an escalation.
        Example: search_help(query="size of the connection pool")
        """
        held = materials or {}
        index, skipped, read = await library.get_index(await asyncio.to_thread(_select_pages, held))
        unread = describe_unread(skipped)
        if not read and unread:
            raise ToolFailed(f"no help document could be read: {unread}")
        if not read:
            raise NothingToRead(NO_DOCUMENTS)
        errors = await asyncio.to_thread(list_log_errors, held, query, is_asked=with_log_errors)
        report = await asyncio.to_thread(build_report, index, query, errors)
        if not report.claims:
            return escalate_out_of_scope("; ".join(report.gaps))
        report.gaps += [f"Not read: {unread}"] * bool(unread)
        return report.to_json()

    return search


def _select_pages(held: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in held.items() if not is_log(name, text)}
