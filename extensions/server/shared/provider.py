"""Opens the Redis that instances share."""

from extensions.server.shared.rates import SharedRates
from extensions.server.shared.store import SharedStore, get_shared_store
from nodes.models.endpoint_signals import hash_name
from nodes.models.rates import LocalRates, RateLimits


class RedisProvider:
    """What `nodes.models.rates` asks for."""

    def open(self, url: str) -> SharedStore:
        """Return the store that all limits of the process use."""
        return get_shared_store(url)

    def build_rates(
        self, url: str, endpoint: str, limits: RateLimits, local: LocalRates
    ) -> SharedRates:
        """Return the rates of an endpoint over all instances."""
        return SharedRates(get_shared_store(url), hash_name(endpoint), limits, local)
