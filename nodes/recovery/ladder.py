"""The recovery ladder: chooses what the next attempt at a task changes, if there is one."""

from collections.abc import Mapping, Sequence
from typing import Final

from state import Attempt, EscalationReason, RecoveryAction, Report, Rung, Tier

REMEDIES: Final[Mapping[EscalationReason, tuple[Rung, ...]]] = {
    "out_of_scope": ("reassign", "human"),
    "ambiguous_input": ("human",),
    "confidence_too_low": ("tier", "reassign", "human"),
    "timeout": ("refine", "split", "human"),
}
"""The rungs that can resolve an escalation, in order, where the team's ladder has them."""


def choose_action(
    attempts: Sequence[Attempt],
    *,
    ladder: Sequence[Rung],
    max_attempts: int,
    stronger: Tier | None,
    others: Mapping[str, Tier],
    may_split: bool,
) -> RecoveryAction | None:
    """Return the change for the next attempt; None when the last report is final.

    Each rung is used once. After a failure, `refine` may be repeated when no other rung is left,
    since each error leads to a new wording. A permanent fault ends the recovery. A fault of the
    model, which is not the task's, leads to another model whatever the ladder says.

    Args:
        stronger: a tier above the last attempt's, after a fault of the model any tier with
            another model; None when there is none worth trying.
        others: the workers that may take the task, the best first, with their tiers.
        may_split: the task may be divided once more.
    """
    last = attempts[-1]
    if len(attempts) >= max_attempts or last.fault == "permanent":
        return None
    if last.fault == "model":
        if stronger is None:
            return None
        return RecoveryAction(rung="tier", worker=last.worker, tier=stronger)
    tried = {attempt.worker for attempt in attempts}
    taken = {attempt.rung for attempt in attempts}
    untried = {name: tier for name, tier in others.items() if name not in tried}
    changes = _list_possible_actions(last, stronger, untried, may_split=may_split)
    reason = get_escalation_reason(last.report)
    wanted = ladder if reason is None else [rung for rung in REMEDIES[reason] if rung in ladder]
    for rung in wanted:
        if rung in changes and rung not in taken:
            return changes[rung]
    return changes["refine"] if reason is None and "refine" in ladder else None


def get_escalation_reason(report: Report | None) -> EscalationReason | None:
    """Return the reason why a worker escalated its task; None when it did not."""
    if report is None or report.escalation is None or report.status in ("failed", "skipped"):
        return None
    return report.escalation.reason


def _list_possible_actions(
    last: Attempt, stronger: Tier | None, others: Mapping[str, Tier], *, may_split: bool
) -> dict[Rung, RecoveryAction]:
    """Return the possible change for each rung."""
    rungs: tuple[Rung, ...] = ("refine", "human", "split") if may_split else ("refine", "human")
    same = {rung: RecoveryAction(rung=rung, worker=last.worker, tier=last.tier) for rung in rungs}
    if stronger is not None:
        same["tier"] = RecoveryAction(rung="tier", worker=last.worker, tier=stronger)
    for name, tier in others.items():
        same["reassign"] = RecoveryAction(rung="reassign", worker=name, tier=tier)
        break
    return same
