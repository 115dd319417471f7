"""Finds out whether a Redis can share rates."""

import asyncio

from extensions.server.shared.scripts import CLAIM_PROBE
from extensions.server.shared.store import TIMEOUT_S, describe_failure, make_client


async def check_redis(url: str, timeout_s: float = TIMEOUT_S) -> str:
    """Return why it cannot, on one line and without secrets; empty if it can."""
    from redis.exceptions import RedisError  # an optional package

    try:
        client = make_client(url)
        try:
            async with asyncio.timeout(timeout_s):
                # A server may answer, and refuse scripts or writing.
                await client.eval(CLAIM_PROBE, 1, "supervise:{check}", 1)
        finally:
            await client.aclose()
    except (RedisError, OSError, TimeoutError, ValueError) as error:
        return describe_failure(error, timeout_s)
    return ""
