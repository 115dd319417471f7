"""Finds the headings of a text, and shows passages of it as Markdown.

Passages are shown whole, as quotations that hold no active content.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name
from nodes.text.markdown import escape_active_markdown
from nodes.text.plain_text import sanitize_line

MAX_PLACE_CHARS = 300
COLUMNS_MARK = "; columns: "
"""In the place of a passage, before the columns of its table."""
MAX_ROUNDS = 5
"""What was hidden by one heading may be another; then the passage is shown as code."""

_BORDER = Pattern(r"^[ \t]*+(?:={2,}+(?: ++=++)++|-{2,}+(?: ++-++)++|\+[-=+]{3,}+(?<=\+))[ \t]*+$")
"""A line of a table in reStructuredText, which Markdown does not know."""
_BACKTICKS = Pattern(r"`{3,}")
_MARKED = Pattern(r"([\\*\[<])")


def format_passage(result: Mapping[str, str]) -> str:
    """Return a result of `search_documents` as Markdown: file and place, then the quoted passage.

    Lists, tables, code and links stay; headings become bold; pictures and HTML become text.

    Args:
        result: its `source`, `place` and `text`.
    """
    source, text = result["source"], result["text"]
    place, _, columns = result.get("place", "").partition(COLUMNS_MARK.strip())
    suffix = PurePosixPath(source.partition("#")[0]).suffix.lower()
    if is_table_name(source) or suffix in UNDIVIDED_SUFFIXES:
        shown = _fence([columns.strip(), text] if columns else [text])
    else:
        lines = [*_build_table_head(columns.strip()), *text.split("\n")]
        named = place.rpartition(" > ")[2].strip("; ")
        shown = "\n".join(_format_lines(_drop_heading(lines, suffix, named), suffix))
        shown = escape_active_markdown(_unmark_headings(shown))
    quoted = "\n".join(f"> {line}" if line.strip() else ">" for line in shown.split("\n"))
    where = [f"**{_escape_name(source)}**", _escape_name(place.rstrip("; "))]
    return f"{', '.join(part for part in where if part)}\n\n{quoted}"


def _escape_name(name: str) -> str:
    return _MARKED.sub(r"\\\1", sanitize_line(name, MAX_PLACE_CHARS))


def _build_table_head(columns: str) -> list[str]:
    count = columns.strip("|").count("|") + 1
    return [columns, "|" + " --- |" * count] if columns.startswith("|") else []


def _drop_heading(lines: Sequence[str], suffix: str, named: str) -> Sequence[str]:
    """Return the lines without a heading at their beginning that the place has named."""
    first = next(iter(find_headings(lines, suffix)), None)
    if first is None or first.first or first.title != named:
        return lines
    below = next((n for n in range(first.end, len(lines)) if lines[n].strip()), 0)
    return lines[below:]


def _format_lines(lines: Sequence[str], suffix: str) -> Iterator[str]:
    """Yield the lines, with bold titles for headings, and with tables of text as code."""
    headings = {each.first: each for each in find_headings(lines, suffix)}
    index = 0
    while index < len(lines):
        if heading := headings.get(index):
            yield f"**{heading.title.replace('*', '')}**"
            yield ""
            index = next(
                (n for n in range(heading.end, len(lines)) if lines[n].strip()), len(lines)
            )
            continue
        end = index
        while end < len(lines) and lines[end].strip() and end not in headings:
            end += 1
        paragraph = lines[index:end]
        if any(map(_BORDER.match, paragraph)):
            yield from _fence(paragraph).split("\n")
        else:
            yield from paragraph if suffix in MARKDOWN_SUFFIXES else _keep_breaks(paragraph)
        yield from lines[end : end + 1] if end not in headings else [""] * (end > index)
        index = end if end in headings else end + 1


def _keep_breaks(paragraph: Sequence[str]) -> Iterator[str]:
    """Yield the lines of text, with Markdown's break behind one that the next word would fit in."""
    width = max(MIN_WRAPPED_CHARS, *map(len, paragraph)) if paragraph else 0
    for line, after in zip_longest(paragraph, paragraph[1:], fillvalue=""):
        word = after.split(maxsplit=1)[:1]
        yield f"{line}  " if word and len(line) + 1 + len(word[0]) <= width else line


def _unmark_headings(markdown: str) -> str:
    """Return Markdown whose remaining headings, such as those in lists, are text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    for _ in range(MAX_ROUNDS):
        found = [each for each in parser.parse(markdown) if each.type == "heading_open"]
        if not found:
            return markdown
        lines = markdown.split("\n")
        for each in found:
            first, end = each.map or (0, 1)
            sign = each.markup[0]
            marked = first if sign == "#" else end - 1
            lines[marked] = lines[marked].replace(sign, f"\\{sign}", 1)
        markdown = "\n".join(lines)
    return _fence([markdown])


def _fence(lines: Sequence[str]) -> str:
    """Return lines as a block of code that nothing in them ends."""
    text = "\n".join(lines)
    longest = max(map(len, _BACKTICKS.findall(text)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}\n{text}\n{mark}"


MIN_WRAPPED_CHARS: Final = 40
"""Lines of text that are wrapped are at least so wide."""
MAX_HEADING_LINES: Final = 4
"""Limit of a heading above an underline, and of one in HTML, which may never be closed."""
MARKDOWN_SUFFIXES: Final = frozenset((".md", ".markdown", ".html", ".htm", ".xhtml"))
"""Kinds whose text is Markdown; pages are turned into it."""
ASCIIDOC_SUFFIXES: Final = frozenset((".adoc", ".asciidoc"))
_PLAIN_SUFFIXES: Final = frozenset((".txt", ".text", ".pdf", ".docx"))
"""Kinds in which a line in capital letters, or one that begins with a number, is a heading."""
_TYPED_SUFFIXES: Final = frozenset((".txt", ".text"))
"""Kinds in which a short line alone above a paragraph is a heading, too."""
UNDIVIDED_SUFFIXES: Final = frozenset(
    (
        *(".log", ".diff", ".patch", ".json", ".jsonl", ".ndjson"),
        *(".py", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".properties"),
    )
)
"""Kinds without headings; what looks like one is a comment."""
_ADORNMENTS: Final = frozenset("=-~^\"*+#'`:._")
"""What headings are underlined with in reStructuredText; in Markdown only the first two."""
_FENCE_SIGNS: Final = frozenset("`~-.=*|")
_MAX_TITLE_CHARS: Final = 200
_MAX_LINE_CHARS: Final = 1000
"""Longer lines are no headings."""
_MAX_CAPITALS_CHARS: Final = 60
_MAX_TYPED_CHARS: Final = 40

_HEADING: Final = Pattern(r"(#{1,6})[ \t]++(.*[^ \t#])[ \t#]*+$")
_EQUALS_HEADING: Final = Pattern(r"(={1,6})[ \t]++([^=]*[^=\s])[ \t]*+=*+[ \t]*+$")
_HTML_HEADING: Final = Pattern(r"[ \t]{0,3}<h([1-6])\b[^<>]*>")
_HTML_HEADING_END: Final = Pattern(r"</h[1-6]>[ \t]*(?P<rest>.*)")
_TAG: Final = Pattern(r"</?\w[^<>]*>")
_YEAR_END: Final = Pattern(r"\b(?:1[89]|20)\d\d$")
"""Of a line that is a date."""
_NUMBERED: Final = Pattern(r"((?:\d{1,3}\.){0,5}\d{1,3})[.)]?[ \t]+[^\W\d_][^.;]{1,80}$")
_ITEM: Final = Pattern(r"[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)])[ \t]|[|>]")


@dataclass(frozen=True)
class Heading:
    """A heading, by the indexes of its lines."""

    first: int
    """Its first line; a line above the title that adorns it counts."""
    end: int
    """The first line behind it."""
    title: str
    style: str
    """How it is marked: headings of one style are on one level."""
    rest: str | None = None
    """Of a heading in HTML: what follows it on its last line."""


def find_headings(lines: Sequence[str], suffix: str) -> Iterator[Heading]:
    """Yield the headings of a text in their order; what is fenced as code has none."""
    if suffix in UNDIVIDED_SUFFIXES:
        return
    start, index, unclosed = 0, _find_front_matter_end(lines, suffix), set[str]()
    while index < len(lines):
        if not lines[index] or lines[index].isspace():
            index = start = index + 1
            continue
        if end := find_fence_end(lines, index, suffix, unclosed):
            index = start = end
            continue
        found = _read_heading(lines, start, index, suffix)
        if found:
            yield found
            start = found.end
        index = found.end if found else index + 1


def rank_styles(headings: Sequence[Heading], suffix: str) -> Mapping[str, int]:
    """Return the level of each style: as marked, or in the order of their first headings."""
    underlines = {"=": 1, "-": 2} if suffix in MARKDOWN_SUFFIXES else {}
    levels = dict[str, int]()
    for style in dict.fromkeys(heading.style for heading in headings):
        marked = int(style[1:]) if style[1:].isdigit() else underlines.get(style)
        levels[style] = marked or len(levels) + 1
    return levels


def find_fence_end(lines: Sequence[str], index: int, suffix: str, unclosed: set[str]) -> int:
    """Return the line behind a block of code that begins at a line; 0 if none does.

    Args:
        unclosed: marks that end nowhere, which are no fences; those found are added.
    """
    line = lines[index].strip()
    if line[0] not in _FENCE_SIGNS:
        return 0
    if suffix in ASCIIDOC_SUFFIXES:
        mark = line if line in {"----", "....", "====", "****", "|==="} else ""
    else:
        is_fence = line[:3] == "```" or (line[:3] == "~~~" and suffix in MARKDOWN_SUFFIXES)
        mark = line[: len(line) - len(line.lstrip(line[0]))] if is_fence else ""
    if not mark or mark in unclosed or "`" in line[len(mark) :]:
        return 0
    for end in range(index + 1, len(lines)):
        closing = lines[end].strip()
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return end + 1
    unclosed.add(mark)
    return 0


def _find_front_matter_end(lines: Sequence[str], suffix: str) -> int:
    if suffix in MARKDOWN_SUFFIXES and lines and lines[0].rstrip() == "---":
        ends = (n for n in range(1, min(len(lines), 100)) if lines[n].rstrip() == "---")
        return next(ends, -1) + 1
    return 0


def _read_heading(lines: Sequence[str], start: int, index: int, suffix: str) -> Heading | None:
    line, found = lines[index], None
    if line[0] in _ADORNMENTS and len(line) <= _MAX_LINE_CHARS:
        found = _read_marked_heading(lines, start, index, suffix)
    if not found and "<h" in line[:6]:
        found = _read_html_heading(lines, index)
    if not found and start == index and suffix in _PLAIN_SUFFIXES:
        found = _read_plain_heading(lines, index)
        if not found and suffix in _TYPED_SUFFIXES:
            found = _read_typed_heading(lines, index)
    return found


def _read_marked_heading(
    lines: Sequence[str], start: int, index: int, suffix: str
) -> Heading | None:
    """Return the heading that a line marks: with signs before its title, or as an underline."""
    line = lines[index]
    if line[0] == "#" and suffix != ".rst" and (found := _HEADING.match(line)):
        return Heading(index, index + 1, found[2], f"#{len(found[1])}")
    if line[0] == "=" and (found := _EQUALS_HEADING.match(line)):
        return Heading(index, index + 1, found[2], f"#{len(found[1])}")
    adornment = line.rstrip()
    is_markdown = suffix in MARKDOWN_SUFFIXES
    if len(adornment) < 3 or adornment.strip(line[0]) or suffix in ASCIIDOC_SUFFIXES:
        return None
    if is_markdown and line[0] not in "=-":
        return None
    first, style = start, line[0]
    if index - start == 2 and lines[start].rstrip() == adornment:
        start, style = start + 1, f"{line[0]} above and below"
    elif index - start > MAX_HEADING_LINES:
        first = start = index - 1
    title = " ".join(" ".join(lines[start:index]).split())
    width = len(lines[index - 1].strip())
    if not title or len(title) > _MAX_TITLE_CHARS or _ITEM.match(lines[start]):
        return None
    is_wide = len(adornment) >= width - 2
    return Heading(first, index + 1, title, style) if is_wide or is_markdown else None


def _read_html_heading(lines: Sequence[str], index: int) -> Heading | None:
    found = _HTML_HEADING.match(lines[index])
    if not found:
        return None
    words, rest, end = list[str](), "", index
    while end < min(len(lines), index + MAX_HEADING_LINES):
        line = lines[end]
        closing = _HTML_HEADING_END.search(line)
        words += _TAG.sub("", line[: closing.start()] if closing else line).split()
        end += 1
        if closing:
            rest = closing["rest"]
            break
    return Heading(index, end, " ".join(words), f"h{found[1]}", rest)


def _read_typed_heading(lines: Sequence[str], index: int) -> Heading | None:
    """Return a heading that is a short line of words, alone above the first line of a paragraph."""
    line = lines[index].rstrip()
    above = lines[index - 1] if index else line
    below, under = [*lines[index + 1 : index + 3], "", ""][:2]
    is_alone = not above.strip() and not below.strip()
    is_title = line[0].isupper() and line[-1].isalnum() and len(line) <= _MAX_TYPED_CHARS
    is_above_text = len(under.rstrip()) > _MAX_TYPED_CHARS and under[:1].isupper()
    if not (is_alone and is_title and is_above_text) or _YEAR_END.search(line):
        return None
    return Heading(index, index + 1, line, "typed")


def _read_plain_heading(lines: Sequence[str], index: int) -> Heading | None:
    """Return a heading that only its looks show: alone, in capital letters or numbered."""
    line = lines[index].rstrip()
    below = lines[index + 1] if index + 1 < len(lines) else ""
    if line.isupper() and len(line) <= _MAX_CAPITALS_CHARS and line[-1] not in ".,;:|":
        is_alone = not below.strip() or below[0] in " \t"
        letters = sum(map(str.isalpha, line))
        if is_alone and letters >= 3 and letters * 2 > len(line):
            return Heading(index, index + 1, line.strip(), "capitals")
    is_numbered = line[0].isdigit() and not below.strip() and not _YEAR_END.search(line)
    if not is_numbered or not (found := _NUMBERED.match(line)):
        return None
    follower = next((each for each in lines[index + 1 : index + 6] if each.strip()), "")
    again = _NUMBERED.match(follower)
    depth = found[1].count(".")
    if not follower or (again and again[1].count(".") == depth):
        return None
    return Heading(index, index + 1, line, f"numbered{'.' * depth}")
