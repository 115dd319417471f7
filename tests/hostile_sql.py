"""Statements that try to do more than read, and what on a PostgreSQL server would show it."""

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import yaml

from tests import postgres_server

_FILE: Final = Path(__file__).parent / "hostile_sql.yaml"
CORPUS: Final[Mapping[str, Sequence[str]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
SECRET: Final = "kingfisherquartz"

_EMIT_MESSAGE: Final = "SELECT pg_logical_emit_message(false, 'told', 'told')"
_SETUP_STATEMENTS: Final = (
    "ALTER SYSTEM SET autovacuum = off",
    "SELECT pg_reload_conf()",
    "CREATE TABLE sales (region TEXT, revenue FLOAT)",
    "INSERT INTO sales VALUES ('North', 1), ('South', 2)",
    "CREATE SEQUENCE ids",
    "SELECT lo_from_bytea(4711, 'kept')",
    "GRANT SELECT, UPDATE ON LARGE OBJECT 4711 TO PUBLIC",
    "GRANT SELECT ON sales TO reader",
    "CREATE ROLE owner LOGIN",
    "GRANT guests TO owner",
    "ALTER TABLE sales OWNER TO owner",
    "ALTER SEQUENCE ids OWNER TO owner",
    "CREATE EXTENSION vector",
    # What an owner of a database may have left lying about, for all to call.
    *(
        f"CREATE FUNCTION {name}(asked text) RETURNS text LANGUAGE plpgsql {kind} AS "
        "$$ DECLARE found text; BEGIN EXECUTE asked INTO found; RETURN found; END $$"
        for name, kind in (
            ("run_text", "STABLE"),
            ("run_as_owner", "SECURITY DEFINER"),
            ("quiet_run_as_owner", "IMMUTABLE SECURITY DEFINER"),
        )
    ),
    *(
        f"CREATE FUNCTION {signature} RETURNS text LANGUAGE sql AS $$ {_EMIT_MESSAGE}::text $$"
        for signature in (
            '"do it"(text)',
            '"do ""it"" again"(text)',
            "told(sales)",
            "told_both(text, text)",
            "told_by_default(text DEFAULT '')",
            "told_with_a_very_long_name_that_the_server_cuts_at_sixty_three_and()",
        )
    ),
    "CREATE OPERATOR <!!> (LEFTARG = text, RIGHTARG = text, FUNCTION = told_both)",
    "CREATE AGGREGATE told_all(text) (SFUNC = told_both, STYPE = text, INITCOND = '')",
    "CREATE TYPE mood AS ENUM ('glad')",
    "CREATE FUNCTION mood_of(text) RETURNS mood LANGUAGE sql AS "
    f"$$ {_EMIT_MESSAGE}; SELECT 'glad'::mood $$",
    "CREATE CAST (text AS mood) WITH FUNCTION mood_of(text)",
    "VACUUM (FREEZE, ANALYZE)",
)
_STATE_QUERIES: Final = {
    "rows": "SELECT * FROM sales",
    "sequence": "SELECT last_value, is_called FROM ids",
    "roles": "SELECT * FROM pg_authid ORDER BY oid",
    "members": "SELECT roleid, member FROM pg_auth_members ORDER BY 1, 2",
    "settings": "SELECT * FROM pg_db_role_setting",
    "settings loaded": "SELECT pg_conf_load_time()",
    "large objects": "SELECT loid, data FROM pg_largeobject ORDER BY 1",
    "relations": "SELECT oid, relname, relowner, relpages, relacl::text FROM pg_class ORDER BY 1",
    "functions": "SELECT count(*) FROM pg_proc",
    "schemas": "SELECT nspname FROM pg_namespace ORDER BY 1",
    "extensions": "SELECT extname FROM pg_extension ORDER BY 1",
    "comments": "SELECT count(*) FROM pg_description",
    "slots": "SELECT slot_name FROM pg_replication_slots",
    "origins": "SELECT roname FROM pg_replication_origin",
    "prepared": "SELECT gid FROM pg_prepared_xacts",
    "advisory locks": "SELECT pid FROM pg_locks WHERE locktype = 'advisory'",
    "transactions": "SELECT pg_snapshot_xmax(pg_current_snapshot())::text",
    "statistics": "SELECT stats_reset FROM pg_stat_database WHERE datname = 'postgres'",
}
_BUSY_QUERY: Final = """
SELECT query FROM pg_stat_activity
WHERE usename IN ('reader', 'owner') AND pid <> ALL (%s)"""
_HOUSEKEEPING_RECORD: Final = re.compile(r"^rmgr: (XLOG|Standby) |desc: PRUNE_ON_ACCESS ")
"""Checkpoints, and pages put in order when they are first read: any SELECT may cause them."""


class AttackedServer:
    """A server with something to break, and all that would show that it was broken."""

    def __init__(self, server: postgres_server.PostgresServer) -> None:
        self.server = server
        folder = server.folder / "door"
        folder.mkdir()
        folder.chmod(0o777)
        self.secret, self.out = folder / "secret.txt", folder / "out"
        self.secret.write_text(f"{SECRET}\n", encoding="utf-8")
        self.secret.chmod(0o644)
        for statement in _SETUP_STATEMENTS:
            postgres_server.run_query(server.build_url(), statement)
        self._root = psycopg.connect(server.build_url(), autocommit=True)
        self._root.execute("LISTEN door")
        self._notifications: list[str] = []
        self._victims = {role: self._open_victim(role) for role in ("reader", "owner")}

    def list_statements(self, aim: str, role: str = "reader") -> list[str]:
        """List the statements of one aim, as a session of the role would run them."""
        places = {
            "{secret}": str(self.secret),
            "{out}": str(self.out),
            "{victim}": str(self._victims[role].info.backend_pid),
        }
        return [fill_placeholders(statement, places) for statement in CORPUS[aim]]

    def read_state(self) -> dict[str, Any]:
        """Return everything that a statement could have changed, once no session is busy."""
        victims = [connection.info.backend_pid for connection in self._victims.values()]
        self._wait_until_idle(victims)
        seen: dict[str, Any] = {name: self._run_query(sql) for name, sql in _STATE_QUERIES.items()}
        self._notifications += [notice.payload for notice in self._root.notifies(timeout=0)]
        alive = "SELECT pid FROM pg_stat_activity WHERE pid = ANY (%s) ORDER BY 1"
        seen |= {
            "notices": list(self._notifications),
            "sessions": self._run_query(alive, victims),
            "files": sorted(os.listdir(self.server.folder / "door")),
            "settings file": (self.server.folder / "postgresql.auto.conf").read_text(),
            "log position": self._run_query("SELECT pg_current_wal_insert_lsn()::text")[0][0],
        }
        return seen

    def list_changes(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is not as it was, the records of the write-ahead log among it."""
        after = self.read_state()
        start, end = before["log position"], after["log position"]
        # What stands in the log's buffers is written with a message of our own, after its end.
        self._run_query("SELECT pg_logical_emit_message(false, '', '', true)")
        records = [
            record
            for record in self.server.list_log_records(start, end)
            if not _HOUSEKEEPING_RECORD.search(record)
        ]
        found = {name: now for name, now in after.items() if now != before[name]}
        found.pop("log position", None)
        return found | ({"log": records} if records else {})

    def run_as_superuser(self, sql: str) -> None:
        """Run a statement past everything of ours, so that it has its effect."""
        self._root.execute(sql.encode())

    def get_victim_process(self, role: str) -> int:
        """Return the process of a session that another session of the role could end."""
        return self._victims[role].info.backend_pid

    def close(self) -> None:
        """End the sessions."""
        for connection in (self._root, *self._victims.values()):
            connection.close()

    def _open_victim(self, role: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self.server.build_url(user=role), autocommit=True)

    def _run_query(self, sql: str, *values: Any) -> list[Any]:
        cursor = self._root.execute(sql.encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def _wait_until_idle(self, victims: list[int]) -> None:
        until = time.monotonic() + 20
        while busy := self._run_query(_BUSY_QUERY, victims):
            assert time.monotonic() < until, f"still running: {busy}"
            time.sleep(0.05)


@contextmanager
def run_attacked_server() -> Iterator[AttackedServer]:
    """Run a server that may be attacked for a while."""
    with postgres_server.run_server() as running:
        made = AttackedServer(running)
        try:
            yield made
        finally:
            made.close()


def fill_placeholders(statement: str, places: Mapping[str, str]) -> str:
    """Return a statement with its places filled in."""
    for place, value in places.items():
        statement = statement.replace(place, value)
    return statement
