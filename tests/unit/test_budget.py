"""The budget of lines and files: each room has a row in `docs/budget.md`, and keeps to it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "budget.md"
ROW = re.compile(
    r"^\| `(?P<room>[^`]+)` \| (?P<lines>[\d,]+) \| (?P<files>[\d,]+) \|", re.MULTILINE
)
TOTALS = {
    "main house": ("state.py", "nodes/", "graph/"),
    "extensions": ("extensions/",),
    "package": ("supervisor_worker/",),
    "teams": ("teams/",),
    "tests": ("tests/",),
}


FOLDERS = ("nodes", "graph", "extensions", "supervisor_worker", "teams", "tests", "web/src")


class Size(NamedTuple):
    """Lines and files, of Python, or of TypeScript and CSS in `web/src`."""

    lines: int
    files: int


def read_budget() -> dict[str, Size]:
    rows = ROW.finditer(TABLE.read_text(encoding="utf-8"))
    return {
        row["room"]: Size(int(row["lines"].replace(",", "")), int(row["files"].replace(",", "")))
        for row in rows
    }


def list_files() -> Iterator[tuple[str, int]]:
    """Yield the path of each file that counts, and its number of lines."""
    for folder in FOLDERS:
        suffixes = (".ts", ".tsx", ".css") if folder == "web/src" else (".py",)
        for path in sorted((ROOT / folder).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            is_made = any(part in name for part in ("/sample/", "/scaffold/", "__pycache__"))
            if path.suffix in suffixes and not is_made:
                yield name, len(path.read_text(encoding="utf-8").splitlines())
    yield "state.py", len((ROOT / "state.py").read_text(encoding="utf-8").splitlines())


def find_room(name: str) -> str:
    """Return the row of a file: its folder below the first, the first alone, or itself."""
    top, *rest = name.split("/")
    if top in ("teams", "tests", "web") or not rest:
        return f"{top}/" if rest and top != "web" else ("web/src/" if rest else name)
    return f"{top}/{rest[0]}/" if len(rest) > 1 else f"{top}/*.py"


def measure_rooms() -> dict[str, Size]:
    found: dict[str, Size] = {}
    for name, lines in list_files():
        before = found.get(find_room(name), Size(0, 0))
        found[find_room(name)] = Size(before.lines + lines, before.files + 1)
    return found


def test_no_room_exceeds_its_budget() -> None:
    """What is gained is taken from the table in the same change; what raises it says why there."""
    budget, rooms = read_budget(), measure_rooms()

    over = {
        room: f"{size.lines} lines in {size.files} files"
        for room, size in rooms.items()
        if room not in budget or size.lines > budget[room].lines or size.files > budget[room].files
    }

    assert over == {}
    assert set(budget) - set(rooms) - set(TOTALS) == set()


def test_the_totals_are_those_of_the_rooms() -> None:
    budget = read_budget()

    for name, tops in TOTALS.items():
        rooms = [size for room, size in budget.items() if room.startswith(tops)]
        assert budget[name] == Size(sum(s.lines for s in rooms), sum(s.files for s in rooms)), name
