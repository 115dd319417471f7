"""Finds the thread that a command names by its id, by the beginning of it, or as the last one."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import UUID

from graph.display.text import to_one_line
from graph.extensions import open_runs_elsewhere
from graph.runs.trace import ThreadUnknown, get_log_path
from graph.settings import Settings
from nodes.errors import UsageError

LAST: Final = "last"
MIN_PREFIX_CHARS: Final = 6
MAX_LISTED: Final = 8


class ThreadAmbiguous(UsageError):
    """Several threads begin like this."""

    code = "THREAD_AMBIGUOUS"


def find_thread(name: str, settings: Settings, url: str | None = None) -> str:
    """Return the id of a thread; a name that is neither `last` nor a prefix is returned unchanged.

    Args:
        url: of the server that has the runs; None for those of this machine.

    Raises:
        ThreadUnknown: there is no last run.
        ThreadAmbiguous: several ids begin like this.
        ServerError: the server cannot be used.
    """
    if name != LAST and len(name) < MIN_PREFIX_CHARS:
        return name
    if url is None:
        return choose_thread(name, _list_local_threads(settings))
    if _is_whole_id(name):
        return name
    return choose_thread(name, open_runs_elsewhere(url, settings).list_threads())


def choose_thread(name: str, threads: Iterable[str]) -> str:
    """Return the thread that a name means.

    Args:
        threads: the ids there are, the newest first.

    Raises:
        ThreadUnknown, ThreadAmbiguous: as `find_thread`.
    """
    known = list(threads)
    if name in known:
        return name
    if name == LAST:
        if not known:
            raise ThreadUnknown("there is no last run", next="supervise run REQUEST")
        return known[0]
    found = [thread for thread in known if thread.startswith(name)]
    if len(found) > 1:
        more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        raise ThreadAmbiguous(
            f"{len(found)} threads begin with {name!r}",
            next=f"name one of {to_one_line(', '.join(found[:MAX_LISTED]), 800)}{more}",
        )
    return found[0] if found else name


def _list_local_threads(settings: Settings) -> list[str]:
    """Return the threads with a log, the newest first, as `supervise runs` lists them."""
    logs: list[tuple[float, Path]] = []
    for path in get_log_path("*", settings).parent.glob("*.jsonl"):
        with suppress(FileNotFoundError):  # another process has just pruned it
            logs.append((-path.stat().st_mtime, path))
    return [path.stem for _, path in sorted(logs)]


def _is_whole_id(name: str) -> bool:
    """Return whether a name is the id of a server's thread, which is a UUID."""
    try:
        return bool(UUID(name))
    except ValueError:
        return False
