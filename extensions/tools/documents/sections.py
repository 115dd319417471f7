"""Divide a text into sections, each with the titles of the headings that it is under."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.limits.patterns import Pattern
from nodes.text.headings import find_headings, rank_styles

_CONTENTS_ENTRY = Pattern(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]]*\]\(#[^()\s]*\)[ \t]*$")
"""A line of a table of contents: it names a section, and says nothing."""


@dataclass(frozen=True)
class Section:
    """A heading with the text below it, until the next heading."""

    level: int
    """0 for the text above the first heading."""
    path: tuple[str, ...]
    """The titles of the headings that it is under, and its own."""
    heading: tuple[str, ...]
    """The lines of its heading; none of one in HTML."""
    body: tuple[str, ...]

    @property
    def has_text(self) -> bool:
        """Whether anything but the heading is in it."""
        return any(line and not line.isspace() for line in self.body)


def split_sections(text: str, suffix: str) -> Iterator[Section]:
    """Yield the sections of a text in their order; no line is lost but a contents entry."""
    lines = text.splitlines()
    headings = list(find_headings(lines, suffix))
    levels = rank_styles(headings, suffix)
    above, path = list[int](), list[str]()
    first = headings[0].first if headings else len(lines)
    yield Section(0, (), (), _drop_contents(lines[:first]))
    for index, each in enumerate(headings):
        level = levels[each.style]
        while above and above[-1] >= level:
            above.pop()
            path.pop()
        above.append(level)
        path.append(each.title)
        end = headings[index + 1].first if index + 1 < len(headings) else len(lines)
        body = _drop_contents(lines[each.end : end])
        if each.rest is None:
            yield Section(level, tuple(path), tuple(lines[each.first : each.end]), body)
        else:
            found = Section(level, tuple(path), (), (each.rest, *body))
            yield found if found.has_text else Section(level, tuple(path), (each.title,), ())


def _drop_contents(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if "](#" not in line or not _CONTENTS_ENTRY.match(line))
