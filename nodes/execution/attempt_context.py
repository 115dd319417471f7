"""What one attempt at a task runs with."""

from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel

from nodes.execution.tool_outcomes import ToolOutcomes
from nodes.security.taint import Taint
from state import Limits, Usage


class TurnLimitReached(Exception):
    """A worker used its turns, or its tokens, and still gave no report."""


@dataclass(kw_only=True)
class AttemptContext:
    """The context of a worker's loop: the attempt's model and caps, and what it cost so far."""

    model: BaseChatModel
    limits: Limits
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    taint: Taint = field(default_factory=Taint)
    """What was read so far, which the worker's tools are held to."""
    outcomes: ToolOutcomes = field(default_factory=ToolOutcomes)
    """How the tool calls so far ended."""
