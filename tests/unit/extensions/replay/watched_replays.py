"""Replays records where the interpreter tells of each socket, process, import and file.

    python -m tests.unit.extensions.replay.watched_replays FIRST RECORD...

The first record is replayed once before anyone watches: it imports what any replay imports. Printed
is JSON: how each replay has ended, and which events there were that no replay may bring about.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from extensions.replay.record_file import RecordUnreadable
from extensions.replay.tape import ReplayMissed
from graph.extensions import register_extensions
from tests.unit.extensions.replay.kept_records import replay_file

PREFIXES = (
    *("socket.connect", "socket.bind", "socket.send", "socket.get", "subprocess.", "shutil."),
    *("os.exec", "os.fork", "os.posix_spawn", "os.system", "os.spawn", "os.mkdir", "os.rename"),
    *("os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.ch", "pty.", "ctypes."),
    *("sqlite3.connect", "webbrowser.", "urllib.", "http.", "pickle."),
)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
HOSTILE = "hostile"
"""Is in the name of each module and folder that a record names and no replay may touch."""


def is_forbidden(event: str, arguments: tuple[Any, ...]) -> bool:
    """Return whether no replay may bring about an event."""
    if event == "open":
        path, mode, flags = arguments
        is_written = any(letter in (mode or "") for letter in "wax+") or (flags or 0) & WRITES
        return bool(is_written) or HOSTILE in str(path)
    if event == "import":
        return HOSTILE in str(arguments[0])
    is_own = event == "ctypes.dlopen" and arguments == (None,)  # numpy opens the program itself
    return event.startswith(PREFIXES) and not is_own


def describe_replay(path: str) -> str:
    """Replay a record, and return how that has ended."""
    try:
        return "equal" if replay_file(Path(path)).is_equal else "different"
    except (RecordUnreadable, ReplayMissed) as error:
        return error.code


def main() -> None:
    """Replay the records of the command line."""
    first, *others = sys.argv[1:]
    register_extensions()
    describe_replay(first)
    seen, watches = list[str](), [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watches and is_forbidden(event, arguments):
            seen.append(f"{event} {arguments!r:.200}")

    sys.addaudithook(watch)
    endings = [describe_replay(path) for path in others]
    found = {"endings": endings, "seen": [*seen]}
    open(os.devnull, "w").close()
    sys.stdout.write(json.dumps({**found, "is_watched": len(seen) > len(found["seen"])}))
    watches.clear()


if __name__ == "__main__":
    main()
