"""The check of `supervise doctor` for the run database."""

import sqlite3
from collections.abc import Iterator
from os import W_OK, access
from pathlib import Path

from graph.extensions import DoctorCheck
from graph.settings import Settings
from graph.stores.postgres_url import format_public_address
from nodes.errors import StoreError


def check_database(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the file or the server, without creating anything."""
    if settings.postgres_url:
        yield _check_server(settings.postgres_url)
        yield DoctorCheck("ok", "traces", f"{settings.home} (runs begun on this machine)")
    else:
        yield _check_file(settings.resolve_database_path())


def _check_file(path: Path) -> DoctorCheck:
    from graph.stores.sqlite_file import check_database_file

    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir() or not access(folder, W_OK):
        fix = "set SUPERVISE_DATABASE_URL=sqlite:///PATH to a writable place"
        return DoctorCheck("broken", "database", f"{folder} cannot be written", fix)
    if not path.exists():
        return DoctorCheck("ok", "database", f"{path} (created by the first run)")
    try:
        check_database_file(path)
    except StoreError as error:
        return DoctorCheck("broken", "database", str(error), error.next)
    except sqlite3.Error:
        fix = "close what has it open, such as a database browser"
        return DoctorCheck("broken", "database", f"another program has locked {path}", fix)
    except OSError as error:
        fix = "fix its permissions, or set SUPERVISE_DATABASE_URL"
        return DoctorCheck("broken", "database", f"{path}: {error.strerror}", fix)
    return DoctorCheck("ok", "database", f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


def _check_server(url: str) -> DoctorCheck:
    from graph.stores.postgres_status import describe_database  # its libraries load only where used

    try:
        seen = describe_database(url)
    except StoreError as error:
        return DoctorCheck("broken", "database", str(error), error.next)
    return DoctorCheck("ok", "database", f"{format_public_address(url)}: {seen}")
