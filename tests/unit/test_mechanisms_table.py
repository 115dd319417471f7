"""The table of mechanisms names commands and tests that there are, and each row once."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from graph.cli import app
from tests.unit.test_reliability_table import TEST, list_tests

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TABLE.splitlines()
    if re.match(r"\| [A-Z]\d+ \|", line)
]
PARTS = "SWRYOTE"
"""In the order of the page; a number may be left out."""
COMMANDS = sorted({each for row in ROWS for each in re.findall(r"`([^`]+)`", row[3])})
FOLDERS = ("docs", "examples", "extensions", "graph", "nodes", "teams", "tests")


def find_missing_paths(words: list[str]) -> list[str]:
    """Return the words that look like a path of the checkout and are none."""
    paths = [word for word in words if word.split("/")[0] in FOLDERS and "/" in word]
    return [path for path in paths if not (ROOT / path).exists()]


def test_every_mechanism_has_one_row() -> None:
    ids = [row[0] for row in ROWS]

    assert ids == sorted(set(ids), key=lambda name: (PARTS.index(name[0]), int(name[1:])))
    assert {len(row) for row in ROWS} == {6}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_holds_or_says_what_is_missing(row: list[str]) -> None:
    state, limits = row[1], row[-1]

    assert state == "x" or (state == "~" and limits)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_names_a_command_and_tests_that_exist(row: list[str]) -> None:
    _, _, _, see, tests, _ = row
    named = TEST.findall(tests)

    assert "`" in see and named
    assert [test for path, test in named if test not in list_tests(path)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_can_be_run(command: str) -> None:
    program, *words = shlex.split(command)

    assert find_missing_paths(words) == []
    if program == "supervise":
        group = get_command(app)
        assert isinstance(group, TyperGroup)
        with group.make_context("supervise", list(words)) as context:
            name, known, rest = group.resolve_command(context, list(words))
            assert known is not None
            known.make_context(name, rest, parent=context)
    else:
        assert program == "python" and words[0] == "-m" and find_spec(words[1]) is not None
