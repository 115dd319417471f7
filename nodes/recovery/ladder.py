"""The recovery ladder: chooses what the next attempt at a task changes, if there is one."""

from collections.abc import Mapping, Sequence
from typing import Final

from state import Attempt, EscalationReason, RecoveryAction, Report, Rung, Tier

REMEDIES: Final[Mapping[EscalationReason, tuple[Rung, ...]]] = {
    "out_of_scope": ("reassign", "human"),
    "ambiguous_input": ("human", "assume", "reassign"),
    "confidence_too_low": ("tier", "reassign", "human"),
    "timeout": ("refine", "split", "human"),
}
"""The rungs that can resolve an escalation, in order, where the team's ladder has them."""
MAX_FORMS: Final = 2
"""Attempts that change nothing but how the model is asked."""


def choose_action(
    attempts: Sequence[Attempt],
    *,
    ladder: Sequence[Rung],
    max_attempts: int,
    stronger: Tier | None,
    others: Mapping[str, Tier],
    may_split: bool,
    min_confidence: int = 0,
    is_rule_based: bool = False,
) -> RecoveryAction | None:
    """Return the change for the next attempt; None when the last report is final.

    Each rung is used once. After a failure, `refine` may be repeated when no other rung is left,
    since each error leads to a new wording. A permanent fault ends the recovery. A fault of the
    model, which is not the task's, leads to another model whatever the ladder says; one of the
    worker leads to another worker; one of form (cut, unreadable, out of time) to a stronger model,
    or to the same task asked for in another way. A rung that cannot apply takes no attempt.

    Args:
        stronger: a tier above the last attempt's, after a fault of the model any tier with
            another model; None when there is none worth trying.
        others: the workers that may take the task, the best first, with their tiers.
        may_split: the task may be divided once more.
        min_confidence: a report below it, 0 to 100, is treated as one that escalates for it.
        is_rule_based: the built-in model works, which writes the same report to the same words:
            new words help once, and neither parts nor assumptions do.
    """
    last = attempts[-1]
    if len(attempts) >= max_attempts or last.fault == "permanent":
        return None
    if is_rule_based and last.report and last.report.status == "skipped":
        return None  # it has no input, and other words bring none
    tried = {attempt.worker for attempt in attempts}
    taken = {attempt.rung for attempt in attempts}
    untried = {name: tier for name, tier in others.items() if name not in tried}
    changes = _list_possible_actions(last, stronger, untried)
    if last.fault in ("model", "worker", "form") and not (is_rule_based and last.fault == "form"):
        return _choose_by_fault(attempts, changes, ladder)
    reason = get_escalation_reason(last.report, min_confidence)
    if not may_split or is_rule_based:
        del changes["split"]
    if reason != "ambiguous_input" or is_rule_based:
        del changes["assume"]
    wanted = ladder if reason is None else [rung for rung in REMEDIES[reason] if rung in ladder]
    for rung in wanted:
        if rung in changes and rung not in taken:
            return changes[rung]
    may_repeat = reason is None and not is_rule_based and "refine" in ladder
    return changes["refine"] if may_repeat else None


def _choose_by_fault(
    attempts: Sequence[Attempt], changes: Mapping[Rung, RecoveryAction], ladder: Sequence[Rung]
) -> RecoveryAction | None:
    """Return the change after a fault that is not the task's, which stays as it is."""
    if attempts[-1].fault in ("model", "worker"):
        return changes.get("tier" if attempts[-1].fault == "model" else "reassign")
    taken = [attempt.rung for attempt in attempts]
    if "tier" in changes and "tier" in ladder and "tier" not in taken:
        return changes["tier"]
    return changes["form"] if taken.count("form") < MAX_FORMS else None


def get_escalation_reason(
    report: Report | None, min_confidence: int = 0
) -> EscalationReason | None:
    """Return the reason why a worker escalated its task; None when it did not.

    A completed report below the confidence counts as one that escalates for it.
    """
    if report is None or report.status in ("failed", "skipped"):
        return None
    if report.escalation is not None:
        return report.escalation.reason
    return "confidence_too_low" if report.is_doubtful(min_confidence) else None


def _list_possible_actions(
    last: Attempt, stronger: Tier | None, others: Mapping[str, Tier]
) -> dict[Rung, RecoveryAction]:
    """Return the change for each rung that has one."""
    rungs: tuple[Rung, ...] = ("refine", "human", "split", "assume", "form")
    same = {rung: RecoveryAction(rung=rung, worker=last.worker, tier=last.tier) for rung in rungs}
    if stronger is not None:
        same["tier"] = RecoveryAction(rung="tier", worker=last.worker, tier=stronger)
    for name, tier in others.items():
        same["reassign"] = RecoveryAction(rung="reassign", worker=name, tier=tier)
        break
    return same
