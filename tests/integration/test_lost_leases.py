"""Runs of Aegra that have neither a holder nor a lease are handed to its reaper."""

import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from extensions.server.aegra_app import expire_lost_leases

pytestmark = pytest.mark.slow

RUNS = """
CREATE TABLE runs (run_id text, status text, claimed_by text, lease_expires_at timestamptz,
                   updated_at timestamptz)
"""


async def test_only_an_old_running_run_without_a_holder_gets_a_lease_that_has_passed(
    postgres_url: str,
) -> None:
    async with (
        await AsyncConnection.connect(postgres_url, autocommit=True) as connection,
        AsyncConnectionPool(postgres_url, min_size=1, max_size=2, open=False) as pool,
    ):
        await connection.execute(RUNS)
        await connection.execute(
            """INSERT INTO runs VALUES
               ('lost', 'running', NULL, NULL, now() - interval '90 seconds'),
               ('young', 'running', NULL, NULL, now() - interval '30 seconds'),
               ('held', 'running', 'a', now() + interval '9 seconds', now() - interval '1 hour'),
               ('done', 'success', NULL, NULL, now() - interval '1 hour'),
               ('waiting', 'pending', NULL, NULL, now() - interval '1 hour')"""
        )

        count = await expire_lost_leases(pool, lease_s=30.0)
        again = await expire_lost_leases(pool, lease_s=30.0)

        passed = await connection.execute("SELECT run_id FROM runs WHERE lease_expires_at < now()")
        assert await passed.fetchall() == [("lost",)]
        assert (count, again) == (1, 0)
