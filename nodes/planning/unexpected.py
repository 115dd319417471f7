"""Which reports are not as planned, by rule: they cost a look at the rest of the plan."""

from collections import Counter
from collections.abc import Sequence

from nodes.limits.patterns import Pattern
from nodes.limits.stop_requests import STOPPED
from nodes.text.terms import extract_terms
from nodes.text.word_lists import NEGATIONS
from state import Report, Task

MAX_READ_CHARS = 4_000
"""Of a report's words."""
MAX_DENIED_WORDS = 3
"""Words after a negation that it is taken to deny."""

_CLAUSE_END = Pattern(r"[.;:!?\n]")
_WORD = Pattern(r"[^\W_][\w'\u2019-]*")


def describe_surprise(report: Report, dependants: Sequence[Task], *, min_confidence: int) -> str:
    """Return why a report is not as planned; empty when it is.

    It failed or escalated, says that later work is pointless, is less confident than the team
    wants, or denies in English what a task that waits for it builds on ("no bug", where the next
    task describes the bug). That a human stopped a task is no reason to plan it in another way.

    Args:
        dependants: the waiting tasks that depend on it.
        min_confidence: the team's floor, 0 to 100.
    """
    if report.error == STOPPED:
        return ""
    if report.status == "failed":
        return f"it failed: {report.error or report.output}"
    if report.escalation is not None:
        return f"it could not be done, {report.escalation.reason}: {report.escalation.message}"
    if report.invalidates:
        return report.invalidates
    if report.is_doubtful(min_confidence):
        return f"its confidence is {report.confidence} of 100"
    if denied := find_denied_terms(report, dependants):
        return f"it denies what later tasks build on: {', '.join(sorted(denied))}"
    return ""


def find_denied_terms(report: Report, dependants: Sequence[Task]) -> frozenset[str]:
    """Return the terms of waiting tasks that a report denies, half of the time or more.

    What a report describes otherwise is there, though some sentence about it has a negation.
    """
    if report.status != "completed" or not dependants:
        return frozenset()
    said = "\n".join((report.output, *(claim.text for claim in report.claims)))[:MAX_READ_CHARS]
    said = said.replace("\u2019", "'")
    if not any(map(_is_negation, _WORD.findall(said))):
        return frozenset()
    wanted = frozenset[str]().union(*(extract_terms(task.description) for task in dependants))
    mentions, denials = _count_mentions(said)
    return frozenset(term for term in wanted if 2 * denials[term] >= max(1, mentions[term]))


def _count_mentions(text: str) -> tuple[Counter[str], Counter[str]]:
    """Count how often each term is mentioned in a text, and how often after a negation."""
    mentions, denials = Counter[str](), Counter[str]()
    for clause in _CLAUSE_END.split(text):
        denied_words = 0
        for word in _WORD.findall(clause):
            terms = extract_terms(word)
            mentions.update(terms)
            if denied_words:
                denials.update(terms)
            denied_words = MAX_DENIED_WORDS if _is_negation(word) else max(0, denied_words - 1)
    return mentions, denials


def _is_negation(word: str) -> bool:
    return word.casefold() in NEGATIONS or word.casefold().endswith("n't")
