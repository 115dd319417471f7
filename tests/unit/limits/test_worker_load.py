"""What a record of a worker's seconds counts, and whom it sends requests to, on a test's clock."""

from collections import Counter
from contextlib import AbstractContextManager

import pytest
from langgraph.store.memory import InMemoryStore

from examples.mechanisms.capacity import INTERVAL_S, REQUESTS, SECONDS, make_desks
from nodes.limits.worker_load import (
    HALF_LIFE_S,
    LatencyRecord,
    TeamLoad,
    WorkerLoad,
    choose_least_busy_worker,
)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def record_attempt(self, load: TeamLoad, worker: str, seconds: float) -> None:
        """Let an attempt of a worker begin now, and end after these seconds."""
        with load.count_attempt(worker, None):
            self.now += seconds


def test_a_record_of_a_workers_seconds_counts_less_the_older_it_is():
    record = LatencyRecord(seconds=40.0, ended_at=1000.0)

    ages = [0.0, HALF_LIFE_S, 2 * HALF_LIFE_S, 4 * HALF_LIFE_S]
    assert [record.compute_weight(1000.0 + age) for age in ages] == [1, 0.5, 0.25, 0]
    assert record.compute_weight(999.0) == 1, "the clock of another machine may be ahead"


def test_an_attempt_after_a_long_time_replaces_the_record_and_one_soon_moves_it():
    record = LatencyRecord(seconds=40.0, ended_at=1000.0)

    assert record.add_attempt(2.0, 1000.0).seconds == pytest.approx(28.6)
    assert record.add_attempt(2.0, 1000.0 + 4 * HALF_LIFE_S).seconds == 2


def test_one_slow_first_attempt_does_not_keep_requests_away_for_good():
    clock = Clock()
    load = TeamLoad("faded", clock)
    clock.record_attempt(load, "east", 30.0)

    def choose() -> str:
        """Return who is expected to end one attempt more, after three of north's."""
        clock.record_attempt(load, "north", 3.0)
        waits = load.estimate_waits(["north", "east"], planned={"north": 3})
        return min(waits, key=lambda name: waits[name])

    chosen = []
    for _ in range(4):
        chosen.append(choose())
        clock.now += HALF_LIFE_S

    assert chosen == ["north", "north", "north", "east"]
    assert load.measure_load("east") == WorkerLoad()


async def test_the_newer_of_two_processes_records_counts():
    store, clock = InMemoryStore(), Clock()
    here, there = TeamLoad("two", clock), TeamLoad("two", clock)
    clock.record_attempt(here, "researcher", 9.0)
    clock.record_attempt(there, "researcher", 1.0)

    await there.save_to_store(store)
    await here.load_from_store(store)

    assert here.measure_load("researcher").latency_s == 1


async def test_a_record_without_its_time_is_too_old_to_count():
    store, load = InMemoryStore(), TeamLoad("older")
    await store.aput(("capacity", "older"), "researcher", {"latency_s": 9.0, "at_work": {}})

    await load.load_from_store(store)

    assert load.measure_load("researcher") == WorkerLoad()


def play_requests(*, prefer_idle: bool) -> list[tuple[str, float]]:
    """Play the example's requests on a clock; return who answered each, and after what time."""
    clock, made = Clock(), make_desks(prefer_idle=prefer_idle)
    load = TeamLoad(made.name, clock)
    free_at = dict.fromkeys(SECONDS, 0.0)
    open_attempts: list[tuple[float, AbstractContextManager[None]]] = []
    served = []
    for number in range(REQUESTS):
        came_at = number * INTERVAL_S
        open_attempts.sort(key=lambda each: each[0])
        while open_attempts and open_attempts[0][0] <= came_at:
            clock.now, attempt = open_attempts.pop(0)
            attempt.__exit__(None, None, None)
        clock.now = came_at
        desk = choose_least_busy_worker(made.find_worker("north"), made, load).name
        attempt = load.count_attempt(desk, None)
        attempt.__enter__()
        free_at[desk] = max(came_at, free_at[desk]) + SECONDS[desk]
        open_attempts.append((free_at[desk], attempt))
        served.append((desk, free_at[desk] - came_at))
    return served


def test_requests_are_spread_by_load_and_answered_sooner():
    by_choice, by_load = (play_requests(prefer_idle=each) for each in (False, True))

    counts = Counter(desk for desk, _ in by_load)
    assert {desk for desk, _ in by_choice} == {"north"}
    assert set(counts) == {"north", "east", "west"}
    assert 2 * counts["west"] < counts["north"] + counts["east"]
    assert sum(seconds for _, seconds in by_load) < sum(seconds for _, seconds in by_choice)
