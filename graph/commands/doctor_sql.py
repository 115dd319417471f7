"""What `supervise doctor` and `check` say of the database that `query_database` reads."""

from pathlib import Path
from typing import Final

from graph.commands.diagnosis import Diagnosis
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.tools.sql.location import locate
from nodes.tools.sql.look import look
from state import Team

NAME: Final = "database to query"
TOOL: Final = "query_database"


def look_at_sql(url: str | None) -> Diagnosis:
    """Look at the file or at the server, without reading a table."""
    if url is None:
        fix = f"set SUPERVISE_SQL_URL to a database that {TOOL} may read"
        return Diagnosis("note", NAME, "only the CSV files of a run", fix)
    if url.startswith("postgres"):
        return _server(url)
    path = Path(url.partition("://")[2].removeprefix("/") if "://" in url else url)
    if not path.exists():
        fix = "check SUPERVISE_SQL_URL; an absolute path has four slashes"
        return Diagnosis("broken", NAME, f"{path} is not there", fix)
    return Diagnosis("ok", NAME, str(path))


def refuse_role(team: Team, settings: Settings) -> None:
    """Refuse the address of a role that may do more than read, where the team would use it.

    Raises:
        SettingsInvalid: `query_database` would refuse it too.
    """
    if not (settings.sql_url or "").startswith("postgres") or not _queries(team):
        return
    seen = look(locate(settings.sql_url))
    if "fix" in seen:
        raise SettingsInvalid(seen["error"], next=seen["fix"])


def _server(url: str) -> Diagnosis:
    seen = look(locate(url))
    if "fix" in seen:
        return Diagnosis("broken", NAME, seen["error"], seen["fix"])
    if "error" in seen:
        fix = "start the server, or correct SUPERVISE_SQL_URL"
        return Diagnosis("broken", NAME, seen["error"].partition(";")[0], fix)
    if not seen["tables"]:
        fix = "GRANT SELECT on its tables to the role of the address"
        return Diagnosis("note", NAME, "PostgreSQL: no table can be read", fix)
    return Diagnosis("ok", NAME, "PostgreSQL: its role may read, and no more than tables")


def _queries(team: Team) -> bool:
    return TOOL in team.grant or any(
        TOOL in worker.tools or (worker.team is not None and _queries(worker.team))
        for worker in team.workers
    )
