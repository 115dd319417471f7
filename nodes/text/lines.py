"""Lines of a text by number, ranges of them, and the parts of a long text that have lines."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line

MAX_LINE_CHARS = 4_000
"""A longer line counts as several, so that it can be read in parts."""

MAX_SHOWN_RANGES = 5
LineRange = tuple[int, int]
"""The first line and the last."""


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; a very long line is divided into several."""
    return [part for line in text.removesuffix("\n").split("\n") for part in divide_line(line)]


def divide_line(line: str) -> list[str]:
    """Return the parts of a line that count as lines."""
    if len(line) <= MAX_LINE_CHARS:
        return [line]
    starts = range(0, len(line), MAX_LINE_CHARS)
    return [line[start : start + MAX_LINE_CHARS] for start in starts]


def count_fitting_lines(lines: Sequence[str], max_chars: int) -> int:
    """Return how many lines from the beginning have at most this many characters together."""
    used = 0
    for number, line in enumerate(lines):
        used += len(line) + 1
        if used - 1 > max_chars:
            return number
    return len(lines)


def list_missing_ranges(ranges: Iterable[LineRange], last: int) -> list[LineRange]:
    """Return the lines from 1 to the last one that are in none of the ranges."""
    missing, at = list[LineRange](), 1
    for start, end in [*sorted(each for each in ranges if each[0] <= last), (last + 1, last)]:
        if start > at:
            missing.append((at, start - 1))
        at = max(at, end + 1)
    return missing


def join_numbers(numbers: Iterable[int]) -> list[LineRange]:
    """Return ascending numbers as ranges."""
    ranges = list[LineRange]()
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


def format_ranges(ranges: Sequence[LineRange]) -> str:
    """Return ranges of lines in words: `3, 10-20`."""
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges[:MAX_SHOWN_RANGES]]
    more = len(ranges) - MAX_SHOWN_RANGES
    return ", ".join(shown) + (f" and {more} more ranges" if more > 0 else "")


def share_room(sizes: Iterable[int], room: int) -> int:
    """Return the size to which texts are cut so that all together have room."""
    ordered, limit = sorted(sizes), 0
    left, texts = room, len(ordered)
    for size in ordered:
        if size * texts > left:
            return left // texts
        left, texts, limit = left - size, texts - 1, size
    return limit


MAX_TITLE_CHARS = 120
MAX_HEADINGS = 1_000
DIFF_SUFFIXES = (".diff", ".patch")
_MARKDOWN_SUFFIXES = (".md", ".markdown")
_FILE_HEADERS = ("diff --git ", "diff --cc ", "diff --combined ", "Index: ")
_BINARY = ("Binary files ", "GIT binary patch")
_SIGNS, _OLD_SIGNS, _NEW_SIGNS = ("", " ", "+", "-", "\\"), ("", " ", "-"), ("", " ", "+")
"""First characters of a hunk's lines: all, those of the old file, those of the new file."""
_HUNK = Pattern(r"@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+(?P<start>\d{1,9})(?:,(?P<new>\d{1,9}))? @@")
_HEADING = Pattern(r"#{1,6} +\S")


@dataclass(frozen=True)
class TextPart:
    """A part of a text, from one line to another."""

    title: str
    first_line: int
    last_line: int = 0
    added: dict[int, int] = field(default_factory=dict)
    """Of a diff's file: each line that adds one, and that one's number in the new file."""


@dataclass(frozen=True)
class Outline:
    """What kind of text it is, and its parts in their order; not every kind has parts.

    The kind is `diff`, or the suffix of the name without its dot, or `text`.
    """

    kind: str
    parts: tuple[TextPart, ...] = ()

    @property
    def is_diff(self) -> bool:
        """Whether the parts are the files of a diff."""
        return self.kind == "diff"

    def locate(self, line: int) -> str:
        """Return in words where a line is; empty where nothing is known."""
        part = next((p for p in self.parts if p.first_line <= line <= p.last_line), None)
        if part is None:
            return ""
        new = next((part.added[at] for at in sorted(part.added) if at >= line), None)
        after = f", where the next added line is line {new} of the new file" if new else ""
        return f"in {part.title}{after}"

    def list_added(self, ranges: list[LineRange]) -> str:
        """Return the lines that a diff adds within ranges of its own lines, by file, in words."""
        named = []
        for part in self.parts if self.is_diff else ():
            lines = [
                part.added[at]
                for at in sorted(part.added)
                if any(first <= at <= last for first, last in ranges)
            ]
            if lines:
                named.append(f"{part.title}, added lines {format_ranges(join_numbers(lines))}")
        return "; ".join(named)


def outline_text(name: str, text: str) -> Outline:
    """Return the outline of a text; its lines are numbered as `split_lines` does."""
    suffix = PurePosixPath(name.lower()).suffix
    if suffix in _MARKDOWN_SUFFIXES:
        return Outline(suffix[1:], tuple(_close_parts(text, _list_headings(text))))
    if suffix in (*DIFF_SUFFIXES, "", ".txt") and "--- " in text:
        parts = tuple(_close_parts(text, _list_changed_files(text)))
        if any(part.added for part in parts) or (parts and suffix in DIFF_SUFFIXES):
            return Outline("diff", parts)
    return Outline(suffix.removeprefix(".") or "text")


def describe_part(part: TextPart, outline: Outline) -> str:
    """Return a part on one line."""
    added = f", adds {format_count(len(part.added), 'line')}" if outline.is_diff else ""
    return f"{format_ranges([(part.first_line, part.last_line)])}: {part.title}{added}"


def _close_parts(text: str, parts: list[TextPart]) -> list[TextPart]:
    """Return the parts, each ending where the next one begins, the last with the text."""
    last = sum(len(divide_line(line)) for line in text.removesuffix("\n").split("\n"))
    ends = [*(part.first_line - 1 for part in parts[1:]), last]
    return [replace(part, last_line=end) for part, end in zip(parts, ends, strict=False)]


def _list_headings(text: str) -> list[TextPart]:
    headings = (
        TextPart(sanitize_line(line.lstrip("#"), MAX_TITLE_CHARS), number)
        for number, line in _number_lines(text.split("\n"))
        if line.startswith("#") and _HEADING.match(line)
    )
    return list(islice(headings, MAX_HEADINGS))


def _list_changed_files(text: str) -> list[TextPart]:
    """Return the files of a diff; a line that no hunk may contain ends the hunk."""
    lines, parts = text.split("\n"), list[TextPart]()
    is_header_open, old, new, number = False, 0, 0, 0
    for index, (at, line) in enumerate(_number_lines(lines)):
        sign, following = line[:1], lines[index + 1] if index + 1 < len(lines) else ""
        if parts and (old > 0 or new > 0) and sign in _SIGNS:
            if sign == "+":
                parts[-1].added[at] = number
            old -= sign in _OLD_SIGNS
            new -= sign in _NEW_SIGNS
            number += sign in _NEW_SIGNS
            continue
        old = new = 0
        if line.startswith(_FILE_HEADERS):
            parts.append(TextPart(_clean_name(line.rpartition(" ")[2]), at))
            is_header_open = True
        elif line.startswith(_BINARY):
            is_header_open = False
        elif line.startswith("--- ") and following.startswith("+++ "):
            names = [following[4:], line[4:]]
            title = next(filter(None, map(_clean_name, names)), "a file")
            first = parts.pop().first_line if is_header_open else at
            parts.append(TextPart(title, first))
            is_header_open = False
        elif line.startswith("@@ ") and (found := _HUNK.match(line)):
            old, new = int(found["old"] or 1), int(found["new"] or 1)
            number, is_header_open = int(found["start"]), False
    return parts


def _clean_name(name: str) -> str:
    """Return a file's name as a diff writes it, without prefix and date; empty for none."""
    name = name.partition("\t")[0].strip().strip('"')
    name = "" if name == "/dev/null" else name.removeprefix("a/").removeprefix("b/")
    return sanitize_line(name, MAX_TITLE_CHARS)


def _number_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield each line with the number that `split_lines` gives to its beginning."""
    at = 1
    for line in lines:
        yield at, line
        at += len(divide_line(line))
