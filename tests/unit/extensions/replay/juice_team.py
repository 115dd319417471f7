"""A small team with an exam, and a run of it that is kept."""

import json
from pathlib import Path
from typing import Any

from tests.screen import run_supervise

REQUEST = "How long does the juice keep?"


def run_juice(juice: Path, thread: str = "kept") -> None:
    files = ("--file", str(juice / "sample"))
    assert (
        run_supervise("run", REQUEST, "--team", str(juice), *files, "--thread", thread, "-q") == 0
    )


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "evals.jsonl").read_text().splitlines()]


def change(path: Path, old: str, new: str) -> None:
    """Change a word of a file, which has it."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
