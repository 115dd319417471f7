"""Student's t distribution for whole degrees of freedom, in closed form.

Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
"""

from math import atan, cos, pi, sin, sqrt

BISECTION_STEPS = 80
MAX_CRITICAL_VALUE = 1e4


def compute_two_sided_p(t: float, freedom: int) -> float:
    """Return the probability of a value at least this far from zero, on either side."""
    return max(0.0, 1.0 - _compute_central_probability(abs(t), freedom))


def find_critical_value(level: float, freedom: int) -> float:
    """Return the critical value that is exceeded, on either side, with this probability."""
    low, high = 0.0, MAX_CRITICAL_VALUE
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if compute_two_sided_p(middle, freedom) > level else (low, middle)
        )
    return (low + high) / 2


def _compute_central_probability(t: float, freedom: int) -> float:
    angle = atan(t / sqrt(freedom))
    if freedom % 2:
        series = _sum_cosine_series(cos(angle), first=1, last=freedom - 2) if freedom > 1 else 0.0
        return 2 / pi * (angle + sin(angle) * series)
    return sin(angle) * _sum_cosine_series(cos(angle), first=0, last=freedom - 2)


def _sum_cosine_series(cosine: float, *, first: int, last: int) -> float:
    """Sum the powers of a cosine, each with the factor (n - 1)/n over the one before."""
    term = total = cosine**first
    for power in range(first + 2, last + 1, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    return total
