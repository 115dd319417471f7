"""What instances share of an endpoint: requests and tokens per minute, and Retry-After."""

import asyncio
import random
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import uuid4

from extensions.server.shared.scripts import BLOCK, CORRECT, TAKE
from extensions.server.shared.store import SharedStore, get_shared_store
from nodes.models.circuit_breaker import RetryAfter
from nodes.models.rates import MAX_SLEEP_S, Charge, CrossLoopSemaphore, LocalRates, RateLimits

MAX_JITTER_S: Final = 0.01
"""So that instances that wait for the same moment do not ask at the same time."""
MIN_CHANGE_S: Final = 0.05
"""A Retry-After that is longer by less is the one that is known."""


@dataclass
class _Ask:
    """A request that waits for its turn."""

    id: str
    tokens: int
    began_s: float


class SharedRates:
    """Counts in Redis, and beside it in this process, which is alone while Redis is away."""

    def __init__(
        self, store: SharedStore, name: str, limits: RateLimits, local: LocalRates, gate: RetryAfter
    ) -> None:
        self._store, self._limits, self._local, self._gate = store, limits, local, gate
        names = ("first", "requests", "requests-sum", "tokens", "tokens-sum", "retry-after")
        self._keys = [f"supervise:{{{name}}}:{each}" for each in names]
        self._window_us = round(limits.window_s * 1e6)
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
                    return self._local.record(ask.tokens)
            await asyncio.sleep(min(wait_s, MAX_SLEEP_S) + random.uniform(0, MAX_JITTER_S))

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace the estimate of a request with its real number of tokens."""
        entry = charge.tokens
        if entry is None:
            return
        difference = round(tokens - entry.amount)
        self._local.correct(charge, tokens)
        if charge.is_shared and difference:
            age_us = round((time.monotonic() - entry.at_s) * 1e6)
            values = (uuid4().hex[:12], self._window_us, age_us, difference)
            self._store.send(CORRECT, self._keys[3:5], *values)

    def block(self, seconds: float) -> None:
        """Block the calls of all instances for this time."""
        self._store.send(BLOCK, self._keys[5:], round(seconds * 1000))

    async def _ask_store(self, ask: _Ask) -> float | None:
        """Return the seconds to wait, 0 when it was counted; None while Redis is away.

        While another instance was told to wait, the gate is blocked, and it counts here alone.
        """
        waited_s = time.monotonic() - ask.began_s
        wait_us = await self._store.run(
            TAKE,
            self._keys,
            ask.id,
            int(waited_s > self._limits.period_s),
            self._window_us,
            self._limits.requests or 0,
            self._limits.tokens or 0,
            min(ask.tokens, self._limits.tokens or 0),
        )
        if wait_us is None or wait_us >= 0:
            return None if wait_us is None else float(wait_us) / 1e6
        if -wait_us / 1e6 > self._gate.get_blocked_s() + MIN_CHANGE_S:
            self._gate.block(-wait_us / 1e6)
        return None


def hash_name(name: str) -> str:
    """Return a short name for a key: addresses may hold what is not for others to read."""
    return sha256(name.encode()).hexdigest()[:16]


class RedisProvider:
    """What `nodes.models.rates` asks for."""

    def build_rates(
        self, url: str, endpoint: str, limits: RateLimits, local: LocalRates, gate: RetryAfter
    ) -> SharedRates:
        """Return the rates of an endpoint over all instances."""
        return SharedRates(get_shared_store(url), hash_name(endpoint), limits, local, gate)
