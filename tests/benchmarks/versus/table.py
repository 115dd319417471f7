"""The table: a row for each measure, a column for each system, and who is best at it."""

import platform
import statistics
from collections.abc import Mapping, Sequence
from datetime import date
from os import cpu_count, getloadavg

from tests.benchmarks.performance.limits import compute_critical_path_s, compute_waves_s
from tests.benchmarks.performance.tables import format_table
from tests.benchmarks.versus.cases import CASES, Cell, Seen, judge_case
from tests.benchmarks.versus.contenders import Contender
from tests.benchmarks.versus.work import LEAD_S, SHAPES

MAKESPAN = "makespan over the limit"
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


def measure_makespan(shape: str, runs: Runs, scale: float) -> Cell:
    """Return makespan over the limit: the median, and the range."""
    if failed := next((seen.error for seen in runs[shape] if seen.error), ""):
        return Cell(f"ends with {failed}", (float("-inf"),))
    limit_s = compute_limits_s(shape)[0] * scale
    ratios = sorted(seen.returned["wall_s"] / limit_s for seen in runs[shape])
    middle = statistics.median(ratios)
    return Cell(f"{middle:.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})", (-middle,))


def describe_runs(runs: Runs, scale: float) -> dict[str, Cell]:
    """Return a system's cells, by the words of their rows."""
    cells = {f"{name}: {MAKESPAN}": measure_makespan(name, runs, scale) for name in SHAPES}
    for shape in SHAPES:
        calls = statistics.median(len(seen.calls) for seen in runs[shape])
        tokens = statistics.median(seen.tokens for seen in runs[shape])
        cells[f"{shape}: model calls"] = Cell(f"{calls:.0f}", (-calls,))
        cells[f"{shape}: tokens"] = Cell(f"{tokens:,.0f}", (-tokens,))
    for case, (words, _) in CASES.items():
        cells[words] = judge_case(case, runs[case][0], runs["plain"][0])
    return cells


def name_best(cells: Mapping[str, Cell], within: float = 0) -> str:
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
    columns = {
        each.system.label: describe_runs(runs[each.system.name], scale) for each in contenders
    }
    rows = []
    for words in next(iter(columns.values())):
        cells = {label: column[words] for label, column in columns.items()}
        best = name_best(cells, EQUAL_WITHIN if MAKESPAN in words else 0)
        rows.append([words, *(cell.words for cell in cells.values()), best])
    table = format_table(["", *columns, "best"], rows)
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
