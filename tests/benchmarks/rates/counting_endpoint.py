"""An endpoint that counts requests and tokens by the moment at which they reach it.

`python -m tests.benchmarks.rates.counting_endpoint` prints its port. `GET /arrivals` lists what
came.
"""

import asyncio
import json
import random
import sys
import time
from typing import Any

from aiohttp import web

TOKENS = (400, 1600)
"""Total tokens of an answer: the least and the most; an estimate knows nothing of it."""
LATENCY_S = (0.05, 0.4)


class CountingEndpoint:
    """Answers each request after a while, with a random number of tokens."""

    def __init__(self) -> None:
        self._arrivals: list[tuple[float, int]] = []
        self._random = random.Random(7)

    def build_application(self) -> web.Application:
        """Return its two routes."""
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._complete)
        application.router.add_get("/arrivals", self._list_arrivals)
        return application

    async def _complete(self, request: web.Request) -> web.Response:
        tokens = self._random.randint(*TOKENS)
        self._arrivals.append((time.monotonic(), tokens))
        await request.read()
        await asyncio.sleep(self._random.uniform(*LATENCY_S))
        return web.json_response(_build_answer(tokens))

    async def _list_arrivals(self, request: web.Request) -> web.Response:
        arrivals, self._arrivals = self._arrivals, []
        return web.Response(text=json.dumps(arrivals))


def _build_answer(tokens: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": "yes"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "gpt-5-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens - 5, "completion_tokens": 5, "total_tokens": tokens},
    }


async def _serve() -> None:
    runner = web.AppRunner(CountingEndpoint().build_application(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())
