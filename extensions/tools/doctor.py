"""The checks of `supervise doctor` and `check` for what tools read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from extensions.tools.documents.library import list_documents
from extensions.tools.sql.client import inspect_database
from extensions.tools.sql.location import locate_database
from graph.extensions import DoctorCheck
from graph.settings import Settings
from nodes.errors import SettingsInvalid, ToolRefused
from nodes.schemas.team import Team
from nodes.text.counts import format_count

CHECK_NAME: Final = "database to query"
TOOL_NAME: Final = "query_database"


def check_sql_database(url: str | None) -> DoctorCheck:
    """Check that the file or the server has tables that can be read."""
    if url is None:
        fix = f"set SUPERVISE_SQL_URL to a database that {TOOL_NAME} may read"
        return DoctorCheck("note", CHECK_NAME, "only the CSV files and spreadsheets of a run", fix)
    if url.startswith("postgres"):
        return _check_server(url)
    path = Path(url.partition("://")[2].removeprefix("/") if "://" in url else url)
    if not path.exists():
        fix = "check SUPERVISE_SQL_URL; an absolute path has four slashes"
        return DoctorCheck("broken", CHECK_NAME, f"{path} does not exist", fix)
    return _check_file(url, path)


def _check_file(url: str, path: Path) -> DoctorCheck:
    fix = "correct SUPERVISE_SQL_URL, or save the file again"
    try:
        seen = inspect_database(locate_database(url))
    except ToolRefused as error:
        return DoctorCheck("broken", CHECK_NAME, str(error), fix)
    problems = [each for each in (seen.get("error", ""), *seen.get("gaps", ())) if each]
    if not seen["tables"]:
        problems = problems or [f"{path} has no table"]
        return DoctorCheck("broken", CHECK_NAME, problems[0], fix)
    if problems:
        return DoctorCheck("note", CHECK_NAME, problems[0], fix)
    return DoctorCheck("ok", CHECK_NAME, str(path))


def refuse_writing_role(team: Team, settings: Settings) -> None:
    """Refuse a database role that may do more than read, if the team would use it.

    Raises:
        SettingsInvalid: the role may do more; `query_database` would refuse it too.
    """
    if not (settings.sql_url or "").startswith("postgres") or not _uses_query_tool(team):
        return
    seen = inspect_database(locate_database(settings.sql_url))
    if "fix" in seen:
        raise SettingsInvalid(seen["error"], next=seen["fix"])


def _check_server(url: str) -> DoctorCheck:
    seen = inspect_database(locate_database(url))
    if "fix" in seen:
        return DoctorCheck("broken", CHECK_NAME, seen["error"], seen["fix"])
    if "error" in seen:
        fix = "start the server, or correct SUPERVISE_SQL_URL"
        return DoctorCheck("broken", CHECK_NAME, seen["error"].partition(";")[0], fix)
    if not seen["tables"]:
        fix = "GRANT SELECT on its tables to the role in the address"
        return DoctorCheck("note", CHECK_NAME, "PostgreSQL: no table can be read", fix)
    return DoctorCheck("ok", CHECK_NAME, "PostgreSQL: its role may only read tables")


def _uses_query_tool(team: Team) -> bool:
    return TOOL_NAME in team.grant or any(
        TOOL_NAME in worker.tools or (worker.team is not None and _uses_query_tool(worker.team))
        for worker in team.workers
    )


def check_sources(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the folder of documents, the database and the search engine."""
    try:
        settings.build_tool_settings()
    except SettingsInvalid as error:
        yield DoctorCheck("broken", "documents", str(error), error.next)
        return
    if settings.documents is None:
        fix = "set SUPERVISE_DOCUMENTS to a folder that search_documents may read"
        yield DoctorCheck("note", "documents", "only the files of a run", fix)
    else:
        stored, skipped = list_documents(settings.documents)
        found = format_count(len(stored), "document")
        text = f"{settings.documents}: {found}, {len(skipped)} skipped"
        yield DoctorCheck("ok", "documents", text)
    yield check_sql_database(settings.sql_url)
    engine = "Tavily, by key" if settings.tavily_api_key else "keyless engine"
    fix = "" if settings.tavily_api_key else "set TAVILY_API_KEY for better results"
    yield DoctorCheck("ok" if settings.tavily_api_key else "note", "web search", engine, fix)
