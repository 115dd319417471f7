"""One process of several: keeps calls in flight for a while, as the workers of a run do.

`python -m tests.benchmarks.rates.caller` reads its orders, a JSON object, from its first argument.
"""

import asyncio
import json
import sys
import time
from typing import Any

from langchain_core.messages import HumanMessage

from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings


async def call_for(orders: dict[str, Any]) -> int:
    """Call until the time is over; return the number of answers."""
    settings = ModelSettings(
        fast="openai:gpt-5-mini",
        base_url=orders["base_url"],
        api_key="sk-test-0123456789abcdef",
        call_timeout_s=600.0,
        max_concurrency=orders["in_flight"],
        requests_per_minute=orders.get("requests"),
        tokens_per_minute=orders.get("tokens"),
        rate_period_s=orders["period_s"],
        instances=orders["instances"],
        redis_url=orders.get("redis_url"),
    )
    model, answers = ModelCatalog(settings).get_chat_model("fast", None), 0

    async def call_again_and_again() -> None:
        nonlocal answers
        while True:
            await model.ainvoke([HumanMessage("hello")])
            answers += 1

    await asyncio.sleep(max(0.0, orders["begins_at"] - time.time()))
    try:
        async with asyncio.timeout(orders["seconds"]):
            await asyncio.gather(*(call_again_and_again() for _ in range(orders["in_flight"])))
    except TimeoutError:
        pass
    return answers


if __name__ == "__main__":
    print(asyncio.run(call_for(json.loads(sys.argv[1]))))
