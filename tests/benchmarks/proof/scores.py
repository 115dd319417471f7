"""Counts planted faults that were found at their place, and false alarms."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.benchmarks.proof.cases import KINDS, TRUE, Case
from tests.benchmarks.proof.free import FAULTS
from tests.benchmarks.proof.judge import Judge

NO_TEXT = re.compile(r"[\s|:`*#-]*")


@dataclass(frozen=True)
class Result:
    """What a judge made of a case."""

    case: Case
    is_found: bool
    """Of a planted fault: at the place where it is."""
    claim_alarms: tuple[int, ...] = ()
    """True claims that it says are not proved."""
    line_alarms: tuple[str, ...] = ()
    """Right lines that it marked."""
    problems: tuple[str, ...] = ()
    claims: int = 0
    """The true ones."""
    lines: int = 0
    """The right ones that say something."""

    @property
    def has_alarm(self) -> bool:
        """Return whether anything that is right was called wrong; in a true report, any problem."""
        is_doubted = self.case.kind == TRUE and bool(self.problems)
        return bool(self.claim_alarms or self.line_alarms) or is_doubted


def judge_case(judge: Judge, case: Case, *, has_answer: bool = True) -> Result:
    """Return what a judge makes of a case; of one without an answer, of its report only."""
    unproved, problems = judge.judge_report(case)
    marked = [each.strip() for each in judge.judge_answer(case)] if has_answer else []
    said = [each.strip() for each in case.answer.splitlines() if not NO_TEXT.fullmatch(each)]
    planted = case.fault_line.strip()
    skipped = {planted, *(each.strip() for each in case.unjudged_lines)}
    right = [each for each in said if each not in skipped] if has_answer else []
    true_claims = [at for at in range(len(case.report.claims)) if at != case.fault_claim]
    in_report = case.fault_claim is not None and case.fault_claim in unproved
    in_answer = planted != "" and any(_is_line(each, planted) for each in marked)
    return Result(
        case=case,
        is_found=in_report or in_answer,
        claim_alarms=tuple(at for at in true_claims if at in unproved),
        line_alarms=tuple(each for each in right if any(_is_line(one, each) for one in marked)),
        problems=tuple(problems),
        claims=len(true_claims),
        lines=len(right),
    )


def _is_line(marked: str, line: str) -> bool:
    """Return whether what was marked is a line, or the line with a mark after it."""
    return marked == line or (len(line) > 8 and marked.startswith(line))


def format_kinds(results: Sequence[Result]) -> str:
    """Return the table of the generated cases, in Markdown."""
    total = Counter(each.case.kind for each in results if each.case.kind != TRUE)
    found = Counter(each.case.kind for each in results if each.is_found)
    lines = ["| kind | found | of | share |", "|---|---|---|---|"]
    lines += [_format_row(kind, found[kind], total[kind]) for kind in KINDS if total[kind]]
    lines += [_format_row("overall", found.total(), total.total()), ""]
    true_reports = [each for each in results if each.case.kind == TRUE]
    alarms = (
        ("claims", sum(len(each.claim_alarms) for each in results), _sum_claims(results)),
        ("lines", sum(len(each.line_alarms) for each in results), _sum_lines(results)),
        ("true reports", sum(each.has_alarm for each in true_reports), len(true_reports)),
    )
    lines += ["| false alarms | count | of | share |", "|---|---|---|---|"]
    return "\n".join((*lines, *(_format_row(*each) for each in alarms))) + "\n"


def format_free(results: Sequence[Result]) -> str:
    """Return the table of the claims that were written freely, in Markdown."""
    lines = ["| free claims | found | of | share |", "|---|---|---|---|"]
    for fault in FAULTS:
        chosen = [each for each in results if each.case.kind == fault]
        lines.append(_format_row(fault, sum(each.is_found for each in chosen), len(chosen)))
    true = [each for each in results if each.case.kind == TRUE]
    lines.append(_format_row("alarms on true", sum(each.has_alarm for each in true), len(true)))
    return "\n".join(lines) + "\n"


def _sum_claims(results: Iterable[Result]) -> int:
    return sum(each.claims for each in results)


def _sum_lines(results: Iterable[Result]) -> int:
    return sum(each.lines for each in results)


def _format_row(name: str, count: int, total: int) -> str:
    return f"| {name} | {count} | {total} | {count / max(total, 1):.1%} |"


def list_errors(result: Result) -> list[dict[str, object]]:
    """Return each miss and false alarm of a case, for a human to read."""
    case = result.case
    row: dict[str, object] = {"case": case.id, "kind": case.kind, "problems": result.problems}
    errors = [
        {"error": "claim alarm", **_describe_claim(case, at), **row} for at in result.claim_alarms
    ]
    errors += [{"error": "line alarm", "line": each, **row} for each in result.line_alarms]
    if case.kind != TRUE and not result.is_found:
        at = case.fault_claim
        claim = {} if at is None else _describe_claim(case, at)
        errors.append({"error": "missed", "fault": case.fault, **claim, **row})
    if case.kind == TRUE and result.problems and not errors:
        errors.append({"error": "problem of a true report", **row})
    return errors


def _describe_claim(case: Case, at: int) -> dict[str, object]:
    claim = case.report.claims[at].model_dump(exclude={"confidence"})
    return {"index": at, "form": case.forms[at], **claim}
