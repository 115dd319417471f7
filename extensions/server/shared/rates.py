"""Requests and tokens per minute of one endpoint, over all instances."""

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from extensions.server.shared.scripts import ADD, TAKE
from extensions.server.shared.store import SharedStore
from nodes.models.rates import (
    MAX_SLEEP_S,
    Charge,
    CrossLoopSemaphore,
    LocalRates,
    RateLimits,
    WindowEntry,
)

MAX_JITTER_S: Final = 0.01
"""So that instances that wait for the same moment do not ask at the same time."""
NO_EPOCH: Final = "none"
"""Of an instance that counted by itself before it ever reached Redis."""
REQUESTS, TOKENS = 1, 2
"""The windows, as the scripts number them."""


@dataclass
class _Ask:
    """A request that waits for its turn."""

    id: str
    tokens: int
    began_s: float


class SharedRates:
    """Counts in Redis, and beside it in this process, which is alone while Redis is away.

    What the process counted alone is added to Redis when it is back, and all of it when Redis
    has lost its data.
    """

    def __init__(
        self, store: SharedStore, name: str, limits: RateLimits, local: LocalRates
    ) -> None:
        self._store, self._limits, self._local = store, limits, local
        names = ("epoch", "first", "requests", "requests-sum", "tokens", "tokens-sum")
        self._keys = [f"supervise:{{{name}}}:{each}" for each in names]
        self._epoch, self._unshared = "", list[Charge]()
        self._turn, self._waiting = CrossLoopSemaphore(1), set[str]()

    async def take(self, tokens: int) -> Charge:
        """Wait until a request of so many tokens is allowed, and count it."""
        ask = _Ask(uuid4().hex[:12], tokens, time.monotonic())
        if not self._waiting and await self._ask_store(ask) == 0:
            return self._local.record(tokens, is_shared=True)
        self._waiting.add(ask.id)
        try:
            async with self._turn:
                return await self._wait_for_turn(ask)
        finally:
            self._waiting.discard(ask.id)

    async def _wait_for_turn(self, ask: _Ask) -> Charge:
        while True:
            wait_s = await self._ask_store(ask)
            if wait_s == 0:
                return self._local.record(ask.tokens, is_shared=True)
            if wait_s is None:
                wait_s = self._local.get_wait_s(ask.tokens)
                if not wait_s:
                    return self._record_alone(ask.tokens)
            await asyncio.sleep(min(wait_s, MAX_SLEEP_S) + random.uniform(0, MAX_JITTER_S))

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace the estimate of a request with its real number of tokens."""
        entry = charge.tokens
        if entry is None:
            return
        difference = round(tokens - entry.amount)
        self._local.correct(charge, tokens)
        if charge.is_shared and difference:
            self._store.send(
                ADD, self._keys, *self._identify(), *_describe(TOKENS, entry.at_s, difference)
            )

    async def _ask_store(self, ask: _Ask) -> float | None:
        """Return the seconds to wait, 0 when it was counted; None while Redis is away."""
        if self._unshared:
            await self._share_missed()
        waited_s = time.monotonic() - ask.began_s
        reply = await self._store.run(
            TAKE,
            self._keys,
            self._epoch,
            uuid4().hex,
            ask.id,
            int(waited_s > self._limits.period_s),
            round(self._limits.window_s * 1e6),
            self._limits.requests or 0,
            self._limits.tokens or 0,
            min(ask.tokens, self._limits.tokens or 0),
        )
        if reply is None:
            return None
        epoch, wait_us = reply
        if wait_us < 0:  # another Redis, or one without its data
            return 1e-3 if await self._share_all(epoch) else None
        self._epoch = epoch
        return float(wait_us) / 1e6

    async def _share_missed(self) -> None:
        """Add what was counted while Redis was away, if it has kept what it had."""
        missed, self._unshared = self._unshared, []
        entries = [value for charge in missed for value in _describe_charge(charge)]
        if await self._store.run(ADD, self._keys, *self._identify(), *entries) is None:
            self._unshared = missed + self._unshared
            return
        for charge in missed:  # a Redis that did not take them is told everything next
            charge.is_shared = True

    async def _share_all(self, epoch: str) -> bool:
        """Add all that counts here to a Redis that does not know it; return whether it did."""
        windows = ((REQUESTS, self._local.requests), (TOKENS, self._local.tokens))
        entries = [
            value
            for number, window in windows
            for entry in (window.list_entries() if window else ())
            for value in _describe(number, entry.at_s, entry.amount)
        ]
        self._epoch = epoch
        return await self._store.run(ADD, self._keys, *self._identify(), *entries) is not None

    def _record_alone(self, tokens: int) -> Charge:
        charge = self._local.record(tokens)
        self._epoch = self._epoch or NO_EPOCH
        oldest_s = time.monotonic() - self._limits.window_s
        self._unshared = [each for each in self._unshared if _get_time(each) > oldest_s]
        self._unshared.append(charge)
        return charge

    def _identify(self) -> tuple[str, str, int]:
        return self._epoch, uuid4().hex[:12], round(self._limits.window_s * 1e6)


def _describe(window: int, at_s: float, amount: float) -> tuple[int, int, int]:
    return window, round((time.monotonic() - at_s) * 1e6), round(amount)


def _describe_charge(charge: Charge) -> Iterator[int]:
    for number, entry in ((REQUESTS, charge.request), (TOKENS, charge.tokens)):
        if entry:
            yield from _describe(number, entry.at_s, entry.amount)


def _get_time(charge: Charge) -> float:
    entry: WindowEntry | None = charge.request or charge.tokens
    return entry.at_s if entry else 0.0
