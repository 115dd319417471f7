"""What is known of an endpoint's health: Retry-After, circuit breakers and retry budgets."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from nodes.errors import EndpointDown
from nodes.errors.redaction import redact_text
from nodes.limits.nesting import parse_json
from nodes.models.circuit_breaker import FORGET_AFTER_S, CircuitBreaker, RetryBudget
from nodes.models.endpoint_limits import RetryAfter, get_retry_after
from nodes.models.rates import SharedState, find_state_provider
from nodes.text.plain_text import sanitize_line

CACHE_S: Final = 0.1
"""For which a look is enough while nothing has failed."""
MIN_CHANGE_S: Final = 0.05
"""A Retry-After that is longer by less is the one that is known."""
MAX_ERROR_CHARS: Final = 300


class EndpointSignals:
    """Shares with other instances what each learns of an endpoint.

    Without a store it is what this process knows, at no cost.

    Args:
        name: of what has the breaker; errors name it.
        outer: of the address, whose breaker refuses the calls of all its models.
    """

    def __init__(
        self,
        store: SharedState | None,
        endpoint: str,
        name: str,
        gate: RetryAfter,
        breaker: CircuitBreaker,
        outer: "EndpointSignals | None" = None,
    ) -> None:
        self._store, self._gate, self._breaker = store, gate, breaker
        self.name, self._outer = name, outer
        digest = hash_name(endpoint)
        self._block_key = f"supervise:{{{digest}}}:retry-after"
        pause, state, probe = (
            f"supervise:{{{digest}}}:{hash_name(name)}:{each}"
            for each in ("pause", "breaker", "probe")
        )
        self._pause_key, self._state_key, self._probe_key = pause, state, probe
        self._known_until_s, self._is_published = 0.0, False

    async def refresh(self) -> None:
        """Learn what other instances know."""
        if self._outer:
            await self._outer.refresh()
        if self._store is None or self._is_fresh():
            return
        self._known_until_s = time.monotonic() + CACHE_S
        await self._store.flush()
        keys = (self._block_key, self._pause_key, self._state_key)
        reply = await self._store.run("read_signals", keys)
        if reply is None:
            return
        blocked_ms, pause_ms, state = reply
        if blocked_ms / 1000 > self._gate.get_blocked_s() + MIN_CHANGE_S:
            self._gate.block(blocked_ms / 1000)
        if state:
            self._is_published = True
            self._breaker.adopt(max(0, pause_ms) / 1000, _read_error(state))
        elif self._is_published:
            self._is_published = False
            self._breaker.close()

    def block(self, seconds: float) -> None:
        """Block the calls of all instances for this time."""
        self._gate.block(seconds)
        if self._store:
            self._store.send("block", [self._block_key], round(seconds * 1000))

    async def admit(self, caller: object, timeout_s: float) -> float:
        """Return the seconds to pause before the next check; 0 when the caller may send a request.

        Raises:
            EndpointDown: the breaker is open, and the caller is not the probe of all instances.
        """
        if self._outer and (pause_s := await self._outer.admit(caller, timeout_s)):
            return pause_s
        was_probe = self._breaker.is_probe(caller)
        pause_s = self._breaker.admit(caller, self.name)
        if pause_s or was_probe or self._store is None or not self._breaker.is_open():
            return pause_s
        lifetime_ms = round(timeout_s * 1000) + 1
        try:
            claimed = await self._store.run("claim_probe", [self._probe_key], lifetime_ms)
        except asyncio.CancelledError:
            self.release_probe(caller)
            raise
        if claimed == 0:
            self._breaker.release_probe(caller)
            raise self._breaker.build_refusal(self.name)
        return 0.0

    def build_refusal(self) -> EndpointDown:
        """Return the error for a call that has no time for the pause that is left."""
        if self._outer and self._outer._breaker.get_pause_s() > self._breaker.get_pause_s():
            return self._outer.build_refusal()
        return self._breaker.build_refusal(self.name)

    def is_open(self) -> bool:
        """Return whether calls are refused."""
        return self._breaker.is_open() or (self._outer is not None and self._outer.is_open())

    def allows_retry(self) -> bool:
        """Return whether a failed call may be repeated.

        Where several models of an address have failed, what it may still be asked is left for the
        first call of another model or another step.
        """
        return self._outer is None or not self._outer._breaker.is_nearly_open()

    def record_answer(self, began_s: float) -> None:
        """Record that a request was answered, even with a refusal; this closes the breaker."""
        if self._outer:
            self._outer.record_answer(began_s)
        was_open = self._breaker.is_open()
        self._breaker.record_answer(began_s)
        if was_open and not self._breaker.is_open() and self._store:
            self._is_published = False
            keys = [self._pause_key, self._state_key, self._probe_key]
            self._store.send("delete", keys)

    def record_failure(self, began_s: float, message: str, model: str = "") -> str:
        """Record that a request was not answered; return for what this opens the breaker, or ""."""
        model = model or self.name
        outer = self._outer.record_failure(began_s, message, model) if self._outer else ""
        before = self._breaker.failures
        is_opened = self._breaker.record_failure(began_s, message, model)
        if self._store and self._breaker.is_open() and self._breaker.failures != before:
            self._is_published = True
            self._store.send(
                "open_breaker",
                [self._pause_key, self._state_key, self._probe_key],
                round(self._breaker.get_pause_s() * 1000) + 1,
                round(FORGET_AFTER_S * 1000),
                json.dumps({"error": redact_text(message)[:MAX_ERROR_CHARS]}),
            )
        return outer or (self.name if is_opened else "")

    def release_probe(self, caller: object) -> None:
        """Record that a caller is done; if it was the probe, another caller may become it."""
        if self._outer:
            self._outer.release_probe(caller)
        if self._breaker.release_probe(caller) and self._store:
            self._store.send("delete", [self._probe_key])

    def _is_fresh(self) -> bool:
        return not self._breaker.is_open() and time.monotonic() < self._known_until_s


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


MIN_FAILED_MODELS: Final = 2
"""Of an address, before it counts as down: one of them alone may be."""


@dataclass
class ModelHealth:
    """Shared by all runs of the process."""

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    retry_budget: RetryBudget = field(default_factory=RetryBudget)
    can_stream: bool = True
    """False once it has answered a request for a stream with something else."""


@cache
def get_model_health(endpoint: str, model: str) -> ModelHealth:
    """Return the health of a model: one of several models of an endpoint may be down."""
    return ModelHealth()


@cache
def get_endpoint_signals(endpoint: str, model: str, redis_url: str | None) -> EndpointSignals:
    """Return the Retry-After and the breakers of a model, shared where there is a Redis."""
    return EndpointSignals(
        _open_state(redis_url),
        endpoint,
        model,
        get_retry_after(endpoint),
        get_model_health(endpoint, model).breaker,
        _get_address_signals(find_address(endpoint), redis_url),
    )


@cache
def _get_address_signals(address: str, redis_url: str | None) -> EndpointSignals:
    return EndpointSignals(
        _open_state(redis_url),
        address,
        f"all models at {address}",
        get_retry_after(address),
        CircuitBreaker(min_models=MIN_FAILED_MODELS),
    )


def _open_state(url: str | None) -> SharedState | None:
    provider = find_state_provider(url)
    return provider.open(url) if provider and url else None


def find_address(endpoint: str) -> str:
    """Return scheme, host and port of an endpoint, or its own name where it has no address."""
    provider, _, url = endpoint.partition(" ")
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return f"{parts.scheme}://{host}" if host else f"{provider} {url}".strip()
