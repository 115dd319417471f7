"""What a thread was given, noted before anything of it runs, so that a resume can begin there.

It stands in the thread's journal. A database that machines share keeps it too, for the others.
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
    """Note what a thread is given where other machines find it, if there is such a place."""
    if settings.postgres_url:
        await database.store.aput(
            build_thread_namespace(thread), _STORE_KEY, dict(accepted), index=False
        )


async def load_run_record(thread: str, settings: Settings) -> dict[str, Any]:
    """Return what a thread was given last.

    Raises:
        ThreadUnknown: nothing was noted under this id.
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
