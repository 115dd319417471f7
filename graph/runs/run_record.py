"""The accepted input of a thread, saved before it runs, so that a resume can begin there.

It is in the thread's event log, and, for other machines, in a database that they share.
"""

from collections.abc import Mapping
from typing import Any, Final

from graph.runs import event_log
from graph.runs.trace import ThreadUnknown, get_log_path
from graph.settings import Settings
from graph.stores.run_database import RunDatabase, build_thread_namespace

RECORD_KEYS: Final = ("source", "input", "context")
_STORE_KEY: Final = "accepted"


async def save_run_record(
    thread: str, accepted: Mapping[str, Any], database: RunDatabase, settings: Settings
) -> None:
    """Save a thread's accepted input for other machines, if they share a database."""
    if settings.postgres_url:
        await database.store.aput(
            build_thread_namespace(thread), _STORE_KEY, dict(accepted), index=False
        )


async def load_run_record(thread: str, settings: Settings) -> dict[str, Any]:
    """Return the last accepted input of a thread.

    Raises:
        ThreadUnknown: nothing was saved under this id.
        StoreError: the run database cannot be used.
    """
    notes: dict[str, Any] = {}
    path = get_log_path(thread, settings)
    if path.exists():
        for entry in event_log.read_log_entries(path):
            notes |= {key: entry[key] for key in RECORD_KEYS if key in entry}
    if "input" not in notes and settings.postgres_url:
        from graph.stores.postgres import read_store_value  # its libraries load only where used

        notes = await read_store_value(
            settings.postgres_url, build_thread_namespace(thread), _STORE_KEY
        )
    if "input" not in notes:
        raise ThreadUnknown(
            f"no thread {thread!r}", next="`supervise runs` lists the threads there are"
        )
    return notes
