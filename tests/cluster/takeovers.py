"""Experiments: a server dies, pauses or drains while runs are at work; each returns its figures."""

import asyncio
import time
from typing import Any, Final

from tests.cluster.cluster import HEARTBEAT_S, LEASE_S, REAPER_S
from tests.cluster.stage import Stage
from tests.cluster.workload import Outcome, count_calls, wait_for_ends

RECOVERY_S: Final = LEASE_S + REAPER_S + 5.0
"""Within this time another server continues the runs of one that has died."""
PAUSE_S: Final = LEASE_S + REAPER_S + HEARTBEAT_S + 1.0


async def kill_with_runs(stage: Stage, *, runs: int = 20, after_s: float = 3.0) -> Outcome:
    """Start runs through the first server and kill it in the midst of them."""
    started = await stage.start_runs(runs)
    await asyncio.sleep(after_s)
    first = stage.cluster.instances[0]
    lost, taken = stage.list_held(started, first), stage.watch_takeover(started, first)
    first.kill()
    killed_s, saved = time.monotonic(), stage.list_saved_tasks()
    ended = await wait_for_ends(stage.cluster.client(1), started)
    return Outcome(
        f"kill -9 of one of two servers, {runs} runs",
        ended,
        count_calls(stage.endpoint),
        await taken,
        repeated=stage.count_begun(saved, killed_s),
        notes=[f"{len(lost)} runs on it"],
    )


async def kill_after_reports(stage: Stage, *, reports: int, **context: Any) -> Outcome:
    """Kill the holder of one run after so many reports; 0 is while it plans."""
    run, holder = await stage.start_held(context=context)
    await stage.wait_for_call("", schema="Plan")
    await stage.wait_for_saved(run, reports)
    taken = stage.watch_takeover([run], holder)
    holder.kill()
    killed_s, saved = time.monotonic(), stage.list_saved_tasks()
    [ended] = await wait_for_ends(stage.get_other_client(holder), [run])
    back_s = await taken
    wall_s = float(ended.values.get("timing", {}).get("wall_s", 0.0))
    is_timed = back_s < wall_s < ended.real_s + 1.0
    return Outcome(
        f"kill -9 after {reports} reports",
        [ended],
        count_calls(stage.endpoint),
        back_s,
        repeated=stage.count_begun(saved, killed_s),
        more_problems=[] if is_timed else [f"wall_s {wall_s:.1f}, really {ended.real_s:.1f}"],
        notes=[f"wall_s {wall_s:.1f} of {ended.real_s:.1f}"],
    )


async def kill_twice(stage: Stage, *, second_after: int = 7, **context: Any) -> Outcome:
    """Kill the holder of a run, start it again, and kill the one that took the run over."""
    run, holder = await stage.start_held(context=context)
    await stage.wait_for_saved(run, 3)
    taken = stage.watch_takeover([run], holder)
    holder.kill()
    second = await stage.wait_for_holder(run.run, lambda each: each is not holder)
    recovered_s = await taken
    holder.start()
    await stage.wait_for_saved(run, second_after)
    second.kill()
    killed_s, saved = time.monotonic(), stage.list_saved_tasks()
    holder.wait_ready()
    ended = await wait_for_ends(stage.get_other_client(second), [run])
    return Outcome(
        "kill -9 of both holders in turn",
        ended,
        count_calls(stage.endpoint),
        recovered_s,
        repeated=stage.count_begun(saved, killed_s),
    )


async def pause_past_the_lease(stage: Stage, *, reports: int, runs: int = 1) -> Outcome:
    """Pause the holder of runs until another server works on them, then let it continue."""
    started = await stage.start_runs(runs)
    holder = await stage.wait_for_holder(started[0].run)
    await stage.wait_for_saved(started[0], reports)
    held = stage.list_held(started, holder)
    taken = stage.watch_takeover(started, holder)
    holder.pause()
    paused_s, saved = time.monotonic(), stage.list_saved_tasks()
    try:
        await asyncio.sleep(PAUSE_S)
    finally:
        holder.resume()
    ended = await wait_for_ends(stage.get_other_client(holder), started)
    await asyncio.sleep(HEARTBEAT_S)  # for calls that the woken server should not make
    return Outcome(
        f"SIGSTOP past the lease after {reports} reports, {runs} runs",
        ended,
        count_calls(stage.endpoint),
        await taken,
        repeated=stage.count_begun(saved, paused_s),
        notes=[f"{len(held)} runs on it"],
    )


async def drain(stage: Stage, *, runs: int = 6) -> Outcome:
    """End a server in order while runs are at work."""
    started = await stage.start_runs(runs)
    await asyncio.sleep(2.5)
    first = stage.cluster.instances[0]
    held = stage.list_held(started, first)
    first.terminate()
    asked_s, saved = time.monotonic(), stage.list_saved_tasks()
    status = await asyncio.to_thread(first.wait_ended)
    ended_s = time.monotonic() - asked_s
    ended = await wait_for_ends(stage.cluster.client(1), started)
    limit_s = first.variables["WORKER_DRAIN_TIMEOUT"]
    return Outcome(
        f"SIGTERM, {limit_s} s to drain, {runs} runs",
        ended,
        count_calls(stage.endpoint),
        repeated=stage.count_begun(saved, asked_s),
        notes=[f"{len(held)} runs on it", f"exit {status} after {ended_s:.1f} s"],
    )


async def recover_orphan(stage: Stage) -> Outcome:
    """Take holder and lease away from a run, as an outage of the database may (Aegra #476)."""
    run, _ = await stage.start_held()
    await stage.wait_for_saved(run, 2)
    postgres, saved = stage.cluster.postgres, stage.list_saved_tasks()
    orphaned_s = time.monotonic()
    postgres.run_query(
        "UPDATE runs SET claimed_by = NULL, lease_expires_at = NULL WHERE run_id = %s", run.run
    )
    ended = await wait_for_ends(stage.cluster.client(1), [run])
    return Outcome(
        "a run that lost its holder and its lease",
        ended,
        count_calls(stage.endpoint),
        repeated=stage.count_begun(saved, orphaned_s),
    )
