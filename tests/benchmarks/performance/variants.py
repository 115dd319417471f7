"""The ways to run a plan that are compared; each is opened in a process of its own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from tests.benchmarks.performance import stored_bytes
from tests.benchmarks.performance.floor import open_floor

REQUEST = "Compare the parts."
SAVERS = ("memory", "sqlite", "postgres")
VARIANTS = (
    "floor",
    *(f"waves-{saver}" for saver in SAVERS),
    *(f"ours-{saver}" for saver in SAVERS),
    "run-sqlite",
)
"""`ours` is the graph of `build_supervisor`; `run` is `arun`, with its trace and its locks."""

Run = Callable[[], Awaitable[int]]
"""Runs the plan once, and returns the number of its results."""


@dataclass(frozen=True)
class Variant:
    """One way to run a plan, opened."""

    prepare: Callable[[str], Awaitable[Run]]
    """Prepare a run on a thread; this is not measured."""
    count_bytes: Callable[[], int]
    """Count what all runs so far have left."""
    forget: Callable[[str], None] = lambda _: None
    """Remove a thread of a saver that would keep it in memory."""


@asynccontextmanager
async def open_variant(
    name: str, *, base_url: str, folder: Path, postgres_url: str = ""
) -> AsyncIterator[Variant]:
    """Open a variant by its name.

    Args:
        folder: an empty one, for what is saved in files.
        postgres_url: of an empty schema, for the variants on PostgreSQL.
    """
    engine, _, saver = name.partition("-")
    async with AsyncExitStack() as stack:
        match engine:
            case "floor":
                yield await _open_floor(stack, base_url)
            case "waves":
                yield await _open_waves(stack, saver, base_url, folder, postgres_url)
            case "ours":
                yield await _open_ours(stack, saver, base_url, folder, postgres_url)
            case _:
                yield _open_application(base_url, folder)


async def _open_floor(stack: AsyncExitStack, base_url: str) -> Variant:
    run = await stack.enter_async_context(open_floor(base_url))

    async def prepare(thread: str) -> Run:
        return run

    return Variant(prepare, lambda: 0)


async def _open_waves(
    stack: AsyncExitStack, kind: str, base_url: str, folder: Path, postgres_url: str
) -> Variant:
    from tests.benchmarks.performance.waves import build_waves

    saver: BaseCheckpointSaver[Any]
    match kind:
        case "memory":
            saver = InMemorySaver()
        case "sqlite":
            from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

            path = str(folder / "runs.sqlite")
            saver = await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
        case _:
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

            opened = AsyncPostgresSaver.from_conn_string(postgres_url)
            saver = kept = await stack.enter_async_context(opened)
            await kept.setup()
    graph = build_waves(base_url, saver)

    async def prepare(thread: str) -> Run:
        return partial(_run_graph, graph, {}, thread, durability="sync")

    return _keep_in_saver(prepare, saver, folder, postgres_url)


async def _open_ours(
    stack: AsyncExitStack, kind: str, base_url: str, folder: Path, postgres_url: str
) -> Variant:
    from graph import build_supervisor
    from graph.runs.run_store import open_database
    from graph.stores.serializer import build_strict_serializer
    from graph.stores.sqlite import open_saver
    from tests.benchmarks.performance.settings import build_settings, build_team

    _use_collector_settings()
    team, settings = build_team(), build_settings(base_url, folder, postgres_url)
    build = partial(build_supervisor, team, settings=settings)
    given = {"request": REQUEST}
    if kind == "postgres":

        async def prepare_database(thread: str) -> Run:
            database = await stack.enter_async_context(open_database(thread, settings))
            graph = build(checkpointer=database.saver, store=database.store)
            return partial(_run_graph, graph, given, thread)

        return _keep_in_saver(prepare_database, None, folder, postgres_url)
    saver: BaseCheckpointSaver[Any] = InMemorySaver(serde=build_strict_serializer())
    if kind == "sqlite":
        saver = await stack.enter_async_context(open_saver(folder / "runs.sqlite"))
    graph = build(checkpointer=saver)

    async def prepare(thread: str) -> Run:
        return partial(_run_graph, graph, given, thread)

    return _keep_in_saver(prepare, saver, folder, postgres_url)


def _open_application(base_url: str, folder: Path) -> Variant:
    from graph import arun
    from tests.benchmarks.performance.settings import build_settings, build_team

    _use_collector_settings()
    team, settings = build_team(), build_settings(base_url, folder, "")

    async def run(thread: str) -> int:
        outcome = await arun(REQUEST, team=team, settings=settings, thread=thread)
        if outcome.status != "done":
            raise RuntimeError(f"the run ended as {outcome.status}: {outcome.error}")
        return len(outcome.results)

    async def prepare(thread: str) -> Run:
        return partial(run, thread)

    def count_bytes() -> int:
        path = settings.resolve_database_path()
        traces = sum(file.stat().st_size for file in folder.rglob("*.jsonl"))
        return traces + (stored_bytes.count_file_bytes(path) if path.exists() else 0)

    return Variant(prepare, count_bytes)


def _use_collector_settings() -> None:
    """Collect as rarely as the command line and the server do."""
    from graph.garbage_collection import collect_rarely, spare_existing_objects

    collect_rarely()
    spare_existing_objects()


async def _run_graph(graph: Any, given: Any, thread: str, **options: Any) -> int:
    config = {"configurable": {"thread_id": thread}}
    state = await graph.ainvoke(given, config, **options)
    if state.get("status", "done") != "done":
        raise RuntimeError(f"the run ended as {state['status']}: {'; '.join(state['answer'].gaps)}")
    return len(state["results"])


def _keep_in_saver(
    prepare: Callable[[str], Awaitable[Run]],
    saver: BaseCheckpointSaver[Any] | None,
    folder: Path,
    postgres_url: str,
) -> Variant:
    if isinstance(saver, InMemorySaver):
        count = partial(stored_bytes.count_saver_bytes, saver)
        return Variant(prepare, count, saver.delete_thread)
    if (folder / "runs.sqlite").exists():
        return Variant(prepare, partial(stored_bytes.count_file_bytes, folder / "runs.sqlite"))
    return Variant(prepare, partial(stored_bytes.count_schema_bytes, postgres_url))
