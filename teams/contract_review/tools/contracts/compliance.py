"""Report a check against a playbook: findings, quotations, what is left to a human."""

from functools import partial
from typing import Any

from nodes.tools.framework.tool_report import ToolReport, join_names

from .contract import Contract
from .facts import name_contract
from .playbook import SHIPPED_PLAYBOOK, Playbook, read_playbook
from .reading import (
    add_quotation,
    fit_claims,
    format_place,
    format_quotation,
    list_reading_gaps,
    read_contract,
)
from .rule_check import RuleResult, check_rules

MISSING_CONFIDENCE = 75
"""Confidence in a term that is missing: other words may say it."""
MAX_CELL_CHARS = 150
MAX_JUDGEMENTS = 20


def check(name: str, text: str, playbook_name: str, playbook_text: str) -> dict[str, Any]:
    """Return a finding for each breach, and a claim with its quotation for each hit.

    Args:
        playbook_name: empty for the team's own playbook.

    Raises:
        ToolRefused: the text is no contract, or the playbook cannot be used.
    """
    if not playbook_name:
        playbook_text = SHIPPED_PLAYBOOK.read_text(encoding="utf-8")
    playbook = read_playbook(playbook_name or SHIPPED_PLAYBOOK.name, playbook_text)
    contract = read_contract(name, text)
    results = check_rules(contract, playbook)
    told = fit_claims(partial(_build_report, contract, playbook, results))
    return {**told, "playbook": playbook_name or "the team's own"}


def _build_report(
    contract: Contract, playbook: Playbook, results: list[RuleResult], most: int
) -> ToolReport:
    report, name = ToolReport(), name_contract(contract)
    breaches = [result for result in results if result.is_breach]
    report.lines.append(
        f"{contract.name} against \u201c{playbook.name}\u201d: {len(results)} terms checked, "
        f"{len(breaches)} to look at.\n"
    )
    rows = [_build_row(contract, each) for each in results if each.is_breach or each.hits]
    report.add_table(("term", "state", "severity", "where", "words"), rows)
    absent = [each.rule.title.lower() for each in results if not each.is_breach and not each.hits]
    if absent:
        report.lines.append(f"Looked for and not there: {', '.join(absent)}.")
    for each in breaches[: 2 * most]:
        _add_finding(report, contract, each)
    if len(breaches) > 2 * most:
        report.failures.append(f"{len(breaches) - 2 * most} findings are left out for length")
    for each in [each for each in results if each.hits][:most]:
        passage = contract.build_passage(each.hits[0])
        add_quotation(report, contract, f"{name}: {_describe_result(each)}", passage)
    judged = [f"{r.rule.title.lower()} ({r.hits[0].clause.number})" for r in breaches if r.hits]
    if judged:
        report.gaps.append(
            f"{contract.name}: the playbook compares words; whether these terms are acceptable "
            f"is for a human to judge: {'; '.join(judged[:MAX_JUDGEMENTS])}"
        )
    report.gaps += list_reading_gaps(contract)
    return report


def _add_finding(report: ToolReport, contract: Contract, result: RuleResult) -> None:
    """Add a finding; the rule and likelihood in brackets are read by the risk matrix."""
    rule, place, line = result.rule, "", None
    if result.hits:
        clauses = dict.fromkeys(hit.clause.number for hit in result.hits)
        line = contract.text.find_line_number(result.hits[0].clause.start)
        place = f" ({'clause ' * next(iter(clauses))[0].isdigit()}{join_names(clauses)}"
        if quantity := result.hits[0].match.quantity:
            stated = contract.text.format_on_one_line(quantity.start, quantity.end)
            place += f": \u201c{stated}\u201d"
        place += ")"
    what = f"{_describe_result(result)}{place}. {rule.why}".rstrip()
    message = f"{what} [{rule.id} {rule.likelihood}/5]"
    report.add_finding(rule.severity, message, contract.name, rule.remedy, line)
    if not result.hits:
        report.findings[-1]["confidence"] = MISSING_CONFIDENCE


def _describe_result(result: RuleResult) -> str:
    """Name the term and its result, in few words: findings in similar words would be merged."""
    rule = result.rule
    if rule.kind == "forbidden":
        return rule.title
    limit = {"over": rule.max, "under": rule.min}.get(result.state) or ""
    return f"{rule.title} {result.state} {limit}".rstrip()


def _build_row(contract: Contract, result: RuleResult) -> tuple[str, ...]:
    severity = result.rule.severity if result.is_breach else ""
    if not result.hits:
        return result.rule.title, result.state, severity, "", ""
    passage = contract.build_passage(result.hits[0], MAX_CELL_CHARS)
    words = format_quotation(contract, passage, MAX_CELL_CHARS)
    return result.rule.title, result.state, severity, format_place(contract, passage), words
