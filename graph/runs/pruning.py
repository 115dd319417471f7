"""Selects runs by age, number and status, and removes them; never a running one.

A run is its checkpoints, store entries, event log, record and lock.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

from graph.extensions import get_run_stores
from graph.runs.trace import (
    ThreadUnknown,
    get_draft_path,
    get_log_path,
    get_record_path,
    list_runs,
    load_trace,
)
from graph.settings import Settings
from graph.stores.sqlite import open_for_deletion
from graph.stores.thread_locks import get_lock_path, lock_pruning, lock_thread
from nodes.errors import ThreadBusy, UsageError
from nodes.limits.patterns import Pattern
from state import FINAL_STATUSES

RUN_STATUSES: Final = (*FINAL_STATUSES, "needs_input", "stopped", "running")
ENDED_STATUSES: Final[frozenset[str]] = frozenset(FINAL_STATUSES)
"""Pruned by default; an interrupted run may still be resumed."""

DeleteThread = Callable[[str], int]
"""Removes a thread from a database, and returns the freed bytes."""

_UNIT_S: Final[Mapping[str, int]] = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """Selects the runs to list: those that meet all conditions."""

    older_than_s: float = 0.0
    """Age of a run's last event."""
    keep: int | None = None
    """How many of the newest are listed; None for all."""
    statuses: frozenset[str] = frozenset()
    """Empty for any."""

    @classmethod
    def from_options(
        cls, *, older_than: str | None, keep: int | None, status: str | None, **more: Any
    ) -> Self:
        """Build the selection from command-line options.

        Raises:
            UsageError: a value is invalid.
        """
        more |= {"statuses": _parse_statuses(status)} if status else {}
        age_s = parse_age(older_than) if older_than else 0.0
        return cls(older_than_s=age_s, keep=keep, **more)

    def select(
        self, runs: Iterable[Mapping[str, Any]], settings: Settings
    ) -> list[Mapping[str, Any]]:
        """Return those of some runs that meet the conditions, in their order."""
        end = time.time() - self.older_than_s
        found = [
            run
            for run in runs
            if (not self.statuses or run.get("status") in self.statuses)
            and (not self.older_than_s or _read_last_event_s(run, settings) <= end)
        ]
        return found[: self.keep]


@dataclass(frozen=True, kw_only=True)
class PruneSelection(RunFilter):
    """Selects the runs to remove; of all runs the newest are kept."""

    statuses: frozenset[str] = ENDED_STATUSES
    only_records: bool = False
    """Remove their records alone: the runs stay, and can be replayed no more."""

    @classmethod
    def from_options(
        cls, *, older_than: str | None, keep: int | None, status: str | None, **more: Any
    ) -> Self:
        """Build the selection from command-line options.

        Raises:
            UsageError: none of these is set, or a value is invalid.
        """
        if older_than is None and keep is None and status is None:
            raise UsageError(
                "--prune removes runs permanently, so select which",
                next="add --older-than 30d, --keep 20 or --status done; --dry-run shows them first",
            )
        return super().from_options(older_than=older_than, keep=keep, status=status, **more)


@dataclass
class PruneResult:
    """The removed runs, or, for a dry run, those that would be removed."""

    threads: list[str] = field(default_factory=list)
    still_running: list[str] = field(default_factory=list)
    """Selected, but kept since they are running."""
    freed_bytes: int = 0


def remove_runs(which: PruneSelection, settings: Settings, *, is_dry: bool = False) -> PruneResult:
    """Remove runs permanently.

    Raises:
        StoreError: the run database cannot be used.
        ThreadBusy: another prune takes too long.
    """
    chosen = list(_list_selected_threads(which, settings))
    if is_dry or not chosen:
        return PruneResult(threads=chosen)
    pruned = PruneResult()
    # A thread that another prune has locked would look like a running one.
    opened = nullcontext(lambda _: 0) if which.only_records else _open_database(settings)
    with lock_pruning(settings.home), opened as forget:
        for thread in chosen:
            try:
                with lock_thread(thread, settings.home):
                    if not _is_selected(which, load_trace(thread, settings)["run"], settings):
                        continue  # it has changed since it was selected
                    record = get_record_path(thread, settings)
                    paths = [record, get_draft_path(record)]
                    if not which.only_records:  # the lock is held: no run starts meanwhile
                        paths.append(get_log_path(thread, settings))
                        paths.append(get_lock_path(thread, settings.home))
                    freed = forget(thread) + sum(map(_remove_file, paths))
            except ThreadBusy:
                pruned.still_running.append(thread)
            except ThreadUnknown:  # another process has just removed it
                continue
            else:
                pruned.threads.append(thread)
                pruned.freed_bytes += freed
    return pruned


def _list_selected_threads(which: PruneSelection, settings: Settings) -> Iterator[str]:
    for run in list_runs(settings)[which.keep :]:
        if _is_selected(which, run, settings):
            yield str(run["thread"])


def _parse_statuses(names: str) -> frozenset[str]:
    statuses = frozenset(names.split(","))
    if unknown := sorted(statuses - set(RUN_STATUSES)):
        raise UsageError(
            f"unknown status {unknown[0]!r}", next=f"choose one of {', '.join(RUN_STATUSES)}"
        )
    return statuses


def _read_last_event_s(run: Mapping[str, Any], settings: Settings) -> float:
    """Return the time of a run's last event; of a run elsewhere that of its start, or now."""
    with suppress(OSError):
        return get_log_path(str(run.get("thread", "")), settings).stat().st_mtime
    with suppress(ValueError):
        return datetime.fromisoformat(str(run.get("started"))).timestamp()
    return time.time()


def _is_selected(which: PruneSelection, run: Mapping[str, Any], settings: Settings) -> bool:
    thread = str(run.get("thread", ""))
    path = get_log_path(thread, settings)
    if run["status"] not in which.statuses or not path.exists():
        return False
    if which.only_records and not get_record_path(thread, settings).exists():
        return False
    return path.stat().st_mtime <= time.time() - which.older_than_s


def _remove_file(path: Path) -> int:
    size = path.stat().st_size if path.exists() else 0
    path.unlink(missing_ok=True)
    return size


def _open_database(settings: Settings) -> AbstractContextManager[DeleteThread]:
    if settings.postgres_url:
        return get_run_stores().open_for_deletion(settings.postgres_url)
    return open_for_deletion(settings.resolve_database_path())


def parse_age(age: str) -> float:
    """Return the seconds of a time such as `7d`.

    Raises:
        UsageError: it is none.
    """
    if not (found := Pattern(r"(\d{1,6})([mhdw])").fullmatch(age.strip())):
        raise UsageError(f"invalid duration {age!r}", next="write 90m, 12h, 30d or 8w")
    return float(found[1]) * _UNIT_S[found[2]]
