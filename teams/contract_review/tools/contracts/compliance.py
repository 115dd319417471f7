"""Check a contract against a playbook: findings, quotations, what is left to a human."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from nodes.tools.framework.tool_report import SEVERITIES, ToolReport, join_names

from .clause_kinds import find_kind, load_clause_kinds
from .clauses import SIGNATURES
from .contract import Contract, PhraseHit
from .facts import name_contract
from .phrases import PhraseMatch, Quantity, find_quantities
from .playbook import SHIPPED_PLAYBOOK, Playbook, PlaybookRule, parse_limit, read_playbook
from .reading import (
    add_quotation,
    fit_claims,
    format_place,
    format_quotation,
    list_reading_gaps,
    read_contract,
)

RuleState = Literal["stated", "missing", "found", "absent", "within", "over", "under", "silent"]
BREACH_STATES: Final[tuple[RuleState, ...]] = ("missing", "found", "over", "under")
MISMATCH_RULE_ID: Final = "number_mismatch"


@dataclass(frozen=True)
class RuleResult:
    """The result of one rule, and where its wording is."""

    rule: PlaybookRule
    state: RuleState
    hits: tuple[PhraseHit, ...] = ()

    @property
    def is_breach(self) -> bool:
        """Return whether it is a finding."""
        return self.state in BREACH_STATES


def check_rules(contract: Contract, playbook: Playbook) -> list[RuleResult]:
    """Check every rule; breaches come first, the most severe before the others."""
    found = [_check_rule(contract, rule) for rule in playbook.rules]
    if playbook.number_mismatch != "off" and (wrong := tuple(_find_number_mismatches(contract))):
        found.append(RuleResult(_build_mismatch_rule(playbook.number_mismatch), "found", wrong))
    return sorted(
        found, key=lambda each: (not each.is_breach, SEVERITIES.index(each.rule.severity))
    )


def _check_rule(contract: Contract, rule: PlaybookRule) -> RuleResult:
    hits = find_kind(contract, load_clause_kinds()[rule.clause]) if rule.clause else []
    hits = _drop_repeated_hits([*hits, *contract.find_phrases(rule.any, rule.unless)])
    if rule.kind == "required":
        return RuleResult(rule, "stated" if hits else "missing", _drop_bare_headings(hits))
    if rule.kind == "forbidden":
        return RuleResult(rule, "found" if hits else "absent", _drop_bare_headings(hits))
    return _check_limits(rule, [(hit, hit.match.quantity) for hit in hits if hit.match.quantity])


def _check_limits(rule: PlaybookRule, hits: Sequence[tuple[PhraseHit, Quantity]]) -> RuleResult:
    comparable = list[PhraseHit]()
    limits: dict[RuleState, str | None] = {"over": rule.max, "under": rule.min}
    for state, limit in limits.items():
        if limit is None:
            continue
        bound, sign = parse_limit(limit), 1 if state == "over" else -1
        known = [(hit, quantity) for hit, quantity in hits if quantity.unit == bound.unit]
        if beyond := [hit for hit, each in known if sign * (each.value - bound.value) > 0]:
            return RuleResult(rule, state, tuple(beyond))
        comparable += [hit for hit, _ in known]
    return RuleResult(rule, "within" if comparable else "silent", tuple(comparable))


def _drop_repeated_hits(hits: Iterable[PhraseHit]) -> list[PhraseHit]:
    first: dict[tuple[tuple[int, int], Quantity | None], PhraseHit] = {}
    for hit in hits:
        first.setdefault((hit.sentence, hit.match.quantity), hit)
    return list(first.values())


def _drop_bare_headings(hits: Sequence[PhraseHit]) -> tuple[PhraseHit, ...]:
    """Remove bare headings, unless there is nothing else."""
    return tuple(hit for hit in hits if not hit.is_bare_heading) or tuple(hits)


def _find_number_mismatches(contract: Contract) -> Iterator[PhraseHit]:
    for quantity in find_quantities(contract.text.lowercase):
        clause = contract.find_clause(quantity.start)
        if quantity.is_contradictory and clause.number != SIGNATURES:
            yield contract.build_hit(PhraseMatch(quantity.start, quantity.end, quantity))


def _build_mismatch_rule(severity: str) -> PlaybookRule:
    return PlaybookRule.model_validate(
        {
            "id": MISMATCH_RULE_ID,
            "title": "Number whose words and figures differ",
            "kind": "forbidden",
            "severity": severity,
            "likelihood": 4,
            "any": ["number"],
            "why": "Which of the two counts is open; courts often follow the words.",
            "remedy": "Have the number put right before anyone signs.",
        }
    )


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
