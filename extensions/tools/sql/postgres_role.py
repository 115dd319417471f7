"""Check that a PostgreSQL role has no dangerous privileges before a model's statement runs.

A statement can take on any role that its session may become, so a session cannot give up a role for
one statement. Only the role of the URL can prevent that.
"""

from typing import Any, Final

from nodes.errors import ToolRefused

_PRIVILEGED_ROLE_SQL: Final = r"""
WITH signed_in AS (
    SELECT oid FROM pg_roles WHERE rolname IN (session_user, current_user)
    UNION SELECT usesysid FROM pg_stat_activity WHERE pid = pg_backend_pid()
)
SELECT session_user::text, role.rolname::text, CASE
        WHEN role.rolsuper THEN 'a superuser of the server'
        WHEN role.rolname LIKE 'pg\_%' THEN 'a role with powers over the server'
        WHEN role.rolreplication THEN 'a role that may replicate the server'
        WHEN role.rolcreaterole THEN 'a role that may grant itself others'
        ELSE 'a role that may read the hashes of passwords' END
FROM signed_in JOIN pg_roles AS role ON pg_has_role(signed_in.oid, role.oid, 'MEMBER')
WHERE role.rolsuper OR role.rolreplication OR role.rolcreaterole
    OR (role.rolname LIKE 'pg\_%' AND role.rolname <> 'pg_database_owner')
    OR has_column_privilege(role.oid, 'pg_catalog.pg_authid', 'rolpassword', 'SELECT')
    OR has_column_privilege(role.oid, 'pg_catalog.pg_shadow', 'passwd', 'SELECT')
ORDER BY role.rolsuper DESC, role.rolname = session_user DESC, role.rolname
LIMIT 1"""
# Names that begin with pg_ are the server's predefined roles: all of them have access beyond the
# granted tables, except the one that every owner of a database has. A role that may also write
# tables is not refused: its transaction is read only.

_CREATE_READER_SQL: Final = """
SELECT format('CREATE ROLE reader LOGIN PASSWORD ''…''; GRANT CONNECT ON DATABASE %I TO reader; '
    'GRANT USAGE ON SCHEMA %I TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA %I TO reader;',
    current_database(), schema, schema)
FROM (SELECT coalesce(current_schema(), 'public') AS schema) AS here"""


class RoleRefused(ToolRefused):
    """The role of a URL could do more than read; `fix` has the statements for a safe one."""

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(f"{what}; {fix}")
        self.reason, self.fix = what, fix


async def refuse_privileged_role(connection: Any) -> None:
    """Refuse a URL whose role is a superuser, may become one, or has access beyond tables.

    Raises:
        RoleRefused: it has; nothing else has been read.
    """
    found = await (await connection.execute(_PRIVILEGED_ROLE_SQL)).fetchone()
    if found is None:
        return
    signed_in, role, power = found
    who = repr(signed_in) if role == signed_in else f"{signed_in!r}, which may become {role!r}"
    (reader,) = await (await connection.execute(_CREATE_READER_SQL)).fetchone()
    raise RoleRefused(
        f"SUPERVISE_SQL_URL signs in to PostgreSQL as {who}, {power}, and nothing was read",
        fix=f"make a role that can only read, and name it in the address: {reader}",
    )
