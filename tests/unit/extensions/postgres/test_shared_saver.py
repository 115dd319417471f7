"""What the users of a server read of its database when it fails: nothing."""

import traceback
from typing import Any

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import errors
from psycopg_pool import AsyncConnectionPool

from extensions.postgres.shared_saver import build_shared_saver
from nodes.errors import StoreError

REFUSED = 'connection to server at "10.0.0.7", port 5432 failed: permission denied for user "clerk"'


class RefusingPool(AsyncConnectionPool[Any]):
    """A pool whose server refuses its role."""

    def connection(self, timeout: float | None = None) -> Any:
        raise errors.InsufficientPrivilege(REFUSED)


async def test_a_failed_database_is_not_named_to_the_callers_of_a_run():
    pool = RefusingPool("postgresql://clerk:hidden@db.internal:5432/runs", open=False)
    saver = build_shared_saver(AsyncPostgresSaver(conn=pool), "one", "run")
    assert saver is not None

    with pytest.raises(StoreError) as failed:
        await saver.claim()

    said = failed.value.format_line()
    assert said.startswith("error[STORE_ERROR] the run database cannot be used. kept: ")
    assert not [name for name in ("db.internal", "10.0.0.7", "clerk", "runs.") if name in said]
    assert REFUSED in "".join(traceback.format_exception(failed.value)), "the log has it"
