"""Measure what a run saves: bytes a task, by table, and commits a task.

    python -m tests.benchmarks.saved_bytes [--tasks 40] [--materials 0] [--postgres]

The tasks are independent and start together; each has a report of about 0.5 kB. `--materials` gives
the request a document of so many kB, which every task gets. Bytes are those of the values in the
rows; `disk` is the growth of the SQLite file, with keys and indexes.
"""

import argparse
import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from graph import build_supervisor
from graph.runs.run_store import open_database
from graph.settings import Settings
from graph.stores.group_commit import VALUES_TABLE, GroupCommitSaver
from tests import postgres_server
from tests.benchmarks.options import read_options
from tests.endpoint import Scenario, script_tasks
from tests.endpoint.process import run_endpoint_process
from tests.teams import make_team

REPORT: Final = {
    "status": "completed",
    "output": "The part costs 42 euros a month, and 12 more with support. " * 4,
    "claims": [{"text": "The part costs 42 euros a month.", "source": "part.md"}],
    "confidence": 90,
}
SQLITE_TABLES: Final = {
    "checkpoints": "length(checkpoint) + length(metadata)",
    "writes": "length(value)",
    VALUES_TABLE: "length(value)",
}
POSTGRES_TABLES: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")


def make_scenario(tasks: int, material: str) -> Scenario:
    """Make a plan of independent tasks."""
    scripted = script_tasks({f"t{n}": () for n in range(tasks)}, latency_s=0.1)
    given = (material,) if material else ()
    return Scenario(tasks=tuple(replace(task, report=REPORT, materials=given) for task in scripted))


@contextmanager
def count_commits(saver: Any) -> Iterator[list[str]]:
    """Collect the commits of a SQLite saver."""
    assert isinstance(saver, GroupCommitSaver), "a saver of ours"
    commits: list[str] = []
    saver.conn.set_trace_callback(
        lambda said: commits.append(said) if said.startswith("COMMIT") else None
    )
    try:
        yield commits
    finally:
        saver.conn.set_trace_callback(None)


async def run_tasks(settings: Settings, materials: dict[str, str]) -> int:
    """Run the plan, and return the commits of a SQLite saver."""
    async with open_database("one", settings) as database:
        graph = build_supervisor(
            make_team(), settings=settings, checkpointer=database.saver, store=database.store
        )
        given: Any = {"request": "Compare the parts.", "materials": materials}
        config: Any = {"configurable": {"thread_id": "one"}}
        if settings.postgres_url:
            await graph.ainvoke(given, config)
            return 0
        with count_commits(database.saver) as commits:
            await graph.ainvoke(given, config)
        return len(commits)


def measure_sqlite(base_url: str, materials: dict[str, str]) -> dict[str, float]:
    """Return bytes by table, the growth of the file, and commits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.sqlite"
        settings = Settings(
            openai_base_url=base_url, openai_api_key="sk-bytes", database_url=f"sqlite:///{path}"
        )
        commits = asyncio.run(run_tasks(settings, materials))
        base = sqlite3.connect(path)
        found: dict[str, float] = {
            table: base.execute(f"SELECT coalesce(sum({size}), 0) FROM {table}").fetchone()[0]
            for table, size in SQLITE_TABLES.items()
        }
        base.close()
        return {**found, "disk": path.stat().st_size, "commits": commits}


def measure_postgres(base_url: str, materials: dict[str, str]) -> dict[str, float]:
    """Return bytes by table, and transactions that wrote."""
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server.run_server() as server,
        postgres_server.create_schema(server.build_url()) as url,
    ):
        settings = Settings(
            openai_base_url=base_url, openai_api_key="sk-bytes", database_url=url, home=folder
        )

        async def open_only() -> None:
            async with open_database("none", settings):
                pass

        asyncio.run(open_only())
        [(before,)] = postgres_server.run_query(url, "SELECT txid_current()")
        asyncio.run(run_tasks(settings, materials))
        [(after,)] = postgres_server.run_query(url, "SELECT txid_current()")
        found: dict[str, float] = {}
        for table in POSTGRES_TABLES:
            size = f"SELECT coalesce(sum(pg_column_size({table}.*)), 0) FROM {table}"
            [(found[table],)] = postgres_server.run_query(url, size)
        return {**found, "commits": after - before}


def main() -> None:
    """Print a line for each measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--materials", type=int, default=0, help="kB of a document")
    parser.add_argument("--postgres", action="store_true")
    options = read_options(parser, "tasks")
    text = "".join(f"Line {n} of the price list.\n" for n in range(36 * options.materials))
    materials = {"prices.md": text} if text else {}
    measure = measure_postgres if options.postgres else measure_sqlite
    with run_endpoint_process(make_scenario(options.tasks, next(iter(materials), ""))) as served:
        found = measure(served.base_url, materials)
    for name, value in found.items():
        print(f"| {name} | {value / options.tasks:,.1f} |")


if __name__ == "__main__":
    main()
