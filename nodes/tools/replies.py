"""What a tool says in the words of a report: a summary, claims, findings and gaps."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the vocabulary stands on LangGraph, too much for a child process
    from state import Severity

MAX_REPLY_CHARS = 20_000
"""Of a reply as JSON: below what an agent keeps of a tool's answer."""
MAX_NAMED = 12
CERTAIN = 95
"""Confidence in what was read or computed by rule."""


@dataclass
class Reply:
    """A tool's answer that people and models read alike."""

    lines: list[str] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """What of the input was not looked at, for a failure or a limit: the report is partial."""

    def claim(self, text: str, source: str, quote: str = "") -> None:
        """Add a statement and where it stands."""
        told = {"text": text, "source": source, "quote": quote, "confidence": CERTAIN}
        self.claims.append(told)

    def finding(
        self,
        severity: "Severity",
        message: str,
        file: str,
        suggestion: str = "",
        line: int | None = None,
    ) -> None:
        """Add a defect or remark about one place."""
        self.findings.append(
            {
                "severity": severity,
                "message": message,
                "file": file,
                "line": line,
                "suggestion": suggestion,
                "confidence": CERTAIN,
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Give the value the tool returns."""
        told = {"claims": self.claims, "findings": self.findings, "gaps": self.gaps}
        return {"summary": "\n".join(self.lines), **told, **with_failures(self.failures)}


def with_failures(failures: Iterable[str]) -> dict[str, list[str]]:
    """Return the part of a tool's answer that makes its report partial; empty for no failure."""
    found = list(dict.fromkeys(failures))
    return {"failures": found} if found else {}


def fitted(make: Callable[[int], Reply], sizes: Sequence[int]) -> dict[str, Any]:
    """Give the first reply that is short enough, of ever smaller ones; else the smallest."""
    told: dict[str, Any] = {}
    for size in sizes:
        told = make(size).to_json()
        if len(json.dumps(told, ensure_ascii=False)) <= MAX_REPLY_CHARS:
            break
    return told


def listed(names: Iterable[str]) -> str:
    """Name some things in a line, and count the others."""
    found = list(names)
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return ", ".join(found[:MAX_NAMED]) + more


def counted(number: int, noun: str, plural: str = "") -> str:
    """Count a thing: 1 value, 2 values."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
