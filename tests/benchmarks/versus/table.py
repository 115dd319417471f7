"""The table: a row for each measure, a column for each system, and who is best at it."""

import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from os import cpu_count, getloadavg

from tests.benchmarks.performance.limits import compute_critical_path_s, compute_waves_s
from tests.benchmarks.performance.tables import format_table
from tests.benchmarks.versus.cases import CASES, Cell, Seen
from tests.benchmarks.versus.contenders import Contender
from tests.benchmarks.versus.work import LEAD_S, SHAPES

EQUAL_WITHIN = 0.03
"""Makespans over the limit that differ by less are the same."""

Runs = Mapping[str, Sequence[Seen]]
"""By case; of a shape there are several."""


def compute_limits_s(shape: str) -> tuple[float, float]:
    """Return what no schedule, and no schedule in waves, can beat, with a plan and an answer."""
    parts = SHAPES[shape]
    edges = {name: part.needs for name, part in parts.items()}
    seconds = {name: part.seconds for name, part in parts.items()}
    both = (compute_critical_path_s(edges, seconds), compute_waves_s(edges, seconds))
    return both[0] + 2 * LEAD_S, both[1] + 2 * LEAD_S


def measure_makespan(shape: str, scale: float) -> Callable[[Runs], Cell]:
    """Return what measures makespan over the limit: the median, and all runs."""
    limit_s = compute_limits_s(shape)[0] * scale

    def measure(runs: Runs) -> Cell:
        failed = next((seen.error for seen in runs[shape] if seen.error), "")
        if failed:
            return Cell(f"ends with {failed}", (float("-inf"),))
        ratios = sorted(seen.returned["wall_s"] / limit_s for seen in runs[shape])
        middle = statistics.median(ratios)
        spread = f" ({ratios[0]:.2f}-{ratios[-1]:.2f})" if len(ratios) > 1 else ""
        return Cell(f"{middle:.2f}{spread}", (-middle,))

    return measure


def count_in(shape: str, count: Callable[[Seen], int]) -> Callable[[Runs], Cell]:
    """Return what counts something in a run of a shape: the median."""

    def measure(runs: Runs) -> Cell:
        middle = statistics.median(count(seen) for seen in runs[shape])
        return Cell(f"{middle:,.0f}", (-middle,))

    return measure


def judge_case(name: str) -> Callable[[Runs], Cell]:
    """Return what describes a run in which something fails."""
    judge = CASES[name][1]
    return lambda runs: judge(runs[name][0], runs["plain"][0])


def list_measures(scale: float) -> dict[str, tuple[Callable[[Runs], Cell], float]]:
    """Return the rows: by their words what measures, and how much is a difference."""
    return {
        **{
            f"{shape}: makespan over the limit": (measure_makespan(shape, scale), EQUAL_WITHIN)
            for shape in SHAPES
        },
        **{
            f"{shape}: model calls": (count_in(shape, lambda s: len(s.calls)), 0)
            for shape in SHAPES
        },
        **{f"{shape}: tokens": (count_in(shape, lambda seen: seen.tokens), 0) for shape in SHAPES},
        **{words: (judge_case(name), 0) for name, (words, _) in CASES.items()},
    }


def name_best(cells: Mapping[str, Cell], within: float) -> str:
    """Return who is best in a row."""
    top = max(cell.rank for cell in cells.values())
    best = [
        label
        for label, cell in cells.items()
        if (top[0] - cell.rank[0] <= within if within else cell.rank == top)
    ]
    others = [label for label in cells if label not in best]
    if not others:
        return "all equal"
    return f"all but {', '.join(others)}" if len(others) < len(best) else ", ".join(best)


def format_page(
    contenders: Sequence[Contender],
    runs: Mapping[str, Runs],
    skipped: Sequence[str],
    *,
    scale: float,
    seconds: float,
) -> str:
    """Return the figures of the page, in Markdown."""
    labels = {each.system.name: each.system.label for each in contenders}
    rows = []
    for words, (measure, within) in list_measures(scale).items():
        cells = {labels[name]: measure(found) for name, found in runs.items()}
        shown = [cell.words for cell in cells.values()]
        rows.append([words, *shown, name_best(cells, within)])
    table = format_table(["", *(labels[name] for name in runs), "best"], rows)
    versions = [
        f"{each.system.label}: {', '.join(f'{n} {v}' for n, v in each.versions.items())}"
        for each in contenders
    ]
    limits = "; ".join(
        "`{}`: {:.0f} s, in waves {:.0f} s".format(shape, *compute_limits_s(shape))
        for shape in SHAPES
    )
    rounds = len(next(iter(runs.values()))["even"])
    return "\n\n".join(
        [
            f"{date.today().isoformat()}, Python {platform.python_version()}, {cpu_count()} cores "
            f"with a load of {getloadavg()[1]:.0f}, {seconds:.0f} s in all after set-up. "
            f"Makespans: the median of {rounds} (least-most). Limits: {limits}.",
            table,
            "\n".join(f"- {line}" for line in versions),
            *(f"Not measured: {reason}." for reason in skipped),
        ]
    )
