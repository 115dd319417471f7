"""Show passages that were found as Markdown: whole, as quotations that hold no active content."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from nodes.limits.patterns import Pattern
from nodes.text.csv_table import is_table_name
from nodes.text.headings import UNDIVIDED_SUFFIXES, find_headings
from nodes.text.markdown_escaping import escape_active_markdown
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
        shown = escape_active_markdown(_unmark_headings("\n".join(_format_lines(lines, suffix))))
    quoted = "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))
    where = [f"**{_escape_name(source)}**", _escape_name(place.rstrip("; "))]
    return f"{', '.join(part for part in where if part)}\n\n{quoted}"


def _escape_name(name: str) -> str:
    return _MARKED.sub(r"\\\1", sanitize_line(name, MAX_PLACE_CHARS))


def _build_table_head(columns: str) -> list[str]:
    count = columns.strip("|").count("|") + 1
    return [columns, "|" + " --- |" * count] if columns.startswith("|") else []


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
            yield from paragraph
        yield from lines[end : end + 1] if end not in headings else [""] * (end > index)
        index = end if end in headings else end + 1


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
