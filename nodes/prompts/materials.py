"""How a worker's materials are shown to a language model: an index, and the beginning of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from langchain_core.messages import HumanMessage

from nodes.prompts.tags import wrap_in_tag
from nodes.prompts.templates import READ_ALL, READ_ON, READ_THE_REST
from nodes.schemas.team import Worker
from nodes.text.counts import format_count
from nodes.text.csv_table import is_comment, is_table_name
from nodes.text.lines import (
    Outline,
    count_fitting_lines,
    describe_part,
    format_ranges,
    outline_text,
    share_room,
    split_lines,
)
from nodes.text.plain_text import sanitize_line, sanitize_text

MAX_ARTIFACT_CHARS = 12_000
"""Limit for the shown beginning of one material, unless the worker reads all lines itself."""
MAX_NAME_CHARS = 300
ANY_KIND = "any"
MAX_INDEXED_PARTS, MAX_PLANNED_PARTS = 40, 20
MAX_FIRST_LINE_CHARS = 200


@dataclass(frozen=True)
class ShownMaterial:
    """A material of a task, and how much of it the handoff shows."""

    name: str
    text: str
    """Sanitized, and the whole of it."""
    outline: Outline
    """What kind of text it is, and its parts."""
    max_chars: int = MAX_ARTIFACT_CHARS
    must_read: bool = False
    """Lines that the model was not shown are not done, even if a tool has read them."""

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, as `read_material` numbers them."""
        return split_lines(self.text)

    @cached_property
    def shown_lines(self) -> int:
        """The number of lines that are shown, from the first one."""
        is_whole = len(self.text) <= self.max_chars
        return len(self.lines) if is_whole else count_fitting_lines(self.lines, self.max_chars)

    @property
    def is_table(self) -> bool:
        """Whether its lines are rows."""
        return is_table_name(self.name)

    @property
    def is_cut(self) -> bool:
        """Whether only the beginning is shown."""
        return self.shown_lines < len(self.lines)

    @property
    def shown_text(self) -> str:
        """The beginning that is shown; a mark shows where it was cut."""
        if not self.is_cut:
            return self.text
        first = self.shown_lines + 1
        mark = f"[lines {format_ranges([(first, len(self.lines))])} are not shown here]"
        return "\n".join([*self.lines[: self.shown_lines], mark])


def choose_shown_chars(worker: Worker, sizes: Sequence[int]) -> int:
    """Return how many characters a worker is shown of each material of these sizes.

    Of those that it must read it gets as many as a quarter of its tokens hold, all together: they
    are sent again with each of its turns.
    """
    if not worker.reads_all:
        return MAX_ARTIFACT_CHARS
    return max(MAX_ARTIFACT_CHARS, share_room(sizes, worker.limits.max_tokens))


def show_materials(worker: Worker, materials: Mapping[str, str]) -> list[ShownMaterial]:
    """Return a task's materials as its worker is shown them."""
    texts = {name: sanitize_text(text) for name, text in materials.items()}
    outlines = {name: outline_text(name, text) for name, text in texts.items()}
    kinds = set(worker.reads_all)
    whole = {name for name, outline in outlines.items() if kinds & {outline.kind, ANY_KIND}}
    limit = choose_shown_chars(worker, [len(texts[name]) for name in whole])
    return [
        ShownMaterial(
            name,
            text,
            outlines[name],
            max_chars=limit if name in whole else MAX_ARTIFACT_CHARS,
            must_read=name in whole,
        )
        for name, text in texts.items()
    ]


def format_materials(shown: Sequence[ShownMaterial]) -> list[str]:
    """Return the sections of a handoff that hold its materials, after an index of them."""
    if not shown:
        return []
    parts = [wrap_in_tag("materials", "\n".join(map(_format_index_entry, shown)))]
    if any(each.is_cut for each in shown):
        must_read = any(each.is_cut and each.must_read for each in shown)
        parts.append(READ_ALL if must_read else READ_ON)
    return parts + [wrap_in_tag("file", each.shown_text, name=each.name) for each in shown]


def build_reading_message(unread: Iterable[str]) -> HumanMessage:
    """Build the message to a worker that reports before it has read all lines."""
    lines = "\n".join(f"- {each}" for each in unread)
    return HumanMessage(f"{READ_THE_REST}\n\n{wrap_in_tag('not_read', lines)}")


def format_material_card(name: str, text: str, *, is_open: bool) -> str:
    """Return a material's name and size for the planner, and its first line where it may see it.

    With a tool that reaches outside, only a heading or a table's column names are shown; without
    one, also a table's first row, the files of a diff and the headings of a long document.
    """
    clean = sanitize_text(text)
    lines = [line.strip() for line in clean.splitlines() if line.strip()]
    first, is_table = lines[0] if lines else "", is_table_name(name)
    if is_table:  # its title is no column name
        rows = [line for line in lines if not is_comment(line)]
        first = " / ".join(rows[: 2 if is_open else 1]) or first
    names = is_table or first.startswith("# ")
    shown = first[:MAX_FIRST_LINE_CHARS] if is_open or names else ""
    card = f"- {name} ({len(text)} characters): {shown}".rstrip()
    outline = outline_text(name, clean) if is_open else Outline("")
    is_useful = outline.is_diff or len(clean) > MAX_ARTIFACT_CHARS
    return "\n".join([card, *_list_parts(outline, MAX_PLANNED_PARTS)]) if is_useful else card


def _list_parts(outline: Outline, most: int) -> list[str]:
    more = len(outline.parts) - most
    parts = [f"  {describe_part(part, outline)}" for part in outline.parts[:most]]
    return [*parts, f"  and {more} more parts"] if more > 0 else parts


def _format_index_entry(each: ShownMaterial) -> str:
    """Return a material's name, kind and size, and the parts of one that is cut."""
    outline, count = each.outline, len(each.outline.parts)
    kind = f"{outline.kind} of {format_count(count, 'file')}" if outline.is_diff else outline.kind
    head = (
        f"- {sanitize_line(each.name, MAX_NAME_CHARS)}: {kind}, "
        f"{format_count(len(each.lines), 'line')}, {format_count(len(each.text), 'character')}"
    )
    if not each.is_cut:
        return head
    below = f"; lines 1-{each.shown_lines} are below" if each.shown_lines else ""
    below += "; read all" * each.must_read
    return "\n".join([f"{head}{below}", *_list_parts(outline, MAX_INDEXED_PARTS)])
