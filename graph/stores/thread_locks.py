"""A thread's name, and the lock that lets one process at a time run it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from nodes.errors import StoreError, ThreadBusy, UsageError
from nodes.limits.patterns import Pattern

PRUNE_TIMEOUT_S = 60.0
_SAFE_ID = Pattern(r"[A-Za-z0-9._-]{1,64}")


class ThreadInvalid(UsageError):
    """A thread id is part of file names, so its form is narrow."""

    code = "THREAD_INVALID"


def make_thread_id() -> str:
    """Make a thread id."""
    return uuid4().hex[:12]


def check_thread_id(thread: str) -> str:
    """Return a thread id back.

    Raises:
        ThreadInvalid: it has a form that is not safe.
    """
    if not _SAFE_ID.fullmatch(thread) or not thread.strip("."):
        raise ThreadInvalid(
            f"thread id {thread[:80]!r} is not of the form it must have",
            next="use 1 to 64 letters, digits, dots, dashes or underscores",
        )
    return thread


def get_lock_path(thread: str, home: Path) -> Path:
    """Return which file stands for a thread's lock."""
    # Upper and lower case are distinct threads also where file names are not.
    return home / "locks" / f"{thread.encode().hex()}.lock"


@contextmanager
def lock_thread(thread: str, home: Path) -> Iterator[None]:
    """Hold a thread for this process; the lock dies with it.

    Raises:
        ThreadBusy: another caller runs the thread.
        StoreError: there is no place for the lock.
    """
    busy = ThreadBusy(
        f"thread {thread!r} is running elsewhere",
        kept="the run that holds it is unharmed",
        next="wait for it, or choose another --thread",
    )
    with _hold_lock(get_lock_path(thread, home), home, busy=busy):
        yield


@contextmanager
def lock_pruning(home: Path) -> Iterator[None]:
    """Wait until no other process removes runs of this folder, and keep others from it.

    Raises:
        ThreadBusy: the other one takes too long.
        StoreError: there is no place for the lock.
    """
    # No thread's lock has this name: theirs are in hexadecimal.
    path = home / "locks" / "prune.lock"
    with _hold_lock(path, home, busy=build_prune_busy_error(), timeout_s=PRUNE_TIMEOUT_S):
        yield


def build_prune_busy_error() -> ThreadBusy:
    """Return the error of a prune that has waited too long for another."""
    return ThreadBusy(
        "runs are being removed elsewhere",
        kept="all that the other --prune leaves",
        next="wait until it has ended",
    )


@contextmanager
def _hold_lock(
    path: Path, home: Path, *, busy: ThreadBusy, timeout_s: float = 0.0
) -> Iterator[None]:
    lock = FileLock(path, is_singleton=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=timeout_s)
    except Timeout:
        raise busy from None
    except OSError as error:
        raise StoreError(
            f"the folder {home} cannot be written, and runs are kept there",
            cause=error.strerror or str(error),
            kept="what was saved before",
            next="mend its permissions, or set SUPERVISE_DATABASE_URL",
        ) from error
    try:
        yield
    finally:
        lock.release()
