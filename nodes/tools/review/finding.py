"""A finding, as the child process that reviews says it: `state.Finding` without its library."""

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "high", "medium", "low", "info")


@dataclass(frozen=True)
class ReviewFinding:
    """A defect or remark about one line, in the words of `state.Finding`."""

    severity: Severity
    message: str
    file: str
    line: int | None
    suggestion: str
    confidence: int
