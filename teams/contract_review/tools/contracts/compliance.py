"""Report a check against a playbook: findings, quotations, what is left to a human."""

from collections.abc import Sequence
from typing import Any

from .contract import Contract
from .facts import find_title
from .playbook import Playbook, parse_limit
from .rule_check import RuleResult, check_rules
from .tool_result import (
    NOT_LEGAL_ADVICE,
    ToolResult,
    build_claim,
    build_place,
    fit_to_size,
    format_quotation,
    format_table,
)

FOUND_CONFIDENCE, MISSING_CONFIDENCE = 90, 75
"""Confidence of a finding: wording that was found, and wording that was not found."""
MAX_SHOWN_CLAUSES = 3
MAX_CELL_CHARS = 150
MAX_ROWS = 30
MAX_JUDGEMENTS = 20


def report_compliance(contract: Contract, playbook: Playbook) -> ToolResult:
    """Return a finding for each breach, and a claim with its quotation for each hit."""
    told = check_rules(contract, playbook)
    breaches = [verdict for verdict in told if verdict.is_breach]
    passages = [
        (verdict, contract.build_passage(verdict.hits[0])) for verdict in told if verdict.hits
    ]
    passages = [(verdict, passage) for verdict, passage in passages if passage.start < passage.end]
    name = find_title(contract) or contract.name
    return fit_to_size(
        {
            "summary": _build_summary(contract, playbook, told),
            "findings": [_build_finding(contract, verdict) for verdict in breaches],
            "gaps": [*_list_judgements(contract, breaches), NOT_LEGAL_ADVICE],
            "claims": [
                build_claim(
                    contract,
                    f"{_describe_result(verdict)}: {passage.clause.name} of the {name}",
                    passage,
                )
                for verdict, passage in passages
            ],
            "places": [build_place(contract, passage) for _, passage in passages],
        },
        ("claims", "places"),
        ("findings",),
    )


def _build_finding(contract: Contract, verdict: RuleResult) -> dict[str, Any]:
    """Build a finding; the rule and likelihood in brackets are read by the risk matrix."""
    rule = verdict.rule
    reason = f" {rule.why}" if rule.why else ""
    found: dict[str, Any] = {
        "severity": rule.severity,
        "message": f"{_describe_result(verdict)}{_describe_place(contract, verdict)}.{reason}"
        f" [{rule.id} {rule.likelihood}/5]",
        "file": contract.name,
        "suggestion": rule.remedy,
        "confidence": FOUND_CONFIDENCE if verdict.hits else MISSING_CONFIDENCE,
    }
    if verdict.hits:
        found["line"] = contract.text.find_line_number(verdict.hits[0].clause.start)
    return found


def _describe_result(verdict: RuleResult) -> str:
    """Name the term and its result, in few words: findings in similar words would be merged."""
    rule = verdict.rule
    if rule.kind == "required":
        return f"{rule.title} {verdict.state}"
    if rule.kind == "forbidden":
        return rule.title
    if verdict.state == "within":
        return f"{rule.title} within {' to '.join(filter(None, (rule.min, rule.max)))}"
    return f"{rule.title} {_describe_excess(verdict)}"


def _describe_excess(verdict: RuleResult) -> str:
    rule = verdict.rule
    quantity = verdict.hits[0].match.quantity if verdict.hits else None
    if (
        quantity is not None
        and rule.max is not None
        and quantity.value > parse_limit(rule.max).value
    ):
        return f"over {rule.max}"
    return f"under {rule.min}"


def _describe_place(contract: Contract, verdict: RuleResult) -> str:
    numbers = list(dict.fromkeys(hit.clause.number for hit in verdict.hits))
    if not numbers:
        return ""
    over = len(numbers) - MAX_SHOWN_CLAUSES
    listed = ", ".join(numbers[:MAX_SHOWN_CLAUSES]) + (f" and {over} more" if over > 0 else "")
    noun = "clause " if numbers[0][0].isdigit() else ""
    quantity = verdict.hits[0].match.quantity
    if quantity is None:
        return f" ({noun}{listed})"
    stated = contract.text.format_on_one_line(quantity.start, quantity.end)
    return f" ({noun}{listed}: \u201c{stated}\u201d)"


def _list_judgements(contract: Contract, breaches: Sequence[RuleResult]) -> list[str]:
    listed = "; ".join(
        f"{verdict.rule.title.lower()} ({verdict.hits[0].clause.number})"
        for verdict in [verdict for verdict in breaches if verdict.hits][:MAX_JUDGEMENTS]
    )
    if not listed:
        return []
    return [
        f"{contract.name}: the playbook compares words; whether these terms are acceptable here is "
        f"for a human to judge: {listed}"
    ]


def _build_summary(contract: Contract, playbook: Playbook, told: Sequence[RuleResult]) -> str:
    breaches = sum(verdict.is_breach for verdict in told)
    rows = [_build_row(contract, verdict) for verdict in told if verdict.is_breach or verdict.hits]
    over = len(rows) - MAX_ROWS
    more = [(f"… and {over} more", "", "", "", "")] if over > 0 else []
    rest = [v.rule.title.lower() for v in told if not v.is_breach and not v.hits][:MAX_ROWS]
    parts = [
        f"{contract.name} against \u201c{playbook.name}\u201d: {len(told)} terms checked, "
        f"{breaches} to look at.",
        format_table(("term", "state", "severity", "clause", "words"), [*rows[:MAX_ROWS], *more]),
    ]
    if rest:
        parts.append(f"Looked for and not there: {', '.join(rest)}.")
    return "\n\n".join(parts)


def _build_row(contract: Contract, verdict: RuleResult) -> Sequence[str]:
    severity = verdict.rule.severity if verdict.is_breach else ""
    state = _describe_excess(verdict) if verdict.state == "beyond" else verdict.state
    if not verdict.hits:
        return verdict.rule.title, state, severity, "", ""
    hit = verdict.hits[0]
    words = format_quotation(contract, contract.build_passage(hit, MAX_CELL_CHARS), MAX_CELL_CHARS)
    where = f"{hit.clause.number}, line {contract.text.find_line_number(hit.clause.start)}"
    return verdict.rule.title, state, severity, where, words
