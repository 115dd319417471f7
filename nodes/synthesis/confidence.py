"""Limits a confidence by those of the reports that it rests on."""

from collections.abc import Iterable

from state import Report


def bound_confidence(limits: Iterable[int | None], reports: Iterable[Report]) -> int | None:
    """Return the lowest of some limits and of the reports' confidences; None if none is known.

    An answer needs all reports that it uses, so it cannot be surer than the least sure of them.
    Unknown confidences do not count.
    """
    given = (*limits, *(report.confidence for report in reports))
    return min((each for each in given if each is not None), default=None)
