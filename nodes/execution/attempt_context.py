"""What one attempt at a task has used, read and called so far.

An attempt that is resumed has a new context. What its model has read before restricts it still.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from nodes.execution.proving import ReportProof
from nodes.execution.tool_outcomes import FAILED, PUT_OFF, ToolOutcomes
from nodes.prompts.materials import ShownMaterial
from nodes.schemas.team import Limits
from nodes.security.taint import Taint
from nodes.security.tool_access import read_access
from nodes.text.lines import LineRange, format_ranges, list_missing_ranges
from nodes.text.phrases import DEFAULT_LANGUAGE, say
from nodes.tools.framework.catalog import is_of_server
from state import Report, Usage

MAX_REPEATED_CALLS: Final = 2
"""Number of repeated calls after which the worker may only report."""
SAME_RESULT: Final = (
    "You made this call before with the same arguments. Its result is above and will not change: "
    "use it, change the arguments, or report."
)
READ_MATERIAL: Final = "read_material"
"""The tool by which a model reads the lines that its handoff does not show."""


@dataclass
class EarlierCalls:
    """A small model may repeat a call without end: it is shown where the result is."""

    _contents: dict[str, tuple[str, bool]] = field(default_factory=dict)
    repeated: int = 0
    """Calls that were made again."""

    def find(self, call: Mapping[str, Any]) -> tuple[str, bool] | None:
        """Return the reply to a repeated call, and whether it was refused; None for a new call.

        A refusal is repeated; a result is in the conversation, and a long one costs time to read.
        """
        found = self._contents.get(_build_key(call))
        if found is None:
            return None
        self.repeated += 1
        content, was_refused = found
        return f"{SAME_RESULT}\n\n{content}" if was_refused else SAME_RESULT, was_refused

    def record(self, call: Mapping[str, Any], result: ToolMessage) -> None:
        """Keep the result of a call; one that failed, or was put off, may be made again."""
        if result.artifact not in (FAILED, PUT_OFF):
            self._contents[_build_key(call)] = str(result.content), result.status == "error"

    @property
    def must_report(self) -> bool:
        """Whether so many calls were repeated that only a report is left."""
        return self.repeated >= MAX_REPEATED_CALLS


def _build_key(call: Mapping[str, Any]) -> str:
    return json.dumps([call["name"], call["args"]], sort_keys=True, default=str)


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

    def list_gaps(
        self, outcomes: ToolOutcomes, language: str = DEFAULT_LANGUAGE
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the unread lines that make a report partial, and those that a tool has read.

        A table on which a tool has worked has none.
        """
        partial, covered = list[str](), list[str]()
        for each in self._list_unread():
            tools = set(outcomes.list_readers(each.material.name)) - {READ_MATERIAL}
            must_read = each.material.must_read or not tools
            if each.material.is_table and not must_read:
                continue  # it is computed on, not read
            only = say(language, "only_by", tools=", ".join(sorted(tools))) if tools else ""
            gaps = partial if must_read else covered
            gaps.append(each.describe(language, only=only))
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

    def describe(self, language: str = "", *, only: str = "") -> str:
        """Return the lines, for a gap that they were not read; of a diff, those that it adds too.

        Args:
            language: of the gap; without it the lines alone.
        """
        added = self.material.outline.list_added(self.ranges)
        name, count = self.material.name, len(self.material.lines)
        lines = f"{name}: lines {(ranges := format_ranges(self.ranges))} of {count}"
        if language:
            said = {"name": name, "lines": ranges, "count": count, "only": only}
            lines = say(language, "lines_unread", **said)
        return f"{lines} ({added})" if added else lines


class TurnLimitReached(Exception):
    """A worker used all its turns or tokens without writing a report."""


@dataclass(kw_only=True)
class AttemptContext:
    """The attempt's model and caps, and its usage so far."""

    model: BaseChatModel
    limits: Limits
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    taint: Taint = field(default_factory=Taint)
    """What was read so far; it restricts the worker's tools."""
    left_out: list[str] = field(default_factory=list)
    """What did not fit into the model's context window."""
    longest_turn_s: float = 0.0
    """Of its model; another one like it and the report must fit into its time."""
    results: list[str] = field(default_factory=list)
    """What its tools answered, shortened: the partial result when its time ends."""
    refused_reports: list[str] = field(default_factory=list)
    """What was wrong with each report that could not be read."""
    early_report: Report | None = None
    """A report before all was read; it counts when no later one can be read."""
    proof: ReportProof = field(default_factory=ReportProof)
    """What its report is proved by."""
    outcomes: ToolOutcomes = field(default_factory=ToolOutcomes)
    """How the tool calls so far ended."""
    reading: MaterialReading = field(default_factory=MaterialReading)
    """Which lines of the materials the model has been shown."""
    earlier_calls: EarlierCalls = field(default_factory=EarlierCalls)
    """Their results, for calls that are made again."""
    open_tools: list[str] = field(default_factory=list)
    """Tools that are at work, by name; one whose time has ended stays."""
    recorded_calls: set[str] = field(default_factory=set)
    """Ids of the calls that this context has recorded; a resumed attempt restores the others."""


def restore_calls(
    context: AttemptContext, messages: Iterable[AnyMessage], tools: Mapping[str, BaseTool]
) -> None:
    """Record the calls that the conversation shows and the context does not know."""
    found = list(messages)
    calls = {
        call["id"]: call
        for each in found
        if isinstance(each, AIMessage)
        for call in each.tool_calls
    }
    for message in found:
        call = calls.get(getattr(message, "tool_call_id", None))
        if not isinstance(message, ToolMessage) or call is None:
            continue
        name, content = call["name"], str(message.content)
        if message.tool_call_id in context.recorded_calls or name not in tools:
            continue
        context.recorded_calls.add(message.tool_call_id)
        context.taint.record_result(
            name, read_access(tools[name]), content, is_of_server=is_of_server(tools[name])
        )
        if message.status != "error":
            is_outside = is_of_server(tools[name])
            context.proof.record_result(name, call["args"], content, is_of_server=is_outside)
        if message.status == "error" and message.artifact == FAILED:
            context.outcomes.record_call(
                call, "failed", turn=context.turns, materials={}, reasons=(content,)
            )
        context.taint.mark_results_seen()
