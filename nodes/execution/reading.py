"""Which lines of a task's materials its worker's model has been shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from nodes.execution.tool_outcomes import ToolOutcomes
from nodes.prompts.materials import ShownMaterial
from nodes.text.lines import LineRange, format_ranges, list_missing_ranges

READ_MATERIAL: Final = "read_material"
"""The tool by which a model reads the lines that its handoff does not show."""


@dataclass
class MaterialReading:
    """The materials of an attempt that a language model makes, and the lines it has been shown."""

    materials: Sequence[ShownMaterial] = ()
    was_reminded: bool = False
    """The model was asked once to read the rest before it reports."""
    _shown: dict[str, list[LineRange]] = field(default_factory=dict)

    @property
    def has_cut(self) -> bool:
        """Whether the handoff shows only the beginning of a material."""
        return any(each.is_cut for each in self.materials)

    def record(self, read: Any) -> None:
        """Record the lines that a call of the tool has returned, as it describes them."""
        match read:
            case {"name": str(name), "first_line": int(first), "last_line": int(last)}:
                self._shown.setdefault(name, []).append((first, last))

    def describe_required(self) -> list[str]:
        """Return the lines that the model must read and has not been shown, by material."""
        return [each.describe() for each in self._list_unread() if each.material.must_read]

    def list_gaps(self, outcomes: ToolOutcomes) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the unread lines that make a report partial, and those that a tool has read.

        A table on which a tool has worked has none.
        """
        partial, covered = list[str](), list[str]()
        for each in self._list_unread():
            tools = set(outcomes.list_readers(each.material.name)) - {READ_MATERIAL}
            must_read = each.material.must_read or not tools
            if each.material.is_table and not must_read:
                continue  # it is computed on, not read
            only = f", only by {', '.join(sorted(tools))}" if tools else ""
            gaps = partial if must_read else covered
            gaps.append(each.describe(f" were not read by the model{only}"))
        return tuple(partial), tuple(covered)

    def _list_unread(self) -> Iterator["_UnreadLines"]:
        for each in self.materials:
            shown = [(1, each.shown_lines), *self._shown.get(each.name, [])]
            if each.is_cut and (ranges := list_missing_ranges(shown, len(each.lines))):
                yield _UnreadLines(each, ranges)


@dataclass(frozen=True)
class _UnreadLines:
    material: ShownMaterial
    ranges: list[LineRange]

    def describe(self, statement: str = "") -> str:
        """Return the lines and a statement on them; for a diff, also the lines that it adds."""
        added = self.material.outline.list_added(self.ranges)
        count = len(self.material.lines)
        lines = f"{self.material.name}: lines {format_ranges(self.ranges)} of {count}{statement}"
        return f"{lines} ({added})" if added else lines
