"""What `supervise doctor` says of the place where runs are kept."""

from collections.abc import Iterator
from os import W_OK, access
from pathlib import Path

from graph.commands.diagnosis import Diagnosis
from graph.settings import Settings
from graph.stores.address import shown
from nodes.errors import StoreError


def look_at_database(settings: Settings) -> Iterator[Diagnosis]:
    """Look at the file or at the server, without making anything there."""
    if settings.postgres_url:
        yield _server(settings.postgres_url)
        yield Diagnosis("ok", "traces", f"{settings.home} (of the runs begun on this machine)")
    else:
        yield _file(settings.database_path())


def _file(path: Path) -> Diagnosis:
    from graph.stores.sqlite_file import check

    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir() or not access(folder, W_OK):
        fix = "set SUPERVISE_DATABASE_URL=sqlite:///PATH to a place you may write"
        return Diagnosis("broken", "database", f"{folder} cannot be written", fix)
    if not path.exists():
        return Diagnosis("ok", "database", f"{path} (made by the first run)")
    try:
        check(path)
    except StoreError as error:
        return Diagnosis("broken", "database", str(error), error.next)
    except OSError as error:
        fix = "mend its permissions, or set SUPERVISE_DATABASE_URL"
        return Diagnosis("broken", "database", f"{path}: {error.strerror}", fix)
    return Diagnosis("ok", "database", f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


def _server(url: str) -> Diagnosis:
    from graph.stores.postgres_look import look  # its libraries load only where used

    try:
        seen = look(url)
    except StoreError as error:
        return Diagnosis("broken", "database", str(error), error.next)
    return Diagnosis("ok", "database", f"{shown(url)}: {seen}")
