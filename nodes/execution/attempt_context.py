"""The context of one attempt at a task."""

import math
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from langchain_core.language_models import BaseChatModel

from nodes.execution.earlier_calls import EarlierCalls
from nodes.execution.tool_outcomes import ToolOutcomes
from nodes.schemas.team import Limits
from nodes.security.taint import Taint
from state import Usage

REPORT_SHARE: Final = 0.25
"""Of an attempt's time: the end of it, in which no tool is called any more."""


@dataclass
class AttemptTime:
    """The time of an attempt, on the clock of `monotonic`; without a limit it never ends."""

    began_at: float = 0.0
    limit_s: float = math.inf
    longest_turn_s: float = 0.0

    def start(self, limit_s: float) -> None:
        """Start the clock."""
        self.began_at, self.limit_s = monotonic(), limit_s

    def must_report(self) -> bool:
        """Return whether another turn with tools could leave too little time for the report."""
        left_s = self.limit_s - (monotonic() - self.began_at)
        return left_s < max(REPORT_SHARE * self.limit_s, 2 * self.longest_turn_s)


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
    time: AttemptTime = field(default_factory=AttemptTime)
    """When it must report."""
    results: list[str] = field(default_factory=list)
    """What its tools answered, shortened: the partial result when its time ends."""
    outcomes: ToolOutcomes = field(default_factory=ToolOutcomes)
    """How the tool calls so far ended."""
    earlier_calls: EarlierCalls = field(default_factory=EarlierCalls)
    """Their results, for calls that are made again."""
