"""What a development server keeps on disk after a thread was deleted."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver, PersistentDict

from extensions.server.writes_on_disk import keep_writes


class SaverOnDisk(InMemorySaver):
    """As the development server's: its dicts are files that are written when it is closed."""


def test_what_is_written_after_a_deletion_is_on_disk_when_the_server_has_ended(
    tmp_path: Path,
) -> None:
    names = iter(["storage", "writes", "blobs"])

    def make_dict(*made_by: Any) -> PersistentDict:
        return PersistentDict(*made_by, filename=str(tmp_path / next(names)))

    keep_writes(SaverOnDisk)
    with SaverOnDisk(factory=make_dict) as opened:  # type: ignore[arg-type]  # as the server does
        saver: Any = opened
        saver.writes["deleted"]["a"] = "first"
        saver.writes["kept"]["a"] = "second"
        saver.writes = defaultdict(dict, {"kept": saver.writes["kept"]})  # as the server does
        saver.writes["later"]["a"] = "third"

    saved = PersistentDict(filename=str(tmp_path / "writes"))
    saved.load()
    assert saved == {"kept": {"a": "second"}, "later": {"a": "third"}}
