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

from tests import postgres

_FILE: Final = Path(__file__).parent / "hostile_sql.yaml"
CORPUS: Final[Mapping[str, Sequence[str]]] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
SECRET: Final = "kingfisherquartz"

_TELL: Final = "SELECT pg_logical_emit_message(false, 'told', 'told')"
_SETUP: Final = (
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
        f"CREATE FUNCTION {signature} RETURNS text LANGUAGE sql AS $$ {_TELL}::text $$"
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
    f"$$ {_TELL}; SELECT 'glad'::mood $$",
    "CREATE CAST (text AS mood) WITH FUNCTION mood_of(text)",
    "VACUUM (FREEZE, ANALYZE)",
)
_STATE: Final = {
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
_BUSY: Final = """
SELECT query FROM pg_stat_activity
WHERE usename IN ('reader', 'owner') AND pid <> ALL (%s)"""
_HOUSEKEEPING: Final = re.compile(r"^rmgr: (XLOG|Standby) |desc: PRUNE_ON_ACCESS ")
"""Checkpoints, and pages put in order when they are first read: any SELECT may cause them."""


class World:
    """A server with something to break, and all that would show that it was broken."""

    def __init__(self, server: postgres.Server) -> None:
        self.server = server
        folder = server.folder / "door"
        folder.mkdir()
        folder.chmod(0o777)
        self.secret, self.out = folder / "secret.txt", folder / "out"
        self.secret.write_text(f"{SECRET}\n", encoding="utf-8")
        self.secret.chmod(0o644)
        for statement in _SETUP:
            postgres.query(server.url(), statement)
        self._root = psycopg.connect(server.url(), autocommit=True)
        self._root.execute("LISTEN door")
        self._heard: list[str] = []
        self._victims = {role: self._victim(role) for role in ("reader", "owner")}

    def statements(self, aim: str, role: str = "reader") -> list[str]:
        """List the statements of one aim, as a session of the role would run them."""
        places = {
            "{secret}": str(self.secret),
            "{out}": str(self.out),
            "{victim}": str(self._victims[role].info.backend_pid),
        }
        return [filled(statement, places) for statement in CORPUS[aim]]

    def state(self) -> dict[str, Any]:
        """Return everything that a statement could have changed, once no session is busy."""
        victims = [connection.info.backend_pid for connection in self._victims.values()]
        self._wait_until_idle(victims)
        seen: dict[str, Any] = {name: self._ask(sql) for name, sql in _STATE.items()}
        self._heard += [notice.payload for notice in self._root.notifies(timeout=0)]
        alive = "SELECT pid FROM pg_stat_activity WHERE pid = ANY (%s) ORDER BY 1"
        seen |= {
            "notices": list(self._heard),
            "sessions": self._ask(alive, victims),
            "files": sorted(os.listdir(self.server.folder / "door")),
            "settings file": (self.server.folder / "postgresql.auto.conf").read_text(),
            "log position": self._ask("SELECT pg_current_wal_insert_lsn()::text")[0][0],
        }
        return seen

    def changes(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is not as it was, the records of the write-ahead log among it."""
        after = self.state()
        start, end = before["log position"], after["log position"]
        # What stands in the log's buffers is written with a message of our own, after its end.
        self._ask("SELECT pg_logical_emit_message(false, '', '', true)")
        records = [
            record
            for record in self.server.log_records(start, end)
            if not _HOUSEKEEPING.search(record)
        ]
        found = {name: now for name, now in after.items() if now != before[name]}
        found.pop("log position", None)
        return found | ({"log": records} if records else {})

    def run_as_superuser(self, sql: str) -> None:
        """Run a statement past everything of ours, so that it has its effect."""
        self._root.execute(sql.encode())

    def victim(self, role: str) -> int:
        """Return the process of a session that another session of the role could end."""
        return self._victims[role].info.backend_pid

    def close(self) -> None:
        """End the sessions."""
        for connection in (self._root, *self._victims.values()):
            connection.close()

    def _victim(self, role: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self.server.url(user=role), autocommit=True)

    def _ask(self, sql: str, *values: Any) -> list[Any]:
        cursor = self._root.execute(sql.encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def _wait_until_idle(self, victims: list[int]) -> None:
        until = time.monotonic() + 20
        while busy := self._ask(_BUSY, victims):
            assert time.monotonic() < until, f"still running: {busy}"
            time.sleep(0.05)


@contextmanager
def world() -> Iterator[World]:
    """Run a server that may be attacked for a while."""
    with postgres.server() as running:
        made = World(running)
        try:
            yield made
        finally:
            made.close()


def filled(statement: str, places: Mapping[str, str]) -> str:
    """Return a statement with its places filled in."""
    for place, value in places.items():
        statement = statement.replace(place, value)
    return statement
