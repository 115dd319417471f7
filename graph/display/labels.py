"""Labels for times and tasks, the same in every output."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from nodes.text.phrases import DEFAULT_LANGUAGE, say

_STATUS_WORDS: Final[Mapping[str, str]] = {"passages": say(DEFAULT_LANGUAGE, "status_passages")}


def format_seconds(seconds: float) -> str:
    """Return a time in seconds, to the hundredth."""
    return f"{seconds:,.2f} s"


def format_time(written: str) -> str:
    """Return a time in the terminal's zone, with its offset from UTC; empty if it is none.

    Args:
        written: in ISO 8601; without an offset it is in UTC.
    """
    try:
        time = datetime.fromisoformat(written)
        known = time if time.tzinfo else time.replace(tzinfo=UTC)
        return known.astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError):
        return ""


def format_status(status: str) -> str:
    """Return a run's status in words."""
    return _STATUS_WORDS.get(status, status)


def format_task(task: str, worker: str) -> str:
    """Return a task with its worker; one name if both are equal."""
    return task if task.rpartition("/")[2] == worker else f"{task} {worker}".strip()
