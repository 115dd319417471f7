"""Removing old runs: checkpoints, store entries, journal and lock; never one that is running."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from graph.runs.trace import ThreadUnknown, get_log_path, list_runs, load_trace
from graph.settings import Settings
from graph.stores.thread_locks import get_lock_path, lock_pruning, lock_thread
from nodes.errors import ThreadBusy, UsageError
from nodes.limits.patterns import Pattern

RUN_STATUSES: Final = ("done", "partial", "failed", "needs_input", "stopped", "running")
ENDED_STATUSES: Final = frozenset(("done", "partial", "failed"))
"""What is pruned when no status is asked for: a run that was cut short may be wanted yet."""

DeleteThread = Callable[[str], int]
"""Removes what a database holds of a thread, and gives its bytes."""

_UNIT_S: Final[Mapping[str, int]] = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True)
class PruneSelection:
    """The runs to remove: those that meet all of it."""

    older_than_s: float = 0.0
    """Since a run's last event."""
    keep: int = 0
    """As many of the newest stay, whatever else is asked."""
    statuses: frozenset[str] = ENDED_STATUSES

    @classmethod
    def from_options(
        cls, *, older_than: str | None, keep: int | None, status: str | None
    ) -> "PruneSelection":
        """Read what a user asked for.

        Raises:
            UsageError: nothing was asked for, or it cannot be understood.
        """
        if older_than is None and keep is None and status is None:
            raise UsageError(
                "--prune removes runs for good, so it wants to know which",
                next="add --older-than 30d, --keep 20 or --status done; --dry-run shows them first",
            )
        statuses = frozenset(status.split(",")) if status else ENDED_STATUSES
        if unknown := sorted(statuses - set(RUN_STATUSES)):
            raise UsageError(
                f"no status {unknown[0]!r}", next=f"choose of {', '.join(RUN_STATUSES)}"
            )
        return cls(_parse_age(older_than), keep or 0, statuses)


@dataclass
class PruneResult:
    """What was removed, or would be."""

    threads: list[str] = field(default_factory=list)
    still_running: list[str] = field(default_factory=list)
    """Chosen, but running at this moment, and so kept."""
    freed_bytes: int = 0


def remove_runs(which: PruneSelection, settings: Settings, *, is_dry: bool = False) -> PruneResult:
    """Remove runs for good.

    Raises:
        StoreError: the run database cannot be used.
        ThreadBusy: another prune takes too long.
    """
    chosen = list(_list_selected_threads(which, settings))
    if is_dry or not chosen:
        return PruneResult(threads=chosen)
    pruned = PruneResult()
    # A thread that another prune holds would be taken for one that is running.
    with lock_pruning(settings.home), _open_database(settings) as forget:
        for thread in chosen:
            try:
                with lock_thread(thread, settings.home):
                    if not _is_selected(which, load_trace(thread, settings)["run"], settings):
                        continue  # it has ended, or has begun anew, since it was chosen
                    freed = forget(thread)
                    freed += _remove_files(thread, settings)
            except ThreadBusy:
                pruned.still_running.append(thread)
            except ThreadUnknown:  # somebody else has just removed it
                continue
            else:
                pruned.threads.append(thread)
                pruned.freed_bytes += freed
    return pruned


def _list_selected_threads(which: PruneSelection, settings: Settings) -> Iterator[str]:
    for run in list_runs(settings)[which.keep :]:
        if _is_selected(which, run, settings):
            yield str(run["thread"])


def _is_selected(which: PruneSelection, run: Mapping[str, Any], settings: Settings) -> bool:
    path = get_log_path(str(run.get("thread", "")), settings)
    if run["status"] not in which.statuses or not path.exists():
        return False
    return path.stat().st_mtime <= time.time() - which.older_than_s


def _remove_files(thread: str, settings: Settings) -> int:
    """Remove journal and lock; the lock is still held, so that nobody begins in between."""
    journal = get_log_path(thread, settings)
    size = journal.stat().st_size if journal.exists() else 0
    journal.unlink(missing_ok=True)
    get_lock_path(thread, settings.home).unlink(missing_ok=True)
    return size


@contextmanager
def _open_database(settings: Settings) -> Iterator[DeleteThread]:
    if settings.postgres_url:
        from graph.stores.postgres_prune import (
            open_for_deletion,  # its libraries load only where used
        )

        opened = open_for_deletion(settings.postgres_url)
    else:
        from graph.stores.sqlite_prune import open_for_deletion as forgetting_in_file

        opened = forgetting_in_file(settings.resolve_database_path())
    with opened as forget:
        yield forget


def _parse_age(age: str | None) -> float:
    if age is None:
        return 0.0
    if not (found := Pattern(r"(\d{1,6})([mhdw])").fullmatch(age.strip())):
        raise UsageError(f"--older-than {age!r} is no age", next="write 90m, 12h, 30d or 8w")
    return float(found[1]) * _UNIT_S[found[2]]
