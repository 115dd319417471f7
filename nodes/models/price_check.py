"""A cost cap needs the prices of the models that it covers."""

import asyncio
from collections.abc import Mapping

from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.models.prices import is_priced
from nodes.telemetry.events import emit
from state import Context, Tier


async def require_prices(names: Mapping[Tier, str], models: ModelCatalog, context: Context) -> None:
    """Raise an error for a cost cap without effect; report the models that it does not cover.

    Raises:
        SettingsInvalid: a model has no known price, and there is no cap on tokens.
    """
    if context.max_cost_usd is None:
        return
    prices = models.settings.prices
    # In a thread, since the price table is loaded on first use.
    priced = {n: await asyncio.to_thread(is_priced, n, prices) for n in set(names.values())}
    unpriced = sorted(name for name, known in priced.items() if not known)
    if unpriced and context.max_tokens is None:
        raise SettingsInvalid(
            f"max_cost_usd has no effect: no price is known for {', '.join(unpriced)}",
            next=f"set max_tokens too, or SUPERVISE_PRICES={unpriced[0]}=INPUT/OUTPUT"
            " (US dollars for a million tokens)",
        )
    if unpriced:
        await emit("budget", level="unpriced", models=unpriced)
