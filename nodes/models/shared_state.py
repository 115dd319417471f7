"""What instances share about endpoints, where an extension brings a place for it."""

from collections.abc import Sequence
from typing import Any, Protocol

from nodes.models.rates import LocalRates, RateLimits, Rates


class SharedState(Protocol):
    """A place that all instances read and write, such as Redis."""

    async def run(self, script: str, keys: Sequence[str], *values: str | float) -> Any:
        """Return the reply of a named script; None while the place is not available.

        The scripts are `read_signals`, `block`, `open_breaker`, `claim_probe` and `delete`.
        """

    def send(self, script: str, keys: Sequence[str], *values: str | float) -> None:
        """Run a script without waiting for it."""

    async def flush(self) -> None:
        """Wait for what this event loop has sent."""


class StateProvider(Protocol):
    """Opens shared state, once for each address."""

    def open(self, url: str) -> SharedState:
        """Return the state at an address; nothing is connected yet."""

    def build_rates(self, url: str, endpoint: str, limits: RateLimits, local: LocalRates) -> Rates:
        """Return the rates of an endpoint over all instances."""


_registered: list[StateProvider] = []


def register_state_provider(provider: StateProvider) -> None:
    """Share what instances learn of endpoints, where an address is set for it."""
    _registered[:] = [provider]


def find_state_provider(url: str | None) -> StateProvider | None:
    """Return what opens the state at an address; None without an address or an extension."""
    return _registered[0] if url and _registered else None
