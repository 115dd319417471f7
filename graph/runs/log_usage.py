"""The usage of a request by its event log, including attempts that no checkpoint has saved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from graph.runs import event_log
from state import Tier, Usage

LogEntry = Mapping[str, Any]


def usage_from_log(path: Path) -> dict[Tier, Usage]:
    """Sum the model calls of an event log's last request, by tier; empty if it is unreadable."""
    try:
        return sum_usage_by_tier(event_log.read_log_entries(path))
    except (OSError, *event_log.FORM_ERRORS):
        return {}


def sum_usage_by_tier(entries: Iterable[LogEntry]) -> dict[Tier, Usage]:
    """Sum the model calls since a request was last accepted, by tier.

    Not since its last event `request`: a run that was killed while it planned emits that again.
    """
    spent: defaultdict[Tier, Usage] = defaultdict(Usage)
    for entry in entries:
        if "run" in entry:
            spent.clear()
        # A call that failed and cost nothing has no counts, and is in no ledger.
        elif entry.get("kind") == "model_call" and "input_tokens" in entry:
            spent[_read_tier(entry)] += _read_usage(entry)
    return dict(spent)


def _read_tier(call: LogEntry) -> Tier:
    return next((tier for tier in get_args(Tier) if tier == call.get("tier")), "standard")


def _read_usage(call: LogEntry) -> Usage:
    return Usage(
        model_calls=1,
        input_tokens=call.get("input_tokens") or 0,
        output_tokens=call.get("output_tokens") or 0,
        cost_usd=call.get("cost_usd"),
        seconds=call.get("seconds") or 0.0,
        models=(str(call["model"]),) if call.get("model") else (),
        uncounted_calls=1 if call.get("uncounted") else 0,
    )
