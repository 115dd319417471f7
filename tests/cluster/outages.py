"""Experiments: the database or Redis is away while runs are at work."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from tests.cluster.stage import Stage
from tests.cluster.workload import Outcome, continue_run, count_calls, wait_for_ends

STORE_LINE: Final = "cannot be used (tried for 30 s)"


async def restart_postgres(stage: Stage, *, mode: str, runs: int = 6) -> Outcome:
    """Restart the database while runs are at work; `mode` as `pg_ctl` has it."""
    postgres = stage.cluster.postgres
    return await _interrupt(
        stage, f"PostgreSQL restarted ({mode}), {runs} runs", runs, lambda: postgres.restart(mode)
    )


async def stop_postgres(stage: Stage, *, seconds: float = 20.0, runs: int = 6) -> Outcome:
    """Stop the database for a while."""
    postgres = stage.cluster.postgres

    def stop() -> None:
        postgres.kill()
        time.sleep(seconds)
        postgres.start()

    return await _interrupt(stage, f"PostgreSQL away for {seconds:g} s, {runs} runs", runs, stop)


async def lose_postgres(stage: Stage, *, seconds: float = 45.0, runs: int = 4) -> Outcome:
    """Stop the database for longer than a run waits; continue the runs that ended because of it."""
    outcome = await stop_postgres(stage, seconds=seconds, runs=runs)
    ended = [each for each in outcome.runs if each.status == "error" and STORE_LINE in each.error]
    client = stage.cluster.client(1)
    again = [await continue_run(client, each.started) for each in ended]
    whole = await wait_for_ends(client, again)
    others = [each for each in outcome.runs if each not in ended]
    outcome.runs = [*others, *whole]
    outcome.notes.append(f"{len(ended)} ended with an error and were continued")
    return outcome


async def restart_redis(stage: Stage, *, runs: int = 6) -> Outcome:
    """Restart Redis, which is then empty."""
    return await _interrupt(
        stage, f"Redis restarted, {runs} runs", runs, stage.cluster.redis.restart
    )


async def stop_redis(stage: Stage, *, seconds: float = 20.0, runs: int = 6) -> Outcome:
    """Stop Redis for a while."""
    redis = stage.cluster.redis

    def stop() -> None:
        redis.kill()
        time.sleep(seconds)
        redis.start()

    return await _interrupt(stage, f"Redis away for {seconds:g} s, {runs} runs", runs, stop)


async def lose_redis(stage: Stage, *, runs: int = 6) -> Outcome:
    """Stop Redis for the rest of the runs, and start it when they have ended."""
    outcome = await _interrupt(
        stage, f"Redis gone for good, {runs} runs", runs, stage.cluster.redis.kill
    )
    stage.cluster.redis.start()
    return outcome


async def _interrupt(stage: Stage, what: str, runs: int, fault: Callable[[], None]) -> Outcome:
    started = await stage.start_runs(runs)
    await stage.wait_for_saved(started[0], 2)
    saved, fault_s = stage.list_saved_tasks(), time.monotonic()
    await asyncio.to_thread(fault)
    ended = await wait_for_ends(stage.cluster.client(1), started)
    return Outcome(
        what, ended, count_calls(stage.endpoint), repeated=stage.count_begun(saved, fault_s)
    )
