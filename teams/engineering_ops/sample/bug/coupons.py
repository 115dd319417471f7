"""Coupons, and until when they hold."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Coupon:
    """A share of the price, until a day."""

    code: str
    percent: int
    until: date


COUPONS = {
    coupon.code: coupon
    for coupon in (
        Coupon("WINTER10", 10, date(2026, 2, 28)),
        Coupon("SPRING15", 15, date(2026, 5, 31)),
    )
}


def find_coupon(code, today=None):
    """Find a coupon that holds today."""
    coupon = COUPONS.get(code.upper())
    if coupon is None or coupon.until < (today or date.today()):
        return None
    return coupon
