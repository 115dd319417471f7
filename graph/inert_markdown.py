"""Markdown that loads nothing where it is shown: pictures become links, and HTML becomes text.

A viewer loads a picture by itself, so that its address can carry away what a model has read.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from nodes.limits.patterns import Pattern

if TYPE_CHECKING:  # most answers are shown without a parser
    from markdown_it.token import Token

MAX_PARSED_CHARS: Final = 200_000
"""Of a longer text the code is changed too: finding it would take too long."""
_LOADING: Final = Pattern(r"!\[|<[A-Za-z/!?]")
_UNESCAPED: Final = Pattern(r"(?<!\\)((?:\\\\)*+)(!(?=\[)|<(?=[A-Za-z/!?]))")
_ACTIVE: Final = frozenset(("image", "html_inline", "html_block"))
_CODE: Final = frozenset(("fence", "code_block"))


def inert(markdown: str) -> str:
    """Return Markdown without pictures and HTML; blocks of code stay as they are."""
    if not _LOADING.search(markdown):
        return markdown
    if len(markdown) > MAX_PARSED_CHARS:
        return _escaped(markdown, code=())
    tokens = _parsed(markdown)
    if not _is_active(tokens):
        return markdown
    changed = _escaped(markdown, code=set(_code_lines(tokens)))
    # What was HTML may have hidden where code begins.
    return _escaped(markdown, code=()) if _is_active(_parsed(changed)) else changed


def _parsed(markdown: str) -> "list[Token]":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").parse(markdown)


def _is_active(tokens: "Iterable[Token]") -> bool:
    return any(token.type in _ACTIVE or _is_active(token.children or ()) for token in tokens)


def _code_lines(tokens: "Iterable[Token]") -> Iterator[int]:
    for token in tokens:
        if token.type in _CODE and token.map:
            yield from range(*token.map)


def _escaped(markdown: str, *, code: Collection[int]) -> str:
    lines = enumerate(markdown.split("\n"))
    return "\n".join(
        line if number in code else _UNESCAPED.sub(r"\1\\\2", line) for number, line in lines
    )
