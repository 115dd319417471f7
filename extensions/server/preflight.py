"""Checks a server's settings, its database and its Redis before the server starts.

`deploy/start` runs it. Each problem is one line on stderr; the exit status is that of the error.
"""

import logging
import sys
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from extensions.server.aegra_settings import report_start_problems
from nodes.errors import StoreError, SupervisorError

CONNECT_TIMEOUT_S: Final = 5
TABLES: Final = ("runs", "thread", "assistant", "checkpoints", "checkpoint_writes", "store")
"""Tables of Aegra and LangGraph in which a server writes."""
WRITING: Final = "SELECT, INSERT, UPDATE, DELETE"


def main() -> int:
    """Check everything, print what is wrong, and return the exit status."""
    logging.basicConfig(format="warning: %(message)s", level=logging.WARNING, stream=sys.stderr)
    try:
        settings = report_start_problems()
    except SupervisorError as error:
        sys.stderr.write(f"{error.format_line()}\n")
        return error.exit_code
    failed = []
    for check, address in (
        (check_database, settings.database_url),
        (check_redis, settings.redis_url),
    ):
        try:
            check(address)
        except SupervisorError as error:
            sys.stderr.write(f"{error.format_line()}\n")
            failed.append(error.exit_code)
    return max(failed, default=0)


def check_database(url: str) -> None:
    """Check that a server can make its tables in a database, and write in those that exist.

    Raises:
        StoreError: the database cannot be reached, or the role lacks a right.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        advice = "DATABASE_URL=postgresql://USER:PASSWORD@HOST:5432/DATABASE"
        raise _describe(error, "DATABASE_URL is no address of PostgreSQL", advice) from None
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_S) as connection:
            connection.execute("CREATE TABLE supervise_preflight ()")
            connection.rollback()
            refused = [name for name in TABLES if not _can_write(connection, name)]
    except psycopg.OperationalError as error:
        advice = "start PostgreSQL, or correct DATABASE_URL"
        raise _describe(error, "the database cannot be reached", advice) from None
    except (psycopg.ProgrammingError, psycopg.InternalError) as error:
        raise _describe(
            error,
            "the database refuses to make a table",
            "GRANT CREATE ON SCHEMA public TO the role of DATABASE_URL, or make it the owner",
        ) from None
    except psycopg.Error as error:
        raise _describe(error, "the database cannot be used", "correct DATABASE_URL") from None
    if refused:
        raise StoreError(
            f"the role of DATABASE_URL may not write in {', '.join(refused)}",
            next=f"GRANT {WRITING} ON ALL TABLES IN SCHEMA public to it",
        )


def check_redis(url: str) -> None:
    """Check that Redis answers; do nothing without an address.

    Raises:
        StoreError: Redis cannot be reached, or refuses the client.
    """
    if not url:
        return
    import redis  # comes with Aegra

    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=CONNECT_TIMEOUT_S, socket_timeout=CONNECT_TIMEOUT_S
        ) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise _describe(
            error, "Redis cannot be reached", "start Redis, or correct REDIS_URL"
        ) from None


def _can_write(connection: "psycopg.Connection[tuple[bool]]", table: str) -> bool:
    """Return whether the role can write in a table; one that is not there yet counts too."""
    found = connection.execute(
        "SELECT coalesce(bool_and(has_table_privilege(to_regclass(%s), p)), true)"
        " FROM unnest(string_to_array(%s, ', ')) AS p WHERE to_regclass(%s) IS NOT NULL",
        (table, WRITING, table),
    ).fetchone()
    return bool(found and found[0])


def _describe(error: Exception, what: str, advice: str) -> StoreError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return StoreError(what, cause=lines[0].strip()[:300], next=advice)


if __name__ == "__main__":
    sys.exit(main())
