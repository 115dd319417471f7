"""A folder with one file of rows for each part of a measurement, so that a stopped one goes on."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class WorkFolder:
    """Keeps each row under its part and its key, and a folder for what its runs write."""

    def __init__(self, path: Path) -> None:
        """Make the folder where it is not there."""
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def read(self, part: str, key: str) -> dict[str, Any] | None:
        """Return a row that is there already; the last one of its key."""
        path = self.path / f"{part}.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        found = [row["row"] for row in map(json.loads, lines) if row["key"] == key]
        return found[-1] if found else None

    def write(self, part: str, key: str, row: Mapping[str, Any]) -> None:
        """Add a row."""
        with (self.path / f"{part}.jsonl").open("a", encoding="utf-8") as kept:
            kept.write(json.dumps({"key": key, "row": row}, ensure_ascii=False) + "\n")

    def make_empty(self, name: str) -> Path:
        """Return an empty folder for one run; what a stopped one left there is removed."""
        folder = self.path / name.replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder
