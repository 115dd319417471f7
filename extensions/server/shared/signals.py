"""What instances share of an endpoint: requests and tokens per minute, Retry-After, breakers."""

import asyncio
import json
import random
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import uuid4

from extensions.server.shared.scripts import (
    BLOCK,
    CLAIM_PROBE,
    CORRECT,
    DELETE,
    OPEN_BREAKER,
    READ_SIGNALS,
    TAKE,
)
from extensions.server.shared.store import SharedStore, get_shared_store
from nodes.errors.redaction import redact_text
from nodes.limits.nesting import parse_json
from nodes.models.circuit_breaker import FORGET_AFTER_S, EndpointSignals
from nodes.models.rates import MAX_SLEEP_S, Charge, CrossLoopSemaphore, LocalRates, RateLimits
from nodes.text.plain_text import sanitize_line

MAX_JITTER_S: Final = 0.01
"""So that instances that wait for the same moment do not ask at the same time."""


@dataclass
class _Ask:
    """A request that waits for its turn."""

    id: str
    tokens: int
    began_s: float


class SharedRates:
    """Counts in Redis, and beside it in this process, which is alone while Redis is away."""

    def __init__(
        self, store: SharedStore, name: str, limits: RateLimits, local: LocalRates
    ) -> None:
        self._store, self._limits, self._local = store, limits, local
        names = ("first", "requests", "requests-sum", "tokens", "tokens-sum")
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
            self._store.send(CORRECT, self._keys[3:], *values)

    async def _ask_store(self, ask: _Ask) -> float | None:
        """Return the seconds to wait, 0 when it was counted; None while Redis is away."""
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
        return None if wait_us is None else float(wait_us) / 1e6


CACHE_S: Final = 0.1
"""For which a look is enough while nothing has failed."""
MIN_CHANGE_S: Final = 0.05
"""A Retry-After that is longer by less is the one that is known."""
MAX_ERROR_CHARS: Final = 300
KEYS: Final = ("pause", "breaker", "probe")
"""The ends of the keys of a breaker: its pause, its state, and who probes."""


class SharedSignals(EndpointSignals):
    """Shares with other instances what each learns of an endpoint."""

    def __init__(self, store: SharedStore, endpoint: str, own: EndpointSignals) -> None:
        super().__init__(own.name, own.gate, own.breaker, own.outer)
        self._store, place = store, f"supervise:{{{hash_name(endpoint)}}}"
        self._block_key = f"{place}:retry-after"
        self._keys = [f"{place}:{hash_name(own.name)}:{key}" for key in KEYS]
        self._known_until_s, self._is_published = 0.0, False

    async def refresh(self) -> None:
        """Learn what other instances know."""
        await super().refresh()
        if not self.breaker.is_open() and time.monotonic() < self._known_until_s:
            return
        self._known_until_s = time.monotonic() + CACHE_S
        await self._store.flush()
        pause_key, state_key, _ = self._keys
        reply = await self._store.run(READ_SIGNALS, (self._block_key, pause_key, state_key))
        if reply is None:
            return
        blocked_ms, pause_ms, state = reply
        if blocked_ms / 1000 > self.gate.get_blocked_s() + MIN_CHANGE_S:
            self.gate.block(blocked_ms / 1000)
        if state:
            self._is_published = True
            self.breaker.adopt(max(0, pause_ms) / 1000, _read_error(state))
        elif self._is_published:
            self._is_published = False
            self.breaker.close()

    def block(self, seconds: float) -> None:
        """Block the calls of all instances for this time."""
        super().block(seconds)
        self._store.send(BLOCK, [self._block_key], round(seconds * 1000))

    async def admit(self, caller: object, timeout_s: float) -> float:
        """Return the seconds to pause before the next check; 0 when the caller may send a request.

        Raises:
            EndpointDown: the breaker is open, and the caller is not the probe of all instances.
        """
        was_probe = self.breaker.is_probe(caller)
        pause_s = await super().admit(caller, timeout_s)
        if pause_s or was_probe or not self.breaker.is_open():
            return pause_s
        lifetime_ms = round(timeout_s * 1000) + 1
        try:
            claimed = await self._store.run(CLAIM_PROBE, self._keys[2:], lifetime_ms)
        except asyncio.CancelledError:
            self.release_probe(caller)
            raise
        if claimed == 0:
            self.breaker.release_probe(caller)
            raise self.breaker.build_refusal(self.name)
        return 0.0

    def record_answer(self, began_s: float) -> None:
        """Record that a request was answered, even with a refusal; this closes the breaker."""
        was_open = self.breaker.is_open()
        super().record_answer(began_s)
        if was_open and not self.breaker.is_open():
            self._is_published = False
            self._store.send(DELETE, self._keys)

    def record_failure(self, began_s: float, message: str, model: str = "") -> str:
        """Record that a request was not answered; return for what this opens the breaker, or ""."""
        before = self.breaker.failures
        opened = super().record_failure(began_s, message, model)
        if self.breaker.is_open() and self.breaker.failures != before:
            self._is_published = True
            self._store.send(
                OPEN_BREAKER,
                self._keys,
                round(self.breaker.get_pause_s() * 1000) + 1,
                round(FORGET_AFTER_S * 1000),
                json.dumps({"error": redact_text(message)[:MAX_ERROR_CHARS]}),
            )
        return opened

    def release_probe(self, caller: object) -> bool:
        """Record that a caller is done; if it was the probe, another caller may become it."""
        was_probe = super().release_probe(caller)
        if was_probe:
            self._store.send(DELETE, self._keys[2:])
        return was_probe


def hash_name(name: str) -> str:
    """Return a short name for a key: addresses may hold what is not for others to read."""
    return sha256(name.encode()).hexdigest()[:16]


def _read_error(state: str) -> str:
    """Return the error that opened the breaker, as another instance wrote it."""
    try:
        read = parse_json(state)
    except ValueError:
        return ""
    error = read.get("error", "") if isinstance(read, dict) else ""
    return sanitize_line(str(error), MAX_ERROR_CHARS)


class RedisProvider:
    """What `nodes.models.rates` asks for."""

    def build_rates(
        self, url: str, endpoint: str, limits: RateLimits, local: LocalRates
    ) -> SharedRates:
        """Return the rates of an endpoint over all instances."""
        return SharedRates(get_shared_store(url), hash_name(endpoint), limits, local)

    def share_signals(self, url: str, endpoint: str, own: EndpointSignals) -> SharedSignals:
        """Return signals of an endpoint that all instances hear."""
        return SharedSignals(get_shared_store(url), endpoint, own)
