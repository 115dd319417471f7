"""Makes Markdown safe to show: pictures become links, and HTML becomes text.

A viewer loads pictures automatically, so a picture's address could leak what a model has read.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from nodes.limits.patterns import Pattern

if TYPE_CHECKING:  # most answers are shown without a parser
    from markdown_it.token import Token

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
