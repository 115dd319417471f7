"""The new lines of a hunk, while they are being repaired to parse."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodes.limits.patterns import Pattern

from .scan import Statement

BLOCK_OPENING = Pattern(r":\s*(?:#.*)?$")
"""The end of a line that begins a block."""


@dataclass(frozen=True)
class SourcePiece:
    """Lines with their numbers, while they are being repaired to parse."""

    lines: Sequence[str]
    numbers: Sequence[int]
    section: str = ""
    cut_lines: frozenset[int] = frozenset()
    omitted_count: int = 0
    """Statements that did not parse."""

    def with_head(self, head: Sequence[str]) -> "SourcePiece":
        numbers = [*([0] * len(head)), *self.numbers]
        return replace(self, lines=[*head, *self.lines], numbers=numbers)

    def with_tail(self, tail: Sequence[str]) -> "SourcePiece":
        numbers = [*self.numbers, *([0] * len(tail))]
        return replace(self, lines=[*self.lines, *tail], numbers=numbers)

    def with_cut(self, first: int, last: int) -> "SourcePiece":
        """Mark a statement of which only a part is known."""
        cut = self.cut_lines | frozenset(self.numbers[first : last + 1])
        return replace(self, cut_lines=cut)

    def without_statement(self, statement: Statement) -> "SourcePiece":
        """Leave a statement out; one that begins a block still begins it."""
        lines, numbers = list(self.lines), list(self.numbers)
        is_block = BLOCK_OPENING.search(lines[statement.last]) is not None
        for at in range(statement.first, statement.last + 1):
            lines[at], numbers[at] = "", 0
        lines[statement.first] = statement.indent + ("if True:" if is_block else "pass")
        return replace(self, lines=lines, numbers=numbers, omitted_count=self.omitted_count + 1)

    def open_string(self, quote: str) -> "SourcePiece | None":
        """Open the string that may contain the first line; None if no string ends."""
        if not quote:
            return self
        inside = next((at for at, line in enumerate(self.lines) if quote in line), None)
        if inside is None:
            return None
        end = self.lines[inside]
        line = end if end.lstrip().startswith(quote) else self.find_next_line(inside + 1) or end
        return self.with_cut(0, inside).with_head([get_indentation(line) + quote])

    def find_next_line(self, start: int) -> str:
        """Return the first non-blank line from a place on; empty if there is none."""
        return next((line for line in self.lines[start:] if line.strip()), "")


def get_indentation(line: str) -> str:
    """Return the leading white space of a line."""
    return line[: len(line) - len(line.lstrip())]
