"""What a call knows about the run it is made in, if there is one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.config import get_config

from nodes.events import emit, now_s

REPORT = "Report"


@dataclass(frozen=True)
class Surroundings:
    """The run's name and the seconds it has left; empty outside a run."""

    run: str = ""
    remaining_s: float | None = None
    is_run: bool = False

    async def tell(self, **data: Any) -> None:
        """Make a `model_call` event; silence outside a run."""
        if self.is_run:
            await emit("model_call", **data)


def surroundings() -> Surroundings:
    """Look around; a call made outside a run has none."""
    try:
        configurable: Mapping[str, Any] = get_config().get("configurable", {})
    except RuntimeError:
        return Surroundings()
    ends_at = configurable.get("deadline_at")
    return Surroundings(
        run=f"{configurable.get('thread_id', '')}/{configurable.get('began_at', '')}",
        remaining_s=None if ends_at is None else ends_at - now_s(),
        is_run="__pregel_runtime" in configurable,
    )


def schema_asked(kwargs: Mapping[str, Any]) -> str:
    """Name the schema a call asks for: the forced tool, or `Report` when it is on offer."""
    names = [_name(tool) for tool in kwargs.get("tools") or ()]
    choice = kwargs.get("tool_choice")
    forced = _name(choice) or (choice if choice in names else "")
    if forced or REPORT in names:
        return forced or REPORT
    return names[0] if len(names) == 1 else ""


def _name(tool: Any) -> str:
    if not isinstance(tool, Mapping):
        return ""
    inner = tool.get("function")
    return str((inner if isinstance(inner, Mapping) else tool).get("name") or "")
