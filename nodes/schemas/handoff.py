"""What a worker is handed; nothing here is in a checkpoint."""

from pydantic import ConfigDict, Field

from state import Frozen, Report, Tier


class Constraints(Frozen):
    """What a handoff allows."""

    max_tokens: int
    timeout_s: float
    tier: Tier


class Handoff(Frozen):
    """All that a worker sees of the run."""

    model_config = ConfigDict(populate_by_name=True)

    task: str
    sender: str = Field("supervisor", alias="from")
    to: str
    intent: str
    """The task's description."""
    context: tuple[Report, ...] = ()
    """Results of the task's own dependencies."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """The task's materials, name to text."""
    constraints: Constraints
    return_to: str = "supervisor"
