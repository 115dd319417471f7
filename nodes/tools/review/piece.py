"""Lines of the new side of a hunk, on their way to text that parses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nodes.limits.patterns import Pattern
from nodes.tools.review.scan import Statement

BLOCK = Pattern(r":\s*(?:#.*)?$")
"""The end of a line that opens a block."""


@dataclass(frozen=True)
class Piece:
    """Lines with their numbers, on the way to text that parses."""

    lines: Sequence[str]
    numbers: Sequence[int]
    section: str = ""
    cut: frozenset[int] = frozenset()
    left_out: int = 0
    """Statements that did not parse."""

    def with_head(self, head: Sequence[str]) -> "Piece":
        numbers = [*([0] * len(head)), *self.numbers]
        return replace(self, lines=[*head, *self.lines], numbers=numbers)

    def with_tail(self, tail: Sequence[str]) -> "Piece":
        numbers = [*self.numbers, *([0] * len(tail))]
        return replace(self, lines=[*self.lines, *tail], numbers=numbers)

    def with_cut(self, first: int, last: int) -> "Piece":
        """Mark a statement of which only a part is known."""
        cut = self.cut | frozenset(self.numbers[first : last + 1])
        return replace(self, cut=cut)

    def without(self, statement: Statement) -> "Piece":
        """Leave a statement out; one that opens a block goes on opening it."""
        lines, numbers = list(self.lines), list(self.numbers)
        is_block = BLOCK.search(lines[statement.last]) is not None
        for at in range(statement.first, statement.last + 1):
            lines[at], numbers[at] = "", 0
        lines[statement.first] = statement.indent + ("if True:" if is_block else "pass")
        return replace(self, lines=lines, numbers=numbers, left_out=self.left_out + 1)

    def begun(self, quote: str) -> "Piece | None":
        """Open the string that the first line may stand in; None where none ends."""
        if not quote:
            return self
        inside = next((at for at, line in enumerate(self.lines) if quote in line), None)
        if inside is None:
            return None
        end = self.lines[inside]
        line = end if end.lstrip().startswith(quote) else self.after(inside + 1) or end
        return self.with_cut(0, inside).with_head([indentation(line) + quote])

    def after(self, start: int) -> str:
        """Give the first line from a place on that is not blank; empty where there is none."""
        return next((line for line in self.lines[start:] if line.strip()), "")


def indentation(line: str) -> str:
    """Give the white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
