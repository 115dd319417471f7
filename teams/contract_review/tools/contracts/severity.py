"""The severities of `state.py`, for the child process, which must not wait for LangGraph."""

from typing import Literal

Severity = Literal["critical", "high", "medium", "low", "info"]
