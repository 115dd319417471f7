"""What a renderer writes, held against a text file; a change of it is a change of that file."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def check_snapshot(name: str, text: str) -> None:
    """Raise when a text is not that of the file; `PYTEST_WRITE_SNAPSHOTS=1` writes the file."""
    path = FOLDER / name
    shown = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    if os.environ.get("PYTEST_WRITE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8"), f"{path.name} is what was written until now"
