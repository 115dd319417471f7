"""A finding in the child process that reviews: `state.Finding` without its library."""

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["critical", "high", "medium", "low", "info"]
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "high", "medium", "low", "info")


@dataclass(frozen=True)
class ReviewFinding:
    """A defect or remark about one line, with the fields of `state.Finding`."""

    severity: Severity
    message: str
    file: str
    line: int | None
    suggestion: str
    confidence: int
