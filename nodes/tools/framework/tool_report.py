"""Build a tool's result in the form of a report: a summary, claims, findings and gaps."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

Severity = Literal["critical", "high", "medium", "low", "info"]
"""As in `state`, which loads LangGraph: too much for a child process."""
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
"""The gravest first."""
MAX_REPORT_CHARS = 20_000
"""Limit of a result as JSON: below what an agent keeps of a tool's answer."""
MAX_JOINED_NAMES = 12
MAX_TABLE_ROWS = 80
RULE_CONFIDENCE = 95
"""Confidence in what was read or computed by rule."""


@dataclass
class ToolReport:
    """A tool's result that both humans and models can read."""

    lines: list[str] = field(default_factory=list)
    claims: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Input that was not read, for a failure or a limit: the report is partial."""

    def add_table(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        title: str = "",
        max_rows: int = MAX_TABLE_ROWS,
    ) -> None:
        """Add a table under its title."""
        if title:
            self.lines.append(f"### {title}\n")
        self.lines.append(format_table(columns, rows, max_rows) + "\n")

    def add_claim(self, text: str, source: str, quote: str = "") -> None:
        """Add a statement and its place."""
        told = {"text": text, "source": source, "quotation": quote, "confidence": RULE_CONFIDENCE}
        self.claims.append(told)

    def add_finding(
        self,
        severity: Severity,
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
                "confidence": RULE_CONFIDENCE,
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Return the tool's result value."""
        told = {"claims": self.claims, "findings": self.findings, "gaps": self.gaps}
        return {"summary": "\n".join(self.lines), **told, **build_failures_part(self.failures)}


def format_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], max_rows: int = MAX_TABLE_ROWS
) -> str:
    """Return a Markdown table with a limited number of rows."""
    lines = [columns, ["---"] * len(columns), *rows[:max_rows]]
    text = "\n".join("| " + " | ".join(map(format_cell, line)) + " |" for line in lines)
    left = len(rows) - max_rows
    return f"{text}\n\n{left} more rows are not shown." if left > 0 else text


def format_cell(value: object) -> str:
    """Return a value as a cell of a Markdown table."""
    return " ".join(str("" if value is None else value).split()).replace("|", "\\|")


def build_failures_part(failures: Iterable[str]) -> dict[str, list[str]]:
    """Return the part of a result that makes its report partial; empty if nothing failed."""
    found = list(dict.fromkeys(failures))
    return {"failures": found} if found else {}


def fit_to_size(make: Callable[[int], ToolReport], sizes: Sequence[int]) -> dict[str, Any]:
    """Return the first result that is short enough, of ever smaller ones; else the smallest."""
    told: dict[str, Any] = {}
    for size in sizes:
        told = make(size).to_json()
        if len(json.dumps(told, ensure_ascii=False)) <= MAX_REPORT_CHARS:
            break
    return told


def join_names(names: Iterable[str]) -> str:
    """Return some names on a line, and the number of the others."""
    found = list(names)
    more = f" and {len(found) - MAX_JOINED_NAMES} more" if len(found) > MAX_JOINED_NAMES else ""
    return ", ".join(found[:MAX_JOINED_NAMES]) + more


def escalate_out_of_scope(message: str) -> dict[str, Any]:
    """Escalate the task as out of scope, in the form of a report."""
    return {"escalation": {"reason": "out_of_scope", "message": message}}
