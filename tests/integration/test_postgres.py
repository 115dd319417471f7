"""Runs kept in PostgreSQL: kept and resumed, one writer a thread, and a server that fails."""

import asyncio
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from extensions.postgres import store
from extensions.postgres.store import open_postgres
from graph import arun
from graph.commands.doctor import run_doctor
from graph.runs.outcome import Outcome
from graph.runs.runner import aresume
from graph.settings import Settings
from graph.stores.errors import CheckpointUnreadable
from nodes.errors import StoreError, ThreadBusy
from tests import postgres_server
from tests.endpoint import Fault, script_tasks
from tests.runs import REQUEST, Runs
from tests.teams import make_team

pytestmark = pytest.mark.slow

CHAIN = {"A": (), "B": ("A",), "C": ("B",)}
AT: Any = {"configurable": {"thread_id": "one", "checkpoint_ns": ""}}


@pytest.fixture
def kept(settings: Settings, postgres_url: str) -> Settings:
    """Settings whose runs are kept in an empty schema."""
    return settings.model_copy(update={"database_url": postgres_url})


@pytest.fixture(scope="module")
def own_server() -> Iterator[postgres_server.PostgresServer]:
    """A server that only this file uses, to be restarted, and to be refused by."""
    with postgres_server.run_server() as running:
        yield running


@pytest.fixture
def brief_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a start give up after a second."""
    monkeypatch.setattr(store, "START_RETRY_TIMEOUT_S", 1.0)


async def start_run(settings: Settings, **options: Any) -> Outcome:
    return await arun(
        REQUEST, **{"team": make_team(), "settings": settings, "thread": "one", **options}
    )


async def save_checkpoint(saver: Any, step: int) -> Any:
    return await saver.aput(AT, empty_checkpoint(), {"step": step}, {})


async def list_steps(url: str) -> list[int]:
    """List the steps that a thread holds, the newest first."""
    async with open_postgres(url, "reader") as database:
        return [item.metadata["step"] async for item in database.saver.alist(AT)]


async def test_a_run_is_kept_and_goes_on_in_another_folder(
    runs: Runs, kept: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    refused = Fault(kind="unauthorized", schema="Answer", nth=(1,))
    runs.script(*script_tasks(CHAIN, latency_s={"C": 30.0}), faults=(refused,))
    running = asyncio.ensure_future(start_run(kept))
    await runs.wait_for_calls(began=4)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    runs.script(*script_tasks(CHAIN))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    moved = Settings(**kept.model_dump(exclude_unset=True))

    outcome = await aresume("one", settings=moved)

    assert outcome.status == "done"
    assert [call.task for call in runs.select_calls(schema="Report")][-1:] == ["C"]
    assert set(outcome.results) == set(CHAIN)
    assert (moved.home / "traces" / "one.jsonl").is_relative_to(elsewhere)


async def test_a_server_that_restarts_under_a_run_costs_it_nothing(
    runs: Runs, own_server: postgres_server.PostgresServer
):
    runs.script(*script_tasks(CHAIN, latency_s={"A": 0.4, "B": 0.4, "C": 0.4}))
    with postgres_server.create_schema(own_server.build_url()) as url:
        running = asyncio.ensure_future(
            start_run(runs.settings.model_copy(update={"database_url": url}))
        )
        for began in (2, 3):
            await runs.wait_for_calls(began=began)
            await asyncio.to_thread(own_server.restart)
        outcome = await running

    assert outcome.status == "done"
    assert [call.task for call in runs.select_calls(schema="Report")] == ["A", "B", "C"]


async def test_a_server_that_stays_away_ends_an_operation_with_one_line(
    own_server: postgres_server.PostgresServer,
):
    with postgres_server.create_schema(own_server.build_url()) as url:
        async with open_postgres(url, "one", patience_s=1.0) as database:
            await save_checkpoint(database.saver, 1)
            own_server.stop()
            try:
                with pytest.raises(StoreError) as caught:
                    await save_checkpoint(database.saver, 2)
            finally:
                own_server.start()
            await save_checkpoint(database.saver, 3)

        assert caught.value.exit_code == 5
        assert (
            "tried for 1 s" in caught.value.format_line()
            and "refused" in caught.value.format_line()
        )
        assert await list_steps(url) == [3, 1]


@pytest.mark.parametrize(
    ("user", "password", "query", "message"),
    [
        ("password", "pw-wrong", "", "password authentication failed"),
        ("password", "", "", "no password"),
        ("tls", "", "", "sslmode=require"),
        ("postgres", "", "?sslmode=require", "SSL"),
        ("reader", "", "?options=-cdefault_transaction_read_only%3Don", "read-only"),
        ("reader", "", "", "permission denied"),
        ("postgres", "", "?options=-csearch_path%3Dnonesuch", "search_path"),
        ("postgres", "", "?nonesuch=1", "nonesuch"),
    ],
)
async def test_a_server_that_refuses_is_reported_in_one_line_before_any_call(
    runs: Runs,
    own_server: postgres_server.PostgresServer,
    user: str,
    password: str,
    query: str,
    message: str,
):
    url = own_server.build_url(user=user, password=password) + query

    with pytest.raises(StoreError) as caught:
        await start_run(runs.settings.model_copy(update={"database_url": url}))

    line = caught.value.format_line()
    assert caught.value.exit_code == 5
    assert message in line and "next: " in line and "\n" not in line
    assert "pw-wrong" not in line
    assert not runs.requests


async def test_the_right_password_is_let_in_whatever_signs_it_has(
    own_server: postgres_server.PostgresServer,
):
    postgres_server.run_query(
        own_server.build_url(), "CREATE SCHEMA IF NOT EXISTS password AUTHORIZATION password"
    )
    url = own_server.build_url(
        user="password", password=postgres_server.PASSWORD, schema="password"
    )

    async with open_postgres(url, "one") as database:
        await save_checkpoint(database.saver, 1)

    secrets = Settings(database_url=url).list_secrets()
    assert postgres_server.PASSWORD in secrets
    assert not any(secret in repr(Settings(database_url=url)) for secret in secrets)


async def test_an_absent_server_is_reported_when_the_start_has_retried_enough(
    settings: Settings, brief_start: None
):
    url = "postgresql://me:pw-hidden@127.0.0.1:1/runs"

    with pytest.raises(StoreError) as caught:
        await start_run(settings.model_copy(update={"database_url": url}))

    assert "tried for 1 s" in caught.value.format_line()
    assert "pw-hidden" not in caught.value.format_line()


async def test_a_server_that_never_answers_is_given_up(settings: Settings, brief_start: None):
    silent = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]

    with pytest.raises(StoreError):
        await start_run(
            settings.model_copy(update={"database_url": f"postgresql://me@127.0.0.1:{port}/runs"})
        )

    silent.close()


async def test_a_thread_has_one_writer_wherever_the_others_are(postgres_url: str):
    async with open_postgres(postgres_url, "one") as first:
        with pytest.raises(ThreadBusy) as caught:
            async with open_postgres(postgres_url, "one"):
                pass
        async with open_postgres(postgres_url, "two"):
            await save_checkpoint(first.saver, 1)

    assert caught.value.exit_code == 6
    async with open_postgres(postgres_url, "one") as again:
        assert await again.saver.aget_tuple(AT)


async def test_two_schemas_of_one_database_do_not_share_threads(
    postgres_url: str, postgres_server_url: str
):
    with postgres_server.create_schema(postgres_server_url) as other:
        async with open_postgres(postgres_url, "one"), open_postgres(other, "one"):
            pass


def cut_connection(url: str, thread: str) -> None:
    """Cut the connection of whoever runs a thread, as a network does."""
    postgres_server.run_query(
        url,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = "
        "(SELECT 'supervise ' || holder FROM supervise_threads WHERE thread_id = %s)",
        thread,
    )


async def test_a_writer_that_lost_its_connection_takes_its_thread_again(postgres_url: str):
    async with open_postgres(postgres_url, "one") as database:
        await save_checkpoint(database.saver, 1)
        cut_connection(postgres_url, "one")
        await save_checkpoint(database.saver, 2)

    assert await list_steps(postgres_url) == [2, 1]


@asynccontextmanager
async def cut_connection_within(url: str) -> Any:
    async with open_postgres(url, "one") as other:
        await save_checkpoint(other.saver, 2)
    yield


@asynccontextmanager
async def take_over_thread(url: str) -> Any:
    async with open_postgres(url, "one") as other:
        await save_checkpoint(other.saver, 2)
        yield


@pytest.mark.parametrize("elsewhere", [cut_connection_within, take_over_thread])
async def test_a_writer_whose_thread_was_taken_meanwhile_writes_no_more(
    postgres_url: str, elsewhere: Any
):
    async with open_postgres(postgres_url, "one") as late:
        await save_checkpoint(late.saver, 1)
        cut_connection(postgres_url, "one")
        async with elsewhere(postgres_url):
            with pytest.raises(ThreadBusy, match="taken by another run"):
                await save_checkpoint(late.saver, 3)

    assert await list_steps(postgres_url) == [2, 1]


async def test_many_that_begin_at_once_make_the_tables_once(postgres_url: str):
    async def begin(thread: str) -> None:
        async with open_postgres(postgres_url, thread):
            pass

    await asyncio.gather(*(begin(f"t{n}") for n in range(8)))

    assert postgres_server.run_query(postgres_url, "SELECT version FROM supervise_schema") == [(1,)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE supervise_schema SET version = 99", "version 99"),
        ("UPDATE supervise_schema SET version = 0", "version 0"),
        ("INSERT INTO checkpoint_migrations VALUES (99)", "newer LangGraph"),
        ("DROP TABLE checkpoint_writes", "checkpoint_writes is missing"),
        ("DROP TABLE supervise_schema", "another application's"),
    ],
)
async def test_tables_that_are_not_ours_or_not_whole_are_refused(
    runs: Runs, kept: Settings, postgres_url: str, change: str, message: str
):
    async with open_postgres(postgres_url, "earlier"):
        pass
    postgres_server.run_query(postgres_url, change)

    with pytest.raises(StoreError, match=message):
        await start_run(kept)

    assert not runs.requests


async def test_tables_whose_making_was_stopped_are_finished(postgres_url: str):
    async with open_postgres(postgres_url, "earlier"):
        pass
    postgres_server.run_query(postgres_url, "DELETE FROM supervise_schema")
    postgres_server.run_query(postgres_url, "DROP TABLE supervise_threads")

    async with open_postgres(postgres_url, "one") as database:
        await save_checkpoint(database.saver, 1)

    assert await list_steps(postgres_url) == [1]


async def test_a_damaged_checkpoint_is_named(runs: Runs, kept: Settings, postgres_url: str):
    runs.script(*script_tasks(CHAIN))
    await start_run(kept)
    postgres_server.run_query(
        postgres_url, "UPDATE checkpoint_blobs SET blob = set_byte(blob, 3, 193) WHERE blob <> ''"
    )

    with pytest.raises(CheckpointUnreadable) as caught:
        await aresume("one", settings=kept)

    (newest,) = postgres_server.run_query(
        postgres_url, "SELECT max(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = ''"
    )
    assert caught.value.exit_code == 5
    assert "one" in caught.value.format_line() and newest[0] in caught.value.format_line()


async def test_a_text_that_json_cannot_hold_is_kept_all_the_same(postgres_url: str):
    checkpoint = empty_checkpoint() | {"channel_values": {"request": "a\x00b\ud800c"}}
    async with open_postgres(postgres_url, "one") as database:
        await database.saver.aput(AT, checkpoint, {"step": 1}, {})
        found = await database.saver.aget_tuple(AT)

    assert found and found.checkpoint["channel_values"]["request"] == "a\ufffdb?c"


async def test_what_a_cancelled_run_left_behind_takes_no_thread_again(postgres_url: str):
    async with open_postgres(postgres_url, "one") as database:
        pass

    with pytest.raises(StoreError, match="is over"):
        await save_checkpoint(database.saver, 1)

    async with open_postgres(postgres_url, "one"):
        pass


def test_the_doctor_tells_of_the_server_and_makes_nothing_there(
    postgres_url: str,
    own_server: postgres_server.PostgresServer,
    capsys: pytest.CaptureFixture[str],
):
    codes = [
        run_doctor(Settings(database_url=url))
        for url in (postgres_url, own_server.build_url(user="password", password="pw-wrong"))
    ]

    output = capsys.readouterr().out
    assert codes == [0, 2]
    assert "PostgreSQL" in output and "created by the first run" in output
    assert "password authentication failed" in output and "pw-wrong" not in output
    assert postgres_server.run_query(postgres_url, "SELECT to_regclass('checkpoints')") == [(None,)]


async def test_the_store_outlives_the_thread_and_its_connection(postgres_url: str):
    async with open_postgres(postgres_url, "one") as database:
        await database.store.aput(("workers",), "researcher", {"runs": 1})
    async with open_postgres(postgres_url, "two") as database:
        found = await database.store.aget(("workers",), "researcher")

    assert found and found.value == {"runs": 1}
