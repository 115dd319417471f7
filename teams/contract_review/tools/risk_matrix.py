"""Rate findings as risks: likelihood times impact."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.text.counts import format_count
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.argument_types import ReportedFinding
from nodes.tools.framework.tool_report import Severity, ToolReport, fit_to_size

from .contracts.reading import NOT_LEGAL_ADVICE

IMPACTS: dict[Severity, int] = {"critical": 5, "high": 4, "medium": 3, "low": 2, "info": 1}
LIKELIHOODS = ("rare", "unlikely", "possible", "likely", "almost certain")
UNKNOWN_LIKELIHOOD = 3
SHOWN_RISK_COUNTS = (40, 25, 12, 6)
"""Risks that are shown; fewer where they are too long together."""
MAX_CELL_CHARS = 160
_LEVELS = ((16, "extreme"), (10, "high"), (5, "medium"), (0, "low"))
_RULE = Pattern(r"\s*\[[a-z][a-z0-9_]* (?P<likelihood>[1-5])/5\]\s*$")


@dataclass(frozen=True)
class Risk:
    """A finding with its likelihood and impact, each 1 to 5."""

    finding: ReportedFinding
    message: str
    """The finding's words, without the name of its rule."""
    likelihood: int
    impact: int

    @property
    def score(self) -> int:
        """Return likelihood times impact, 1 to 25."""
        return self.likelihood * self.impact

    @property
    def level(self) -> str:
        """Return the level of the score in words."""
        return next(level for least, level in _LEVELS if self.score >= least)


def rank_risks(findings: Sequence[ReportedFinding]) -> list[Risk]:
    """Rank findings by their score, without duplicates."""
    distinct = {(one.file, one.message): one for one in findings}
    risks = [_build_risk(finding) for finding in distinct.values()]
    return sorted(risks, key=lambda risk: (-risk.score, -risk.impact, risk.finding.file))


def report_risks(findings: Sequence[ReportedFinding], lacking: Sequence[str]) -> dict[str, Any]:
    """Return the matrix, the ranked risks, and a claim for each.

    Args:
        lacking: what the check that made the findings could not do; the ranking is then partial.
    """
    risks = rank_risks(findings)
    told = fit_to_size(partial(_build_report, risks, lacking), SHOWN_RISK_COUNTS)
    return told | {"levels": Counter(risk.level for risk in risks)}


def _build_risk(finding: ReportedFinding) -> Risk:
    rated = _RULE.search(finding.message)
    message = finding.message[: rated.start()] if rated else finding.message
    likelihood = int(rated["likelihood"]) if rated else UNKNOWN_LIKELIHOOD
    shown = sanitize_line(message, MAX_CELL_CHARS)
    return Risk(finding, shown, likelihood, IMPACTS[finding.severity])


def _build_report(risks: Sequence[Risk], lacking: Sequence[str], most: int) -> ToolReport:
    report = ToolReport(gaps=[NOT_LEGAL_ADVICE])
    report.failures += [f"there may be more risks than these: {each}" for each in lacking]
    if not risks:
        report.lines.append("No risk to rank: the check against the playbook has no findings.")
        return report
    levels = Counter(risk.level for risk in risks)
    counts = ", ".join(f"{levels[level]} {level}" for _, level in _LEVELS if levels[level])
    report.lines.append(f"{format_count(len(risks), 'risk')}: {counts}.\n")
    rows = list[tuple[object, ...]]()
    cells: dict[tuple[int, int], str] = {}
    for rank, risk in enumerate(risks[:most], start=1):
        finding, rating = risk.finding, (risk.likelihood, risk.impact)
        where = f"{finding.file} line {finding.line}" if finding.line else finding.file
        advice = sanitize_line(finding.suggestion, MAX_CELL_CHARS)
        rows.append((rank, risk.message, where, *rating, risk.score, risk.level, advice))
        cells[rating] = f"{cells[rating]}, {rank}" if rating in cells else str(rank)
        text = f"{risk.message.partition('. ')[0]}: a risk of level {risk.level}"
        report.add_claim(text, finding.file)
    columns = ("no.", "risk", "where", "likelihood", "impact", "score", "level", "what to do")
    report.add_table(columns, rows)
    impacts = sorted(IMPACTS.items(), key=lambda item: item[1])
    matrix = [
        (f"{number} {name}", *(cells.get((number, impact), "") for _, impact in impacts))
        for number, name in reversed(list(enumerate(LIKELIHOODS, start=1)))
    ]
    names = [f"{impact} {name}" for name, impact in impacts]
    report.add_table(("likelihood \\ impact", *names), matrix, "Matrix")
    if len(risks) > most:
        report.gaps.append(f"Only the {most} highest of {len(risks)} risks are shown")
    return report


ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def risk_matrix(
    findings: Annotated[
        list[ReportedFinding],
        Field(description="Findings of the compliance reports, unchanged", max_length=500),
    ],
    lacking: Annotated[list[str] | None, InjectedState("lacking")] = None,
) -> dict[str, Any]:
    """Rank findings by likelihood times impact, and draw the matrix.

    The severity is the impact; the brackets at the end of a message hold the playbook's
    likelihood, such as 4 of 5.
    Example: risk_matrix(findings=[{"severity": "high", "message": "Automatic renewal (clause 2).
    Whoever misses the date is bound again. [auto_renewal 4/5]", "file": "a.txt"}])
    """
    if lacking and not findings:
        undone = "; ".join(lacking)
        raise ToolRefused(f"no risk can be ranked, as the check did not run to its end: {undone}")
    return report_risks(findings, lacking or [])
