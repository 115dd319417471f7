"""The table of promises names tests that there are, and each row once."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([A-Z]\d\d) \| (.+?) \| (.*) \|$", TABLE, re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def list_tests(path: str) -> frozenset[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


def test_each_row_appears_once_under_its_own_part():
    ids = [name for name, _, _ in ROWS]
    parts = re.findall(r"^## ([A-Z])\. |^\| ([A-Z])\d\d \|", TABLE, re.MULTILINE)
    under = ""

    for part, letter in parts:
        under = part or under
        assert letter in ("", under)
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert len(ids) > 100


@pytest.mark.parametrize(("name", "cell"), [(name, cell) for name, _, cell in ROWS])
def test_every_test_that_a_row_names_exists(name, cell):
    named = TEST.findall(cell)

    assert [(path, test) for path, test in named if test not in list_tests(path)] == []
    assert named or "None: " in cell, "a row without a test says why"
