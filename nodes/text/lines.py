"""Lines of a text by number, the first is 1, and ranges of them."""

from collections.abc import Iterable, Sequence

MAX_LINE_CHARS = 4_000
"""A longer line counts as several, so that it can be read in parts."""

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


def format_ranges(ranges: Sequence[LineRange], max_shown: int = 5) -> str:
    """Return ranges of lines in words: `3, 10-20`."""
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in ranges[:max_shown]]
    more = len(ranges) - max_shown
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
