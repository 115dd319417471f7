"""Format amounts of money, prices, percentages and other figures for a report."""

from decimal import Decimal
from fractions import Fraction

Number = Decimal | Fraction | float | int


def format_money(amount: Number) -> str:
    """Return an amount to the cent."""
    return f"{round_exactly(amount, 2):,.2f}"


def format_price(amount: Number) -> str:
    """Return a price with all its decimals, at least two."""
    exact = round_exactly(amount, 6)
    return format_money(amount) if exact == round_exactly(amount, 2) else format_number(amount)


def format_number(number: Number) -> str:
    """Return a number with no more decimals than it has."""
    return f"{round_exactly(number, 6).normalize():,f}"


def format_percent(share: Number, digits: int = 2) -> str:
    """Return a share of one as a percentage, without the percent sign."""
    return f"{round_exactly(share * 100, digits):.{digits}f}"


def format_points(share: Number) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    points = round_exactly(share * 100, 2)
    return f"{points:+.2f}" if points else "0.00"


def round_exactly(number: Number, digits: int) -> Decimal:
    """Round exactly, halves to even."""
    return Decimal(round(Fraction(number) * 10**digits)).scaleb(-digits)
