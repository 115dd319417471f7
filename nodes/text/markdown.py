"""An answer as Markdown, and Markdown that is safe to show: pictures become links, HTML text.

A viewer loads pictures automatically, so a picture's address could leak what a model has read.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from nodes.limits.patterns import Pattern

if TYPE_CHECKING:  # most answers are shown without a parser
    from markdown_it.token import Token

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nodes.text.phrases import DEFAULT_LANGUAGE, PHRASES, say
from nodes.text.plain_text import to_one_line

MAX_PARSED_CHARS: Final = 200_000
"""In a longer text code blocks are escaped too, since finding them would take too long."""
_ACTIVE_SYNTAX: Final = Pattern(r"!\[|<[A-Za-z/!?]")
_UNESCAPED_SYNTAX: Final = Pattern(r"(?<!\\)((?:\\\\)*+)(!(?=\[)|<(?=[A-Za-z/!?]))")
_ACTIVE_TOKENS: Final = frozenset(("image", "html_inline", "html_block"))
_CODE_TOKENS: Final = frozenset(("fence", "code_block"))


def escape_active_markdown(markdown: str) -> str:
    """Return Markdown without pictures and HTML; code blocks are unchanged."""
    if not _ACTIVE_SYNTAX.search(markdown):
        return markdown
    if len(markdown) > MAX_PARSED_CHARS:
        return _escape_lines(markdown, code=())
    tokens = _parse_markdown(markdown)
    if not _has_active_tokens(tokens):
        return markdown
    changed = _escape_lines(markdown, code=set(_list_code_lines(tokens)))
    # Escaped HTML may change where code blocks begin.
    return (
        _escape_lines(markdown, code=())
        if _has_active_tokens(_parse_markdown(changed))
        else changed
    )


def find_active_markdown(markdown: str) -> int:
    """Return where the first picture or HTML may begin; the length where there is none."""
    found = _ACTIVE_SYNTAX.search(markdown)
    return found.start() if found else len(markdown)


def _parse_markdown(markdown: str) -> "list[Token]":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").parse(markdown)


def _has_active_tokens(tokens: "Iterable[Token]") -> bool:
    return any(
        token.type in _ACTIVE_TOKENS or _has_active_tokens(token.children or ()) for token in tokens
    )


def _list_code_lines(tokens: "Iterable[Token]") -> Iterator[int]:
    for token in tokens:
        if token.type in _CODE_TOKENS and token.map:
            yield from range(*token.map)


def _escape_lines(markdown: str, *, code: Collection[int]) -> str:
    lines = enumerate(markdown.split("\n"))
    return "\n".join(
        line if number in code else _UNESCAPED_SYNTAX.sub(r"\1\\\2", line) for number, line in lines
    )


Json = Mapping[str, Any]
MAX_SOURCES_CHARS = 8000
"""Limit for the places named in one document."""
PROOFS: Final = ("quoted", "computed", "returned", "stated", "unproved")
PASSAGES_STATUSES: Final = tuple(
    f"**{say(language, 'status')}:** {say(language, 'status_passages')}" for language in PHRASES
)
"""The last line of a chat message that only quotes, in each language."""


def format_answer(answer: Json) -> str:
    """Return an answer as Markdown, with its sources, gaps and confidence below.

    A gap that its text states is not repeated. There is no confidence where no model judged. The
    headings are in the answer's language.
    """
    word = partial(say, str(answer.get("language") or DEFAULT_LANGUAGE))
    text = str(answer.get("text", "")).strip()
    parts = [text]
    if findings := answer.get("findings"):
        lines = [_format_finding(each, word) for each in findings]
        parts.append(_format_list(word("findings"), lines))
    if sources := answer.get("sources"):
        parts.append(_format_list(word("sources"), _group_by_document(sources), MAX_SOURCES_CHARS))
    if proofs := _count_proofs(answer.get("claims") or (), word):
        parts.append(f"**{word('proof')}:** {proofs}")
    if contradictions := answer.get("contradictions"):
        lines = [_format_contradiction(each, word) for each in contradictions]
        parts.append(_format_list(word("contradictions"), lines))
    said = {line.strip("-* ") for line in text.splitlines()}
    if gaps := [gap for gap in answer.get("gaps") or () if " ".join(gap.split()) not in said]:
        parts.append(_format_list(word("gaps"), gaps))
    if confidence := _format_confidence(answer, word):
        parts.append(f"**{word('confidence')}:** {confidence}")
    return "\n\n".join(parts)


def _format_confidence(answer: Json, word: Callable[..., str]) -> str:
    """Return an answer's confidence, with the tasks it rests on whose confidence is unknown.

    It is empty where no model was there that could have given one.
    """
    confidence, unrated = answer.get("confidence"), answer.get("unrated") or ()
    if confidence is None:
        return word("confidence_unknown") if unrated else ""
    known = word("confidence_of", confidence=confidence)
    tasks = ", ".join(map(str, unrated))
    return f"{known}, {word('confidence_unknown_for', tasks=tasks)}" if tasks else known


def _count_proofs(claims: Iterable[Json], word: Callable[..., str]) -> str:
    """Return how many claims have which proof; empty where none was looked for."""
    counts = Counter(claim.get("proof") for claim in claims)
    return ", ".join(f"{counts[kind]} {word(kind)}" for kind in PROOFS if counts[kind])


def _format_list(title: str, items: Iterable[Any], max_chars: int = 1000) -> str:
    return "\n".join([f"**{title}**", "", *(f"- {to_one_line(item, max_chars)}" for item in items)])


def _group_by_document(sources: Iterable[Any]) -> Iterator[str]:
    """Yield each document once, with the places in it that sources name after a `#`."""
    places: dict[str, list[str]] = {}
    for source in map(str, sources):
        document, _, place = source.partition("#")
        places.setdefault(document, []).append(place)
    for document, named in places.items():
        known = list(filter(None, named))
        if len(known) > 1:
            yield f"{document}: {', '.join(known)}"
        else:
            yield "#".join([document, *known])


def _format_finding(finding: Json, word: Callable[..., str]) -> str:
    place = ":".join(str(finding[key]) for key in ("file", "line") if finding.get(key))
    shown = f"`{place}` " if place else ""
    text = f"**{finding.get('severity', '')}** {shown}{finding.get('message', '')}"
    is_unknown = "confidence" in finding and finding["confidence"] is None
    note = word("finding_confidence_unknown") if is_unknown else ""
    return " ".join(filter(None, [text, finding.get("suggestion"), note]))


def _format_contradiction(contradiction: Json, word: Callable[..., str]) -> str:
    sides = " / ".join(
        f"{claim.get('text', '')} ({claim.get('source') or word('no_source')})"
        for claim in contradiction.get("claims", ())
    )
    verdict = contradiction.get("verdict")
    return f"{contradiction.get('subject', '')}: {sides}{f' · {verdict}' if verdict else ''}"
