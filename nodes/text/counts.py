"""Counts with their nouns, and what a run is expected to take."""

from collections.abc import Iterable, Mapping
from typing import Any


def format_count(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: 1 value, 2 values."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def join_names(names: Iterable[str], most: int) -> str:
    """Return the first names with commas between them, and how many more there are."""
    known = list(names)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def format_estimate(estimate: Mapping[str, Any]) -> str:
    """Return an estimate, as JSON, on one line: each amount, with its 90 % interval if it has one.

    Calls and tokens of the built-in model say nothing to a user.
    An estimate of an earlier release has no seconds and no intervals.
    """
    low, high = estimate.get("low") or {}, estimate.get("high") or {}
    cost, seconds = estimate.get("cost_usd"), estimate.get("seconds")
    read = format_count(estimate.get("input_tokens", 0), "token")
    texts = {
        "model_calls": (format_count(estimate["model_calls"], "model call"), "{:,}"),
        "input_tokens": (f"{read} in", "{:,}"),
        "output_tokens": (f"{estimate.get('output_tokens', 0):,} out", "{:,}"),
        "cost_usd": (format_cost(cost), "{:,.4f}"),
        **({"seconds": (f"{seconds:,.1f} s", "{:,.1f}")} if seconds else {}),
    }
    if {*(estimate.get("models") or {}).values()} == {"embedded"}:  # no language model
        texts = {"seconds": texts["seconds"]} if seconds else {}
    parts = []
    for name, (text, form) in texts.items():
        ends = [form.format(end[name]) for end in (low, high) if end.get(name) is not None]
        parts.append(f"{text} ({ends[0]} to {ends[1]})" if len({*ends}) == 2 else text)
    runs = estimate.get("runs")
    basis = f"from {format_count(runs, 'earlier run')}" if runs else "without an earlier run"
    said = " · ".join(parts) or "no language model"
    return said + (f"; in brackets 9 of 10 runs, {basis}" if low and high else "")


def format_cost(cost_usd: float | None) -> str:
    """Return an amount of money, or that it is not known."""
    return "cost unknown" if cost_usd is None else f"${cost_usd:,.4f}" if cost_usd else "$0"
