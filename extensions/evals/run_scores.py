"""Scores of a row's run and of its answer."""

from collections.abc import Iterator

from extensions.evals.matching import is_found_in
from extensions.evals.metric_score import Score, join_names, score_share
from extensions.evals.result import RowResult
from extensions.evals.rows import ExamRow, ExpectedFinding
from state import COMPLETE_STATUSES, Answer, Claim, Finding


def score_facts(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the golden facts that the answer has."""
    text = trial.answer_text
    return score_share(row.expect.facts, lambda fact: is_found_in(fact, text), "not in the answer:")


def score_sources(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected sources that the answer names."""
    answer = _get_answer(trial)
    cited = answer.sources if answer else ()
    return score_share(row.expect.sources, cited.__contains__, "not cited:")


def score_citations(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of valid citations, if an answer is expected.

    A source that the answer names must be a material or the source of a claim; a claim must be
    proved.
    """
    if row.expect.expects_refusal:
        return None
    answer, claims = _get_answer(trial), list(_list_claims(trial))
    known = {*trial.materials, *(claim.source for claim in claims)}
    held = [(source, source in known) for source in (answer.sources if answer else ())]
    held += [(claim.source, claim.proof != "unproved") for claim in claims if claim.proof]
    if not held:
        return None
    false = sorted({source for source, holds in held if not holds})
    value = sum(holds for _, holds in held) / len(held)
    return Score(value, f"not valid: {join_names(false)}" if false else "")


def score_findings(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the share of the expected findings that the answer has."""
    answer = _get_answer(trial)
    found = answer.findings if answer else ()
    return score_share(
        row.expect.findings,
        lambda wanted: any(matches_finding(wanted, finding) for finding in found),
        "not found:",
        name=lambda wanted: " ".join(str(value) for _, value in wanted if value),
    )


def score_completion(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a run that must lack nothing did so; `done`, where expected, is no less."""
    if row.expect.needs_only_a_plan or row.expect.expects_refusal:
        return None
    expected = ("done",) if row.expect.status == "done" else COMPLETE_STATUSES
    is_done = trial.status in expected
    why = str(trial.error) if trial.error else f"ended {trial.status}"
    return Score(float(is_done), "" if is_done else why)


def score_refusal(row: ExamRow, trial: RowResult) -> Score | None:
    """Return whether a request that must not be answered was escalated, or ended as expected.

    If `partial` is expected, an answer that no task found anything is accepted too.
    """
    expect = row.expect
    if not expect.expects_refusal:
        return None
    reports = trial.outcome.results.values() if trial.outcome else ()
    reasons = sorted({report.escalation.reason for report in reports if report.escalation})
    if expect.escalation and expect.escalation not in reasons:
        return Score(0.0, f"refused as {join_names(reasons)}" if reasons else "not refused")
    ended = (
        {trial.status, "partial"}
        if trial.answer_text and trial.status == "failed"
        else {trial.status}
    )
    if expect.status and expect.status not in ended:
        return Score(0.0, f"ended {trial.status}")
    return Score(1.0)


def score_parallelism(row: ExamRow, trial: RowResult) -> Score | None:
    """Return the critical path over the wall time; None if nothing could be saved.

    That is so if the plan is one chain, or no task waited for anything outside the process.
    """
    timing = trial.outcome.timing if trial.outcome else {}
    if trial.plan is None or len(trial.plan.tasks) <= trial.plan.measure_depth():
        return None
    if timing.get("speedup") is None:
        return None
    return Score(min(1.0, timing["critical_path_s"] / timing["wall_s"]))


def matches_finding(wanted: ExpectedFinding, finding: Finding) -> bool:
    """Return whether a finding matches every given field of the expected one."""
    return (
        wanted.file in ("", finding.file)
        and wanted.line in (None, finding.line)
        and wanted.severity in (None, finding.severity)
        and (not wanted.message or is_found_in(wanted.message, finding.message))
    )


def _get_answer(trial: RowResult) -> Answer | None:
    return trial.outcome.answer if trial.outcome else None


def _list_claims(trial: RowResult) -> Iterator[Claim]:
    for report in trial.outcome.results.values() if trial.outcome else ():
        if report.status == "completed":
            yield from report.claims
