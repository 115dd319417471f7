"""Rates over 1, 2 and 4 processes: `python -m tests.benchmarks.rates [--minute] [--no-cost]`.

Starts a Redis, an endpoint that counts, and the callers, each in a process of its own.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.options import read_options
from tests.benchmarks.rates.cost import measure_cost
from tests.benchmarks.rates.measure import RateFigures, measure_rates
from tests.cluster.services import RedisServer

NEEDS = "Redis"
"""What must be installed; the tests read only the options of such a program."""

WORST_ALLOWED: Final = 1.02
LEAST_USED: Final = 0.90
SHORT_S: Final = 10.0
MINUTE_S: Final = 60.0
WINDOWS: Final = 3
RATES: Final[tuple[dict[str, float], ...]] = ({"requests": 200}, {"tokens": 150_000})


def list_orders(
    period_s: float, processes: tuple[int, ...]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield what each row's callers are told, and how many they are."""
    common = {"in_flight": 16, "period_s": period_s, "seconds": period_s * WINDOWS + 1}
    for number in processes:
        for rate in RATES:
            yield number, {**common, **rate, "instances": number}


def print_rows(url: str, period_s: float, processes: tuple[int, ...]) -> bool:
    """Measure and print the rows; return whether each keeps to the limit and uses it."""
    is_kept = True
    for number, orders in list_orders(period_s, processes):
        for redis_url in (url, None) if period_s < MINUTE_S else (url,):
            figures = measure_rates(number, {**orders, "redis_url": redis_url})
            is_kept = print_row(number, orders, figures, is_shared=bool(redis_url)) and is_kept
    return is_kept


def print_row(
    processes: int, orders: dict[str, Any], figures: RateFigures, *, is_shared: bool
) -> bool:
    """Print one row; return whether it is as it must be."""
    kind = "requests" if "requests" in orders else "tokens"
    is_right = figures.worst <= WORST_ALLOWED and (figures.used >= LEAST_USED or not is_shared)
    way = "Redis" if is_shared else "divided"
    print(
        f"| {processes} | {way} | {orders[kind]:,} {kind} in {orders['period_s']:g} s | "
        f"{figures.worst:.1%} | {figures.used:.1%} | {' '.join(map(str, figures.answers))} | "
        f"{'ok' if is_right else 'MISSED'} |",
        flush=True,
    )
    return is_right


def main() -> int:
    """Return 0 if each row is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minute", action="store_true", help="two processes, a whole minute")
    parser.add_argument("--no-cost", action="store_true", help="leave out the cost of a call")
    chosen = read_options(parser)
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder))
        try:
            print("| processes | rates | limit | fullest window | used | answers | |")
            print("|---|---|---|---|---|---|---|", flush=True)
            sizes = (MINUTE_S, (2,)) if chosen.minute else (SHORT_S, (1, 2, 4))
            is_kept = print_rows(server.url, sizes[0], sizes[1][: chosen.rows])
            if not chosen.no_cost:
                print(measure_cost(server.url))
        finally:
            server.kill()
    return 0 if is_kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
