"""Compute the trades that bring a portfolio to its target weights: exact, in lots, within limits.

All is computed with fractions and paid in cents, so that the amounts of the trades add up.

1. A position's trade is its target value less its value.
2. Over the turnover cap all trades shrink by one factor: part of the way, evenly.
3. Trades below the minimum are left out, and buys shrink where the sales that would have paid for
   them are gone.
4. Trades are cut to whole lots. Where cash falls short, the sale nearest to its next lot is
   raised, else the largest buy is lowered; what is left over buys the next lot of the buy that is
   furthest behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

ZERO = Fraction(0)


@dataclass(frozen=True)
class TradePosition:
    """A position as input of the trades."""

    quantity: Fraction
    price: Fraction
    weight: Fraction
    """Target share of the whole, as a share of one; the remainder of all lines is cash."""
    may_sell: bool = True
    may_buy: bool = True


@dataclass(frozen=True)
class TradeRules:
    """Limits of the trades."""

    lot: Fraction = Fraction(1)
    min_trade: Fraction = ZERO
    max_turnover: Fraction | None = None
    """As a share of the whole; turnover is half of all that is bought and sold."""


@dataclass(frozen=True)
class PlannedTrades:
    """Shares to buy, those to sell below zero, and the results."""

    shares: dict[str, Fraction]
    amounts: dict[str, Fraction]
    """Amount of each in cents, rounded so that it never costs less; sales are below zero."""
    cash: Fraction
    """Cash afterwards: the cash before, less the amounts."""
    turnover: Fraction
    wanted_turnover: Fraction
    """Turnover without the cap."""
    omitted: tuple[str, ...] = ()
    """Trades that were below the minimum, or less than one lot."""


def plan_trades(
    lines: Mapping[str, TradePosition], cash: Fraction, rules: TradeRules
) -> PlannedTrades:
    """Compute the trades."""
    total = cash + sum(line.quantity * line.price for line in lines.values())
    kept = max(ZERO, total * (1 - sum(line.weight for line in lines.values())))
    values = {name: _compute_wanted_value(line, total, rules.lot) for name, line in lines.items()}
    values = _shrink_to_cash(values, cash, min(cash, kept))
    wanted_turnover = _compute_turnover(values, total)
    if rules.max_turnover is not None and wanted_turnover > rules.max_turnover:
        shrunk = rules.max_turnover / wanted_turnover
        values = {name: value * shrunk for name, value in values.items()}
    floor, small = cash - sum(values.values()), set[str]()
    while True:
        left = {name: ZERO if name in small else value for name, value in values.items()}
        purse = _LotPlan(lines, _shrink_to_cash(left, cash, floor), cash, floor, total, rules)
        if not (more := purse.find_too_small()):
            break
        small |= more
    purse.balance_cash()
    shares = {name: count for name, count in purse.shares.items() if count}
    left_out = sorted(name for name, value in values.items() if value and name not in shares)
    return PlannedTrades(
        shares=shares,
        amounts={name: purse.compute_amount(name) for name in shares},
        cash=purse.compute_cash(),
        turnover=purse.compute_turnover(),
        wanted_turnover=wanted_turnover,
        omitted=tuple(left_out),
    )


def _compute_wanted_value(line: TradePosition, total: Fraction, lot: Fraction) -> Fraction:
    value = line.weight * total - line.quantity * line.price
    if value < 0:
        sellable = line.quantity // lot * lot * line.price
        return max(value, -sellable) if line.may_sell else ZERO
    return value if line.may_buy else ZERO


def _shrink_to_cash(
    values: Mapping[str, Fraction], cash: Fraction, floor: Fraction
) -> dict[str, Fraction]:
    """Shrink all buys by one factor if cash would fall below the floor."""
    bought = sum((value for value in values.values() if value > 0), ZERO)
    short = floor - (cash - sum(values.values()))
    if short <= 0 or not bought:
        return dict(values)
    shrunk = max(ZERO, 1 - short / bought)
    return {name: value * shrunk if value > 0 else value for name, value in values.items()}


def _compute_turnover(values: Mapping[str, Fraction], total: Fraction) -> Fraction:
    return sum(map(abs, values.values()), ZERO) / 2 / total if total else ZERO


@dataclass
class _LotPlan:
    """Trades in whole lots, and the cash they leave."""

    lines: Mapping[str, TradePosition]
    values: Mapping[str, Fraction]
    """Value that each trade should have before it is cut to lots."""
    cash_before: Fraction
    cash_floor: Fraction
    total: Fraction
    rules: TradeRules
    shares: dict[str, Fraction] = field(init=False)

    def __post_init__(self) -> None:
        lot = self.rules.lot
        self.shares = {
            name: abs(value) // (self.lines[name].price * lot) * lot * (1 if value > 0 else -1)
            for name, value in self.values.items()
        }

    def compute_values(self) -> dict[str, Fraction]:
        """Return what each trade is worth, exactly; sales are below zero."""
        return {name: count * self.lines[name].price for name, count in self.shares.items()}

    def compute_amount(self, name: str, more: Fraction = ZERO) -> Fraction:
        """Return the amount of a trade in cents, optionally with so many more shares."""
        return Fraction(ceil((self.shares[name] + more) * self.lines[name].price * 100), 100)

    def compute_cash(self) -> Fraction:
        """Return the cash that is left."""
        return self.cash_before - sum(map(self.compute_amount, self.shares))

    def compute_turnover(self) -> Fraction:
        """Return half of all that is bought and sold, as a share of the whole."""
        return _compute_turnover(self.compute_values(), self.total)

    def find_too_small(self) -> set[str]:
        """Return the trades that are below the minimum, before or after they were cut to lots."""
        least, worth = self.rules.min_trade, self.compute_values()
        return {
            name
            for name, value in self.values.items()
            if 0 < abs(value) < least or 0 < abs(worth[name]) < least
        }

    def balance_cash(self) -> None:
        """Cover a shortfall, then spend what is left over, at most one lot for each trade."""
        by_need = sorted(self.values, key=lambda name: (self._compute_lack(name), name))
        for name in reversed(by_need):
            if self.values[name] < 0 and self.compute_cash() < self.cash_floor:
                self._raise_trade(name)
        while (short := self.cash_floor - self.compute_cash()) > 0 and self._lower_buy(short):
            pass
        by_need = sorted(self.values, key=lambda name: (self._compute_lack(name), name))
        for name in reversed(by_need):
            cost = self.compute_amount(name, self.rules.lot) - self.compute_amount(name)
            if self.values[name] > 0 and cost <= self.compute_cash() - self.cash_floor:
                self._raise_trade(name)

    def _compute_lack(self, name: str) -> Fraction:
        """Return the difference of a trade to its target: in lots for sales, in money for buys."""
        price = self.lines[name].price
        lack = abs(self.values[name]) - abs(self.shares[name]) * price
        return lack / price if self.values[name] < 0 else lack

    def _raise_trade(self, name: str) -> None:
        """Move a trade to its next lot, if it lacks some and the limits allow it."""
        line, rules, count = self.lines[name], self.rules, abs(self.shares[name]) + self.rules.lot
        is_sale, cap = self.values[name] < 0, rules.max_turnover
        added = rules.lot * line.price / 2 / self.total
        if (
            self._compute_lack(name)
            and not (is_sale and count > line.quantity)
            and (cap is None or self.compute_turnover() + added <= cap)
            and count * line.price >= rules.min_trade
        ):
            self.shares[name] = -count if is_sale else count

    def _lower_buy(self, short: Fraction) -> bool:
        """Lower the largest buy by the shortfall, to zero if it would be below the minimum."""
        worth = {name: value for name, value in self.compute_values().items() if value > 0}
        if not worth:
            return False
        name = max(worth, key=lambda each: (worth[each], each))
        price, lot = self.lines[name].price, self.rules.lot
        fewer = self.shares[name] - ceil(short / (price * lot)) * lot
        self.shares[name] = fewer if fewer > 0 and fewer * price >= self.rules.min_trade else ZERO
        return True
