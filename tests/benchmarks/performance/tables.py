"""The tables of a benchmark, in Markdown."""

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from os import cpu_count

from tests.benchmarks.performance.figures import list_exponents, measure_memory_growth
from tests.benchmarks.performance.plans import CASCADE
from tests.benchmarks.performance.rounds import Row

CASCADE_TASKS = len(CASCADE)
LABELS = {
    "floor": "by hand: asyncio, aiohttp",
    "waves-memory": "LangGraph waves, memory",
    "waves-sqlite": "LangGraph waves, SQLite",
    "waves-postgres": "LangGraph waves, PostgreSQL",
    "ours-memory": "**ours, memory**",
    "ours-sqlite": "**ours, SQLite**",
    "ours-postgres": "**ours, PostgreSQL**",
    "run-sqlite": "**`arun`, SQLite**, with its trace",
}
MEASURES: tuple[tuple[str, str, Callable[[Row], str]], ...] = (
    ("Makespan over the limit", "makespan", lambda row: f"{row['makespan']:.2f}"),
    ("Processor, ms a task", "processor_ms", lambda row: f"{row['processor_ms']:.1f}"),
    ("Stored, kB a task", "stored_bytes", lambda row: f"{row['stored_bytes'] / 1000:.1f}"),
    ("Peak memory, MB", "peak_bytes", lambda row: f"{row['peak_bytes'] / 1e6:.0f}"),
    ("Calls in flight at once, at most", "in_flight", lambda row: f"{row['in_flight']:.0f}"),
)


def format_report(summaries: Sequence[Row], skipped: Sequence[str], *, repeat: int) -> str:
    """Return all tables and what they are of."""
    alone = [row for row in summaries if row["runs"] == 1]
    plans = list(dict.fromkeys(row["plan"] for row in alone if not row["is_workflow"]))
    made = [row for row in alone if row["plan"] in plans]
    libraries = ", ".join(f"{name} {version(name)}" for name in ("langgraph", "langchain-openai"))
    parts = [
        f"Python {platform.python_version()}, {libraries}, {cpu_count()} cores; "
        f"the median of {repeat}.",
        *(f"### {title}\n\n{_format_by_plan(made, plans, cell)}" for title, _, cell in MEASURES),
        *_format_workflows([row for row in alone if row["is_workflow"]]),
        *_format_runs_at_once([row for row in summaries if row["plan"] == "cascade"]),
        *_format_growth(list_exponents(summaries)),
        f"### Calls, and the endpoint\n\n{_format_endpoint(summaries)}",
        *([f"Not measured: {'; '.join(skipped)}."] if skipped else []),
        *_format_failures(summaries),
    ]
    return "\n\n".join(parts) + "\n"


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _format_by_plan(rows: Sequence[Row], plans: Sequence[str], cell: Callable[[Row], str]) -> str:
    found = {(row["variant"], row["plan"]): row for row in rows}
    lines = [
        [label, *(_format_cell(found.get((variant, plan)), cell) for plan in plans)]
        for variant, label in LABELS.items()
        if any((variant, plan) in found for plan in plans)
    ]
    if cell is MEASURES[0][2]:
        best = [next(row for row in rows if row["plan"] == plan) for plan in plans]
        lines.insert(1, ["waves at best", *(f"{row['waves_at_best']:.2f}" for row in best)])
    return format_table(["", *plans], lines)


def _format_cell(row: Row | None, cell: Callable[[Row], str]) -> str:
    if row is None:
        return "-"
    return "failed" if "error" in row else cell(row)


def _format_workflows(rows: Sequence[Row]) -> list[str]:
    plans = list(dict.fromkeys(row["plan"] for row in rows))
    if not plans:
        return []
    found = {(row["variant"], row["plan"]): row for row in rows}
    variants = [name for name in LABELS if any((name, plan) in found for plan in plans)]
    lines = []
    for plan in plans:
        cells = [found.get((name, plan)) for name in variants]
        first = next(row for row in cells if row)
        figures = [_format_cell(row, MEASURES[0][2]) for row in cells]
        lines.append([plan, str(first["tasks"]), f"{first['waves_at_best']:.2f}", *figures])
    head = ["workflow", "tasks", "waves at best", *(LABELS[name] for name in variants)]
    return [f"### Measured workflows: makespan over the limit\n\n{format_table(head, lines)}"]


def _format_runs_at_once(rows: Sequence[Row]) -> list[str]:
    counts = sorted({row["runs"] for row in rows})
    if len(counts) < 2:
        return []
    found = {(row["variant"], row["runs"]): row for row in rows}
    lines = []
    for name in LABELS:
        cells = [found.get((name, count)) for count in counts]
        last = cells[-1]
        if not any(cells):
            continue
        lines.append(
            [
                LABELS[name],
                *(_format_cell(row, lambda row: f"{row['runs_per_s']:.1f}") for row in cells),
                _format_cell(last, lambda row: f"{1 / row['floor']:.2f}" if "floor" in row else ""),
                _format_cell(last, lambda row: f"{row['processor_ms'] * CASCADE_TASKS:.1f}"),
                _format_memory([row for row in cells if row and "error" not in row]),
            ]
        )
    head = ["cascades at once, runs/s", *map(str, counts), "of the floor", "ms CPU a run"]
    return [f"### Runs at once, in one process\n\n{format_table([*head, 'kB a run'], lines)}"]


def _format_memory(rows: Sequence[Row]) -> str:
    """Return the kB at the peak of one run among many."""
    if len(rows) < 2:
        return "-"
    *_, (tasks, grown) = measure_memory_growth(rows)
    return f"{grown / tasks * CASCADE_TASKS / 1000:.0f}"


def _format_growth(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    names = ("overhead", "processor", "stored", "memory")
    lines = [
        [
            f"{LABELS[row['variant']]}, by {row['along']}",
            *(f"{row[name]:.2f}" if name in row else "-" for name in names),
        ]
        for row in rows
    ]
    return [f"### Growth: exponents, 1 is linear\n\n{format_table(['', *names], lines)}"]


def _format_endpoint(summaries: Sequence[Row]) -> str:
    rows = [row for row in summaries if "error" not in row]
    if not rows:
        return "No run ended."
    busiest = max(rows, key=lambda row: row["endpoint_share"])
    latest = max(rows, key=lambda row: row["endpoint_late_ms"])
    most = max(rows, key=lambda row: row["calls"] - row["tasks"] / row["runs"])
    return (
        f"A run made at most {most['calls'] - most['tasks'] / most['runs']:.0f} model calls beside "
        f"one for each task ({most['plan']}, {LABELS[most['variant']]}). "
        f"The endpoint used at most {busiest['endpoint_share']:.0%} of a core ({busiest['plan']}, "
        f"{LABELS[busiest['variant']]}, {busiest['runs']} at once), and answered at most "
        f"{latest['endpoint_late_ms']:.0f} ms late in the median of a run ({latest['plan']}, "
        f"{LABELS[latest['variant']]}, {latest['runs']} at once)."
    )


def _format_failures(summaries: Sequence[Row]) -> list[str]:
    return [
        f"Failed: {row['plan']}, {LABELS[row['variant']]}, {row['runs']} at once: {row['error']}"
        for row in summaries
        if "error" in row
    ]
