"""The context of one attempt at a task."""

from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel

from nodes.execution.earlier_calls import EarlierCalls
from nodes.execution.proving import ReportProof
from nodes.execution.reading import MaterialReading
from nodes.execution.tool_outcomes import ToolOutcomes
from nodes.schemas.team import Limits
from nodes.security.taint import Taint
from state import Report, Usage


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
    recorded_calls: set[str] = field(default_factory=set)
    """Ids of the calls that this context has recorded; a resumed attempt restores the others."""
