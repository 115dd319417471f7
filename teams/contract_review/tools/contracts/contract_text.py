"""A contract's text as written and as searched, with the same offsets in both."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from .noise import Span, find_noise

MAX_CHARS = 2_000_000
_SIGN_REPLACEMENTS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u2032`\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\t", " ")
    | dict.fromkeys("\f\v\r\x85\u2028\u2029", "\n")
)


@dataclass(frozen=True)
class ContractText:
    """A text, and its normalized form: offsets in one are offsets in the other."""

    raw: str

    @cached_property
    def clean(self) -> str:
        """Return the text with one kind of quote, dash and space, and noise replaced by spaces."""
        text = self.raw.translate(_SIGN_REPLACEMENTS)
        parts, at = list[str](), 0
        for start, end in find_noise(text):
            parts += [text[at:start], " " * (end - start)]
            at = end
        return "".join([*parts, text[at:]])

    @cached_property
    def lowercase(self) -> str:
        """Return the clean text in lower case; a letter that would grow longer is kept."""
        return "".join(low if len(low := c.lower()) == 1 else c for c in self.clean)

    @cached_property
    def _line_breaks(self) -> list[int]:
        return [at for at, char in enumerate(self.raw) if char == "\n"]

    def find_line_number(self, at: int) -> int:
        """Return the number of the line that contains an offset, from 1."""
        return bisect_right(self._line_breaks, at - 1) + 1

    def trim_span(self, start: int, end: int) -> Span:
        """Remove the spaces at both ends of a span."""
        text = self.clean[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def format_on_one_line(self, start: int, end: int) -> str:
        """Return a span's words on one line, for display."""
        return " ".join(self.raw[start:end].split())
