"""Thread ids, and the lock that lets only one process run a thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from nodes.errors import StoreError, ThreadBusy, UsageError, translate_os_errors
from nodes.limits.patterns import Pattern
from nodes.security.private_files import make_private_folder

PRUNE_TIMEOUT_S = 60.0
_SAFE_ID = Pattern(r"[A-Za-z0-9._-]{1,64}")


class ThreadInvalid(UsageError):
    """A thread id has a form that is unsafe in file names."""


def make_thread_id() -> str:
    """Return a new thread id."""
    return uuid4().hex[:12]


def check_thread_id(thread: str) -> str:
    """Return a thread id if it is valid.

    Raises:
        ThreadInvalid: its form is unsafe in file names.
    """
    is_text = isinstance(thread, str)
    if not is_text or not _SAFE_ID.fullmatch(thread) or not thread.strip("."):
        raise ThreadInvalid(
            f"invalid thread id {thread!r:.82}",
            next="use 1 to 64 letters, digits, dots, dashes or underscores",
        )
    return thread


def get_lock_path(thread: str, home: Path) -> Path:
    """Return the path of a thread's lock file."""
    # Hexadecimal, since some file systems do not distinguish upper and lower case.
    return home / "locks" / f"{thread.encode().hex()}.lock"


@contextmanager
def lock_thread(thread: str, home: Path) -> Iterator[None]:
    """Lock a thread for this process; the lock ends with the process.

    Raises:
        ThreadBusy: another caller runs the thread.
        StoreError: the lock file cannot be written.
    """
    with _hold_lock(get_lock_path(thread, home), home, busy=build_busy_error(thread)):
        yield


@contextmanager
def lock_pruning(home: Path) -> Iterator[None]:
    """Wait until no other process removes runs of this folder, and lock the removal.

    Raises:
        ThreadBusy: the other process takes too long.
        StoreError: the lock file cannot be written.
    """
    # No thread's lock has this name, since theirs are hexadecimal.
    path = home / "locks" / "prune.lock"
    with _hold_lock(path, home, busy=build_prune_busy_error(), timeout_s=PRUNE_TIMEOUT_S):
        yield


def build_busy_error(thread: str) -> ThreadBusy:
    """Build the error of a thread that another caller runs."""
    return ThreadBusy(
        f"thread {thread!r} is running elsewhere",
        kept="the run that holds it is unharmed",
        next="wait for it, or choose another --thread",
    )


def build_prune_busy_error() -> ThreadBusy:
    """Build the error of a prune that has waited too long for another."""
    return ThreadBusy(
        "runs are being removed elsewhere",
        kept="all runs that the other --prune does not remove",
        next="wait until it has ended",
    )


@contextmanager
def _hold_lock(
    path: Path, home: Path, *, busy: ThreadBusy, timeout_s: float = 0.0
) -> Iterator[None]:
    lock = FileLock(path, mode=0o600, is_singleton=False)
    with translate_os_errors(
        StoreError,
        f"the folder {home}, which stores runs, cannot be written",
        kept="what was saved before",
        next="fix its permissions, or set SUPERVISE_DATABASE_URL",
    ):
        try:
            make_private_folder(path.parent)
            lock.acquire(timeout=timeout_s)
        except Timeout:
            raise busy from None
    try:
        yield
    finally:
        lock.release()
