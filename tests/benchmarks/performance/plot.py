"""The plot of a benchmark: makespan over the limit by plan, and runs a second."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.performance.rounds import Row
from tests.benchmarks.performance.tables import LABELS

WIDTH = 0.6
"""Of a plan's place, over which its marks are spread."""
TITLE = "Makespan over the limit by plan, and cascades a second by runs at once"
DESCRIPTION = "The tables of docs/performance.md have the same figures."


def draw_plot(summaries: Sequence[Row], path: Path) -> None:
    """Draw into an SVG file; without matplotlib, a line on stderr says how to install it."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: run bin/test --collect-only, which installs matplotlib", file=sys.stderr)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    # The same figures make the same file.
    matplotlib.rcParams |= {"svg.hashsalt": "performance", "svg.fonttype": "none"}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5), width_ratios=(3, 2))
    drawn = [row for row in summaries if "error" not in row]
    alone = [row for row in drawn if row["runs"] == 1 and not row["is_workflow"]]
    at_once = [row for row in drawn if row["plan"] == "cascade"]
    for axes, rows, draw in ((left, alone, _draw_makespans), (right, at_once, _draw_rates)):
        axes.set_visible(bool(rows))  # a scale without a value cannot be drawn
        if rows:
            draw(axes, rows)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    about = {"Title": TITLE, "Description": DESCRIPTION, "Date": None}
    figure.savefig(path, metadata=about)
    pyplot.close(figure)


def _draw_makespans(axes: Any, rows: Sequence[Row]) -> None:
    plans = list(dict.fromkeys(row["plan"] for row in rows))
    for index, (variant, label) in enumerate(LABELS.items()):
        chosen = [row for row in rows if row["variant"] == variant]
        shift = WIDTH * (index / (len(LABELS) - 1) - 0.5)  # so that none hides another
        places = [plans.index(row["plan"]) + shift for row in chosen]
        heights = [row["makespan"] for row in chosen]
        if chosen:
            axes.plot(places, heights, **_get_style(index, variant, label))
    axes.set_yscale("log")
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_xticks(range(len(plans)), plans, rotation=30, ha="right")
    axes.set_title("makespan over the limit (1 = planner + critical path + synthesizer)", size=10)
    _write_plain_numbers(axes.yaxis)


def _draw_rates(axes: Any, rows: Sequence[Row]) -> None:
    for index, (variant, label) in enumerate(LABELS.items()):
        chosen = sorted(
            (row for row in rows if row["variant"] == variant), key=lambda row: int(row["runs"])
        )
        counts, rates = ([row[key] for row in chosen] for key in ("runs", "runs_per_s"))
        axes.plot(counts, rates, **_get_style(index, variant, label) | {"linestyle": "-"})
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("cascades at once, in one process")
    axes.set_title("runs a second", size=10)
    for axis in (axes.xaxis, axes.yaxis):
        _write_plain_numbers(axis)


def _write_plain_numbers(axis: Any) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def _get_style(index: int, variant: str, label: str) -> dict[str, str]:
    """Return the look of a variant: the form of its mark differs too, not the color alone."""
    marker = {"floor": "_", "waves": "v", "ours": "o"}.get(variant.partition("-")[0], "s")
    label = label.replace("**", "").replace("`", "")
    return {"marker": marker, "color": f"C{index}", "linestyle": "", "label": label}
