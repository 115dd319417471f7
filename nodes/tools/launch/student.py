"""Student's t distribution for whole degrees of freedom, in closed form.

Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
"""

from math import atan, cos, pi, sin, sqrt

STEPS = 80
LARGEST = 1e4


def two_sided(t: float, freedom: int) -> float:
    """Give the probability of a value at least this far from zero, on either side."""
    return max(0.0, 1.0 - _within(abs(t), freedom))


def critical(level: float, freedom: int) -> float:
    """Give the value that is exceeded, on either side, with this probability."""
    low, high = 0.0, LARGEST
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > level else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    angle = atan(t / sqrt(freedom))
    if freedom % 2:
        series = _series(cos(angle), first=1, last=freedom - 2) if freedom > 1 else 0.0
        return 2 / pi * (angle + sin(angle) * series)
    return sin(angle) * _series(cos(angle), first=0, last=freedom - 2)


def _series(cosine: float, *, first: int, last: int) -> float:
    """Sum the powers of a cosine, each with the factor (n - 1)/n over the one before."""
    term = total = cosine**first
    for power in range(first + 2, last + 1, 2):
        term *= cosine * cosine * (power - 1) / power
        total += term
    return total
