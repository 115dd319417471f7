"""What a run may spend, in tokens and in money, shared by all its model calls."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from nodes.errors import BudgetSpent
from state import Usage

ANSWER_SHARE = 0.15
"""Of each cap, kept for the answer."""
WARNING_SHARE = 0.8
"""Of what work may spend: from here on workers must report."""
HoldMore = Callable[[int, float | None], None]
"""Reserves more tokens and US dollars for a call, for what an answer took that is of no use."""


@dataclass
class Budget:
    """Counts what is spent and what calls in flight may spend; refuses what would go over."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    reserved_tokens: int = 0
    reserved_usd: float = 0.0
    """Of what is counted, what calls in flight may spend."""
    has_warned: bool = False
    parent: "Budget | None" = None
    """The budget of the run that a team works in; it, too, must have room, and is charged."""

    def reset(self) -> None:
        """Forget an earlier request's spending."""
        self.tokens, self.cost_usd, self.has_warned = 0, 0.0, False

    def charge(self, usage: Usage) -> None:
        """Count what a call has cost; a price that is not known counts as nothing."""
        self.tokens += usage.input_tokens + usage.output_tokens
        self.cost_usd += usage.cost_usd or 0.0
        if self.parent:
            self.parent.charge(usage)

    @contextmanager
    def reserve_call(
        self, tokens: int, cost_usd: float | None, *, is_last: bool
    ) -> Iterator[HoldMore]:
        """Reserve room for a call while it is in flight; yield what reserves more for it.

        Args:
            is_last: the call writes the answer, and may use the share kept for it.

        Raises:
            BudgetSpent: there is no room.
        """
        with ExitStack() as held:

            def hold(tokens: int, cost_usd: float | None) -> None:
                price = cost_usd or 0.0
                self._require_room(tokens, price, is_last=is_last)
                self._adjust_reservation(tokens, price)
                held.callback(self._adjust_reservation, -tokens, -price)
                if self.parent:
                    held.enter_context(self.parent.reserve_call(tokens, cost_usd, is_last=False))

            hold(tokens, cost_usd)
            yield hold

    def _require_room(self, tokens: int, price: float, *, is_last: bool) -> None:
        share = 1.0 if is_last else 1.0 - ANSWER_SHARE
        for unit, limit, used, held, needed in (
            ("tokens", self.max_tokens, self.tokens, self.reserved_tokens, tokens),
            ("USD", self.max_cost_usd, self.cost_usd, self.reserved_usd, price),
        ):
            if limit is not None and used + needed > limit * share:
                raise BudgetSpent(
                    unit,
                    limit=limit,
                    spent=used - held,
                    held=held,
                    kept=limit * (1.0 - share),
                    needed=needed,
                )

    def _adjust_reservation(self, tokens: int, price: float) -> None:
        self.tokens, self.cost_usd = self.tokens + tokens, self.cost_usd + price
        self.reserved_tokens, self.reserved_usd = (
            self.reserved_tokens + tokens,
            self.reserved_usd + price,
        )

    def is_low(self) -> bool:
        """Return whether work has used most of what it may."""
        share = WARNING_SHARE * (1.0 - ANSWER_SHARE)
        over_tokens = self.max_tokens is not None and self.tokens > self.max_tokens * share
        # Free models work under a cap of nothing.
        over_cost = self.max_cost_usd is not None and self.cost_usd > self.max_cost_usd * share
        return over_tokens or over_cost or (self.parent is not None and self.parent.is_low())
