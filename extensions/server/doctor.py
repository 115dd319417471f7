"""The checks of `supervise doctor`: the shared Redis, and the file of a server's users."""

import asyncio
from collections.abc import Iterator
from typing import Final

from extensions.server.shared.scripts import CLAIM_PROBE
from extensions.server.shared.store import TIMEOUT_S, describe_failure, make_client
from extensions.server.users_file import load_users
from graph.extensions import DoctorCheck
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.models.settings import format_redis_address
from nodes.text.counts import format_count

CHECK_NAME: Final = "shared rates"


def check_shared_rates(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the Redis, if one is set; nothing is written there but a key that is removed."""
    url = settings.redis_url
    if url is None:
        if settings.instances > 1:
            text = f"each of {settings.instances} instances uses its own part of the rates"
            fix = "set SUPERVISE_REDIS_URL to let an instance use what others leave"
            yield DoctorCheck("note", CHECK_NAME, text, fix)
        return
    where = format_redis_address(url)
    if problem := asyncio.run(check_redis(url)):
        fix = "start the server, or correct SUPERVISE_REDIS_URL"
        yield DoctorCheck(
            "broken", CHECK_NAME, f"{where}: {problem}; {_describe_part(settings)}", fix
        )
    elif not (settings.requests_per_minute or settings.tokens_per_minute):
        text = f"{where}: Retry-After and circuit breaker; no rate is set"
        yield DoctorCheck("ok", CHECK_NAME, text)
    else:
        text = f"{where}; {_describe_part(settings)}"
        fix = "" if settings.instances > 1 else "set SUPERVISE_INSTANCES to their number"
        yield DoctorCheck("note" if fix else "ok", CHECK_NAME, text, fix)


def _describe_part(settings: Settings) -> str:
    number = settings.instances
    part = f"1/{number} of the rates" if number > 1 else "the whole rates"
    return f"without it each instance uses {part}"


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


def check_users(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the file, if one is set; the server refuses everybody without it."""
    path = settings.users_file
    if path is None:
        return
    try:
        users = load_users(path)
    except SettingsInvalid as error:
        yield DoctorCheck("broken", "users", str(error), error.next)
    else:
        yield DoctorCheck("ok", "users", f"{path}: {format_count(len(users), 'user')}")
