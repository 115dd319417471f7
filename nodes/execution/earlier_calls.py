"""The results of an attempt's tool calls, for a call that is made again with the same arguments."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_REPEATED_CALLS: Final = 2
"""Number of repeated calls after which the worker may only report."""
SAME_RESULT: Final = (
    "You made this call before with the same arguments. Its result is above and will not change: "
    "use it, change the arguments, or report."
)


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

    def record(self, call: Mapping[str, Any], content: str, *, was_refused: bool) -> None:
        """Keep the result of a call that was answered or refused."""
        self._contents[_build_key(call)] = content, was_refused

    @property
    def must_report(self) -> bool:
        """Whether so many calls were repeated that only a report is left."""
        return self.repeated >= MAX_REPEATED_CALLS


def _build_key(call: Mapping[str, Any]) -> str:
    return json.dumps([call["name"], call["args"]], sort_keys=True, default=str)
