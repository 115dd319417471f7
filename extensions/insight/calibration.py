"""`supervise calibration`: how often the intervals of estimates have held."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from extensions.insight.history import (
    AMOUNTS,
    MAX_LISTED,
    NAMESPACE,
    NO_USER,
    DoneRun,
    load_values,
    read_runs,
)
from graph.commands.output import print_json, print_table, print_text
from graph.commands.runs import require_team
from graph.display.stderr_console import print_to_stderr
from graph.runs.run_store import open_readable_store
from graph.settings import Settings
from nodes.text.counts import format_count

ENOUGH_RUNS: Final = 20
"""Of which a share says something: of ten, nine hits and eight are chance."""
TITLES: Final[Mapping[str, str]] = {
    "model_calls": "calls",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "cost_usd": "cost",
    "seconds": "seconds",
}


def show_calibration(team: str | None, settings: Settings, *, as_json: bool) -> int:
    """Print how often the intervals have held, by team and overall; return the exit code.

    Raises:
        StoreError: the run database cannot be read.
        TeamInvalid: there is no run, and no team, of this name.
    """
    runs = asyncio.run(_load_runs(settings))
    measured = measure_calibration([run for run in runs if team in (None, run.team)])
    if as_json:
        print_json(measured)
        return 0
    if not measured["runs"]:
        if team:
            require_team(team, settings)
        of_team = f" of {team}" if team else ""
        print_text(f"no run{of_team} has ended here since estimates have intervals")
        return 0
    print_measured(measured)
    return 0


async def _load_runs(settings: Settings) -> list[DoneRun]:
    async with open_readable_store(settings) as store:
        place = (NAMESPACE, NO_USER)
        return read_runs(await load_values(store, place, limit=MAX_LISTED)) if store else []


def measure_calibration(runs: Sequence[DoneRun]) -> dict[str, Any]:
    """Return hits, widths and facts by team and overall, as JSON.

    An interval counts that was made from earlier runs of its team; those of a team's first run are
    made of constants and are as wide as a guess deserves.
    """
    by_team = defaultdict[str, list[DoneRun]](list)
    for run in runs:
        by_team[run.team].append(run)
    overall = _measure(runs)
    teams = {name: _measure(own) for name, own in sorted(by_team.items())}
    return {**overall, "aim": 0.9, "enough_runs": ENOUGH_RUNS, "teams": teams}


def _measure(runs: Sequence[DoneRun]) -> dict[str, Any]:
    counted = [run for run in runs if run.expected.runs]
    return {
        "runs": len(counted),
        "first_runs": len(runs) - len(counted),
        "is_enough": len(counted) >= ENOUGH_RUNS,
        "amounts": {name: found for name in AMOUNTS if (found := _measure_amount(name, counted))},
    }


def _measure_amount(name: str, runs: Sequence[DoneRun]) -> dict[str, Any]:
    """Return how an amount was estimated; nothing where it is not known of any run."""
    ends = [
        [getattr(each, name) for each in (run.expected.low, run.fact, run.expected.high)]
        for run in runs
    ]
    known = [each for each in ends if None not in each]
    if not known:
        return {}
    width, fact = median(high - low for low, _, high in known), median(each[1] for each in known)
    return {
        "runs": len(known),
        "held": round(sum(low <= fact <= high for low, fact, high in known) / len(known), 4),
        "median_width": float(f"{width:.5g}"),
        "median_fact": float(f"{fact:.5g}"),
        "width_over_fact": round(width / fact, 3) if fact else None,
    }


def print_measured(measured: Mapping[str, Any]) -> None:
    """Print what was measured as a table, and what it lacks."""
    named = {**measured["teams"], **({"all": measured} if len(measured["teams"]) > 1 else {})}
    rows: list[tuple[str, ...]] = [("team", "amount", "runs", "held", "width", "median")]
    for name, part in named.items():
        for amount, found in part["amounts"].items():
            width = found["width_over_fact"]
            shown = "-" if width is None else f"{width:.0%}"
            figures = (str(found["runs"]), f"{found['held']:.0%}", shown)
            rows.append((name, TITLES[amount], *figures, f"{found['median_fact']:,.5g}"))
            name = ""
    print_table(rows)
    said = "held: runs inside of their 90 % interval; width: of the median interval, by the median"
    print_to_stderr(f"{said} of what runs took", style="dim")
    if first := measured["first_runs"]:
        said = f"{format_count(first, 'run')} had no earlier one of the team"
        print_to_stderr(f"{said}, and {'does' if first == 1 else 'do'} not count", style="dim")
    if few := [name for name, part in named.items() if not part["is_enough"]]:
        said = f"too few runs to judge by ({ENOUGH_RUNS} are needed): {', '.join(few)}"
        print_to_stderr(said, style="yellow")
