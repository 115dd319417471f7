"""Opens the Redis that instances share."""

from extensions.server.shared.rates import SharedRates
from extensions.server.shared.signals import SharedSignals, hash_name
from extensions.server.shared.store import get_shared_store
from nodes.models.circuit_breaker import EndpointSignals
from nodes.models.rates import LocalRates, RateLimits


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
