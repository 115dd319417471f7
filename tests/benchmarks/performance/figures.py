"""Figures of many runs: medians, ratios of the same round, and how figures grow."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from tests.benchmarks.performance.rounds import Row
from tests.benchmarks.performance.variants import VARIANTS

GROWING_PLANS = ("wide-10", "wide-100", "wide-1000")


def summarize_rows(rows: Iterable[Row]) -> list[Row]:
    """Return one row for each plan, number of runs and variant, in the order of the rows.

    `makespan` and `floor` are ratios: to the limit, and to the floor in the same round.
    """
    kept = list(rows)
    floors = {
        (row["plan"], row["runs"], row["round"]): row["wall_s"]
        for row in kept
        if row["variant"] == "floor" and "error" not in row
    }
    places = {_get_cell(row): place for place, row in reversed(list(enumerate(kept)))}
    ordered = sorted(kept, key=lambda row: places[_get_cell(row)])
    return [_summarize_cell(list(cell), floors) for _, cell in groupby(ordered, key=_get_cell)]


def _get_cell(row: Row) -> tuple[str, int, str]:
    return row["plan"], row["runs"], row["variant"]


def _summarize_cell(rows: Sequence[Row], floors: dict[Any, float]) -> Row:
    kept = ("plan", "runs", "variant", "is_workflow", "tasks", "limit_s")
    first = {key: rows[0][key] for key in kept}
    first["waves_at_best"] = rows[0]["waves_limit_s"] / rows[0]["limit_s"]
    if failed := [row["error"] for row in rows if "error" in row]:
        return {**first, "error": failed[0]}

    def middle(measure: Callable[[Row], float]) -> float:
        return statistics.median(map(measure, rows))

    walls = sorted(row["wall_s"] / row["limit_s"] for row in rows)
    summary = {
        **first,
        "makespan": statistics.median(walls),
        "makespan_least": walls[0],
        "makespan_most": walls[-1],
        "overhead_s": middle(lambda row: row["wall_s"] - row["limit_s"]),
        "runs_per_s": middle(lambda row: row["runs"] / row["wall_s"]),
        "processor_ms": middle(lambda row: row["processor_s"] * 1000 / row["tasks"]),
        "stored_bytes": middle(lambda row: row["bytes"] / row["tasks"]),
        "input_bytes": middle(lambda row: row["input_bytes"]),
        "peak_bytes": max(row["peak_bytes"] for row in rows),
        "in_flight": middle(lambda row: row["in_flight"]),
        "calls": middle(lambda row: row["calls"] / row["runs"]),
        "endpoint_share": middle(lambda row: row["endpoint_processor_s"] / row["wall_s"]),
        "endpoint_late_ms": middle(lambda row: row["endpoint_late_s"] * 1000),
    }
    pairs = [
        row["wall_s"] / floors[key]
        for row in rows
        if (key := (row["plan"], row["runs"], row["round"])) in floors
    ]
    return {**summary, **({"floor": statistics.median(pairs)} if pairs else {})}


def compute_exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the points on logarithmic scales: 1 is linear growth.

    None for fewer than two points above zero.
    """
    known = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in known}) < 2:
        return None
    return statistics.linear_regression(*zip(*known, strict=True)).slope


def list_exponents(summaries: Sequence[Row]) -> list[Row]:
    """Return how figures grow with a plan's tasks, and with the runs at once, by variant."""
    alone = [row for row in summaries if row["plan"] in GROWING_PLANS and row["runs"] == 1]
    at_once = [row for row in summaries if row["plan"] == "cascade"]
    found = [
        {"along": along, "variant": variant, **_measure_growth(chosen, variant)}
        for along, chosen in (("tasks", alone), ("runs", at_once))
        for variant in VARIANTS
        if any(row["variant"] == variant for row in chosen)
    ]
    return [row for row in found if len(row) > 2]


def measure_memory_growth(rows: Sequence[Row]) -> list[tuple[int, float]]:
    """Return tasks and bytes at the peak, both beyond those of the smallest run."""
    least, *others = sorted(rows, key=lambda row: int(row["tasks"]))
    return [
        (row["tasks"] - least["tasks"], row["peak_bytes"] - least["peak_bytes"]) for row in others
    ]


def _measure_growth(rows: Sequence[Row], variant: str) -> dict[str, float]:
    chosen = [row for row in rows if row["variant"] == variant and "error" not in row]
    if not chosen:
        return {}
    slopes = {
        "overhead": compute_exponent([(row["tasks"], row["overhead_s"]) for row in chosen]),
        "processor": compute_exponent(
            [(row["tasks"], row["processor_ms"] * row["tasks"]) for row in chosen]
        ),
        "stored": compute_exponent(
            [(row["tasks"], row["stored_bytes"] * row["tasks"]) for row in chosen]
        ),
        "memory": compute_exponent(measure_memory_growth(chosen)),
    }
    return {name: slope for name, slope in slopes.items() if slope is not None}
