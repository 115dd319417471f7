"""Cost of a call, by the price table of the day."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from nodes.models.settings import Price

PER_MILLION: Final = 1_000_000


def compute_cost_usd(
    model_name: str, usage: Mapping[str, Any] | None, prices: Mapping[str, Price] | None = None
) -> float | None:
    """Return the cost of a call's tokens; None when the price or the tokens are unknown.

    Args:
        prices: the user's own prices, which override the table's.
    """
    if model_name == "embedded":
        return 0.0
    if not usage:
        return None
    provider, _, model = model_name.partition(":") if ":" in model_name else ("", "", model_name)
    given, made = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    if own := (prices or {}).get(model_name):
        return float(given * own[0] + made * own[1]) / PER_MILLION
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    return _look_up_price(model, provider or None, given, made, min(cached, given))


def is_priced(model_name: str, prices: Mapping[str, Price] | None = None) -> bool:
    """Return whether a model's price is known."""
    return compute_cost_usd(model_name, {"input_tokens": 1, "output_tokens": 1}, prices) is not None


def preload_prices() -> None:
    """Load the price table, which takes a third of a second, before it is needed."""
    _look_up_price("gpt-5", "openai", 1, 1, 0)


@lru_cache(maxsize=4096)
def _look_up_price(
    model: str, provider: str | None, given: int, made: int, cached: int
) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=given, output_tokens=made, cache_read_tokens=cached or None)
    for named in dict.fromkeys((provider, None)):
        try:
            return float(calc_price(usage, model_ref=model, provider_id=named).total_price)
        except LookupError:
            continue
    return None
