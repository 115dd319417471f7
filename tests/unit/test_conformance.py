"""The checkpointers that the application opens, held to LangGraph's own contract for them."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.conformance import checkpointer_test, validate

from extensions.postgres.store import open_postgres
from graph.runs.run_store import open_saver
from tests import postgres_server

pytestmark = pytest.mark.slow


async def list_failures(opens: Any) -> tuple[set[str], list[str]]:
    """Return what was tested, and what of it failed."""
    report = await validate(checkpointer_test(name="ours")(opens))
    tested = {name: result for name, result in report.results.items() if result.tests_passed}
    return set(tested), [line for result in report.results.values() for line in result.failures]


BASE = {"put", "put_writes", "get_tuple", "list", "delete_thread"}


async def test_the_sqlite_checkpointer_keeps_the_contract(tmp_path: Path) -> None:
    async def opens() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        async with open_saver(tmp_path / "runs.sqlite") as saver:
            yield saver

    tested, failed = await list_failures(opens)

    assert not failed
    assert tested >= BASE


async def test_the_postgres_checkpointer_keeps_the_contract(postgres_server_url: str) -> None:
    async def opens() -> AsyncGenerator[BaseCheckpointSaver[Any], None]:
        with postgres_server.create_schema(postgres_server_url) as url:
            async with open_postgres(url, "one") as database:
                yield database.saver

    tested, failed = await list_failures(opens)

    assert not failed
    assert tested >= {*BASE, "prune"}
