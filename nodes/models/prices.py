"""What a call costs, by the price table of the day."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any


def cost_usd(model_name: str, usage: Mapping[str, Any] | None) -> float | None:
    """Price the tokens of a call; None when the model, its price or the tokens are unknown."""
    if model_name == "embedded":
        return 0.0
    if not usage:
        return None
    provider, _, model = model_name.partition(":") if ":" in model_name else ("", "", model_name)
    given, made = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    return _price(model, provider or None, given, made, min(cached, given))


def warm() -> None:
    """Load the price table, which takes a third of a second, before it is needed."""
    _price("gpt-5", "openai", 1, 1, 0)


@lru_cache(maxsize=4096)
def _price(model: str, provider: str | None, given: int, made: int, cached: int) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=given, output_tokens=made, cache_read_tokens=cached or None)
    for named in dict.fromkeys((provider, None)):
        try:
            return float(calc_price(usage, model_ref=model, provider_id=named).total_price)
        except LookupError:
            continue
    return None
