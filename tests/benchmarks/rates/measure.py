"""Runs callers in processes of their own against the endpoint, and counts what reached it."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.endpoint.process import ROOT

START_S: Final = 6.0
"""In which the callers import what they need, before all of them begin."""


@dataclass(frozen=True)
class RateFigures:
    """What the endpoint saw, as parts of the limit."""

    worst: float
    """The fullest window of any position."""
    used: float
    """From the beginning to the end."""
    answers: tuple[int, ...]
    """By process."""


@contextmanager
def run_counting_endpoint() -> Iterator[int]:
    """Start the endpoint, and return its port."""
    command = [sys.executable, "-m", "tests.benchmarks.rates.counting_endpoint"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None, "asked for pipes"
        yield int(child.stdout.readline())
        child.stdin.close()


def start_callers(
    port: int, processes: int, orders: dict[str, Any], begins_at: float
) -> "list[subprocess.Popen[str]]":
    """Start callers that begin together."""
    base_url = f"http://127.0.0.1:{port}/v1"
    full = json.dumps({**orders, "base_url": base_url, "begins_at": begins_at})
    command = [sys.executable, "-m", "tests.benchmarks.rates.caller", full]
    return [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]


def measure_rates(processes: int, orders: dict[str, Any]) -> RateFigures:
    """Return what the endpoint saw of several processes with the same orders."""
    with run_counting_endpoint() as port:
        children = start_callers(port, processes, orders, time.time() + START_S)
        answers = tuple(int(child.communicate()[0].split()[-1]) for child in children)
        arrivals = fetch_arrivals(port)
    weights = [(at, 1.0 if orders.get("requests") else float(tokens)) for at, tokens in arrivals]
    limit = orders.get("requests") or orders["tokens"]
    return describe_arrivals(weights, limit, orders["period_s"], orders["seconds"], answers)


def fetch_arrivals(port: int) -> list[tuple[float, int]]:
    """Fetch and forget what reached the endpoint."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/arrivals") as response:
        return [(at, tokens) for at, tokens in json.load(response)]


def describe_arrivals(
    arrivals: Sequence[tuple[float, float]],
    limit: float,
    period_s: float,
    seconds: float,
    answers: tuple[int, ...] = (),
) -> RateFigures:
    """Return the fullest window, and the use until the last whole period."""
    first_s = min(at for at, _ in arrivals)
    whole = int(seconds // period_s)
    used = sum(weight for at, weight in arrivals if at < first_s + whole * period_s)
    return RateFigures(find_worst(arrivals, period_s) / limit, used / (limit * whole), answers)


def find_worst(arrivals: Sequence[tuple[float, float]], period_s: float) -> float:
    """Return the most that any window of the period holds."""
    ordered, total, worst, oldest = sorted(arrivals), 0.0, 0.0, 0
    for at, weight in ordered:
        total += weight
        while ordered[oldest][0] <= at - period_s:
            total -= ordered[oldest][1]
            oldest += 1
        worst = max(worst, total)
    return worst
