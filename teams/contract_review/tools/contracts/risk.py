"""Rate findings as risks: likelihood times impact, ranked, and drawn as a matrix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line

from .severity import Severity
from .tool_result import (
    NOT_LEGAL_ADVICE,
    ToolResult,
    format_table,
    is_short,
)

IMPACTS: dict[Severity, int] = {"critical": 5, "high": 4, "medium": 3, "low": 2, "info": 1}
LIKELIHOODS = ("rare", "unlikely", "possible", "likely", "almost certain")
UNKNOWN_LIKELIHOOD = 3
SHOWN_RISK_COUNTS = (40, 25, 12, 6)
"""Risks that are shown; fewer where they are too long together."""
MAX_CELL_CHARS = 160
RiskLevel = Literal["extreme", "high", "medium", "low"]
_LEVELS: tuple[tuple[int, RiskLevel], ...] = (
    (16, "extreme"),
    (10, "high"),
    (5, "medium"),
    (0, "low"),
)
_RULE = Pattern(r"\s*\[(?P<id>[a-z][a-z0-9_]*) (?P<likelihood>[1-5])/5\]\s*$")


class ReportedFinding(BaseModel):
    """A finding of the compliance check, as its report has it."""

    severity: Severity
    message: str = Field(min_length=1, max_length=4000)
    file: str = Field("", max_length=1000)
    line: int | None = Field(None, ge=1)
    suggestion: str = Field("", max_length=4000)
    confidence: int = Field(80, ge=0, le=100)


@dataclass(frozen=True)
class Risk:
    """A finding with its likelihood and impact."""

    finding: ReportedFinding
    message: str
    """The finding's words, without the name of its rule."""
    likelihood: int
    is_rated: bool
    """Whether the playbook has the likelihood; otherwise it is rated as possible."""

    @property
    def impact(self) -> int:
        """Return the impact of the severity, 1 to 5."""
        return IMPACTS[self.finding.severity]

    @property
    def score(self) -> int:
        """Return likelihood times impact, 1 to 25."""
        return self.likelihood * self.impact

    @property
    def level(self) -> RiskLevel:
        """Return the level of the score in words."""
        return next(level for least, level in _LEVELS if self.score >= least)


def rank_risks(findings: Sequence[ReportedFinding]) -> list[Risk]:
    """Rank findings by their score, without duplicates."""
    distinct = {(one.file, one.message): one for one in findings}
    risks = [_build_risk(finding) for finding in distinct.values()]
    return sorted(risks, key=lambda risk: (-risk.score, -risk.impact, risk.finding.file))


def report_risks(findings: Sequence[ReportedFinding], undone: str = "") -> ToolResult:
    """Return the matrix, the ranked risks, and a claim for each.

    Args:
        undone: what the check that made the findings could not do; empty if it did all.
    """
    risks = rank_risks(findings)
    answers = (_build_result(risks, risks[:most], undone) for most in SHOWN_RISK_COUNTS)
    return next(filter(is_short, answers), None) or _build_result(
        risks, risks[: SHOWN_RISK_COUNTS[-1]], undone
    )


def _build_result(risks: Sequence[Risk], shown: Sequence[Risk], undone: str) -> ToolResult:
    gaps = [*_describe_unrated(risks), NOT_LEGAL_ADVICE]
    if len(shown) < len(risks):
        gaps.insert(0, f"Only the {len(shown)} highest of {len(risks)} risks are shown")
    if undone:
        gaps.insert(0, f"There may be more risks than these: {undone}")
    return {
        "summary": _build_summary(risks, shown),
        "levels": {level: sum(risk.level == level for risk in risks) for _, level in _LEVELS},
        "claims": [_build_claim(risk) for risk in shown],
        "gaps": gaps,
    }


def _build_risk(finding: ReportedFinding) -> Risk:
    rated = _RULE.search(finding.message)
    message = finding.message[: rated.start()] if rated else finding.message
    likelihood = int(rated["likelihood"]) if rated else UNKNOWN_LIKELIHOOD
    return Risk(finding, sanitize_line(message, MAX_CELL_CHARS), likelihood, bool(rated))


def _build_claim(risk: Risk) -> dict[str, Any]:
    text = f"{risk.message.partition('. ')[0]}: a risk of level {risk.level}"
    return {
        "text": text,
        "source": risk.finding.file,
        "quote": "",
        "confidence": risk.finding.confidence,
    }


def _describe_unrated(risks: Sequence[Risk]) -> list[str]:
    count = sum(not risk.is_rated for risk in risks)
    if not count:
        return []
    shown = (
        f"{format_count(count, 'risk')} without a likelihood in the playbook, taken for "
        "possible (3)"
    )
    return [shown]


def _build_summary(risks: Sequence[Risk], shown: Sequence[Risk]) -> str:
    if not risks:
        return "No risk to rank: the check against the playbook has no findings."
    counts = [(level, sum(risk.level == level for risk in risks)) for _, level in _LEVELS]
    told = ", ".join(f"{count} {level}" for level, count in counts if count)
    several = len({risk.finding.file for risk in risks}) > 1
    rows = [_build_row(rank, risk, several) for rank, risk in enumerate(shown, start=1)]
    columns = ("no.", "risk", "where", "likelihood", "impact", "score", "level", "what to do")
    return "\n\n".join(
        [
            f"{format_count(len(risks), 'risk')}: {told}. Likelihood and impact are rated 1 "
            "to 5 by the "
            "playbook.",
            format_table(columns, rows),
            "### Matrix",
            _build_matrix(shown),
        ]
    )


def _build_row(rank: int, risk: Risk, with_file: bool) -> Sequence[str]:
    finding = risk.finding
    line = f"line {finding.line}" if finding.line else ""
    where = " ".join(filter(None, (finding.file if with_file else "", line)))
    return (
        str(rank),
        risk.message,
        where,
        str(risk.likelihood),
        str(risk.impact),
        str(risk.score),
        risk.level,
        sanitize_line(finding.suggestion, MAX_CELL_CHARS),
    )


def _build_matrix(risks: Sequence[Risk]) -> str:
    """Draw the numbers of the risks: likelihood downwards, impact to the right."""
    cells: dict[tuple[int, int], list[str]] = {}
    for rank, risk in enumerate(risks, start=1):
        cells.setdefault((risk.likelihood, risk.impact), []).append(str(rank))
    impacts = sorted(IMPACTS.values())
    rows = [
        (f"{likelihood} {LIKELIHOODS[likelihood - 1]}",
         *(", ".join(cells.get((likelihood, impact), [])) for impact in impacts))
        for likelihood in range(len(LIKELIHOODS), 0, -1)
    ]  # fmt: skip
    names = {value: name for name, value in IMPACTS.items()}
    columns = ("likelihood \\ impact", *(f"{impact} {names[impact]}" for impact in impacts))
    return format_table(columns, rows)
