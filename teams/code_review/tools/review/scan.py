"""Scan Python that need not parse: statements, brackets and strings."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern

CLOSER_BY_OPENER = {"(": ")", "[": "]", "{": "}"}
MAX_BACKSLASHES = 100
"""Characters before a quote that decide whether it is escaped."""
OPENER_BY_CLOSER = {closer: opener for opener, closer in CLOSER_BY_OPENER.items()}

_TOKEN = Pattern(
    r'(?P<triple>"""|\'\'\')'
    r'|(?P<string>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<continued>\\\n)"
    r"|(?P<bracket>[()\[\]{}])"
    r"|(?P<end>\n)"
)


@dataclass(frozen=True)
class Statement:
    """A logical line: the physical lines `first` to `last`, both counted from 0."""

    first: int
    last: int
    indent: str
    text: str
    """Its first line, without indentation."""


@dataclass(frozen=True)
class SourceScan:
    """The statements of a piece of source, as far as brackets and quotes show them."""

    statements: tuple[Statement, ...]
    unopened: str
    """Closing brackets that nothing in the piece opens, in their order."""
    closes_at: int
    """Line of the last of them; -1 if there is none."""
    unclosed: str
    """Opening brackets that nothing closes."""
    open_quote: str
    """The quotes of a string that continues beyond the end."""


def scan_source(lines: Sequence[str]) -> SourceScan:
    """Find the logical lines; the piece is assumed to begin outside any string."""
    reader = _SourceScanner(lines)
    reader.scan()
    statements = [statement for statement in reader.statements if statement is not None]
    return SourceScan(
        tuple(statements),
        reader.unopened,
        reader.closes_at,
        "".join(reader.stack),
        reader.open_quote,
    )


class _SourceScanner:
    """Scans a piece token by token."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.text = lines, "\n".join(lines) + "\n"
        self.unopened, self.closes_at, self.open_quote = "", -1, ""
        self.stack = list[str]()
        self.statements = list[Statement | None]()
        self._first = self._line = 0

    def scan(self) -> None:
        at = 0
        while found := _TOKEN.search(self.text, at):
            at = found.end()
            match found.lastgroup:
                case "triple":
                    at = self._skip_string(at, found.group())
                case "bracket":
                    self._match_bracket(found.group())
                case "continued":
                    self._line += 1
                case "end":
                    self._end_line()
        self.statements.append(_build_statement(self.lines, self._first, len(self.lines) - 1))

    def _skip_string(self, at: int, quote: str) -> int:
        """Skip to the end of a string; to the end of the text if it is not closed."""
        ends = _find_string_end(self.text, at, quote)
        self.open_quote = "" if ends >= 0 else quote
        ends = ends if ends >= 0 else len(self.text)
        self._line += self.text.count("\n", at, ends)
        return ends

    def _match_bracket(self, bracket: str) -> None:
        if bracket in CLOSER_BY_OPENER:
            self.stack.append(bracket)
        elif self.stack and CLOSER_BY_OPENER[self.stack[-1]] == bracket:
            self.stack.pop()
        elif not self.stack:
            self.unopened, self.closes_at = self.unopened + bracket, self._line

    def _end_line(self) -> None:
        self._line += 1
        if not self.stack:
            self.statements.append(_build_statement(self.lines, self._first, self._line - 1))
            self._first = self._line


def _find_string_end(text: str, at: int, quote: str) -> int:
    """Return where a string that began before `at` ended; -1 if it has not."""
    while (ends := text.find(quote, at)) >= 0:
        before = text[max(0, ends - MAX_BACKSLASHES) : ends]
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return ends + len(quote)
        at = ends + 1
    return -1


def _build_statement(lines: Sequence[str], first: int, last: int) -> Statement | None:
    """Build a statement of lines, unless all are blank or comments."""
    while first <= last and lines[first].lstrip()[:1] in ("", "#"):
        first += 1
    if first > last:
        return None
    line = lines[first]
    text = line.lstrip()
    return Statement(first, last, line[: len(line) - len(text)], text)
