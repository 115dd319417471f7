"""A list of JSON objects is a table; anything else that is JSON is a document."""

import csv
import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.text.json_records import read_records

CELL = st.none() | st.booleans() | st.integers() | st.text("aä,\"\n;'", max_size=5)
ROWS = st.lists(st.dictionaries(st.sampled_from(["id", "name", "fee"]), CELL), min_size=2)


def read_rows(text: str | None) -> list[list[str]]:
    assert text is not None
    return list(csv.reader(StringIO(text, newline="")))


def test_the_objects_of_a_list_are_rows_with_all_their_keys_as_columns() -> None:
    text = json.dumps([{"name": "Ada", "paid": True}, {"name": "Bo", "fee": 2.5, "tags": ["x"]}])

    assert read_rows(read_records("people.json", text)) == [
        ["name", "paid", "fee", "tags"],
        ["Ada", "true", "", ""],
        ["Bo", "", "2.5", '["x"]'],
    ]


def test_an_object_on_each_line_is_a_row() -> None:
    found = read_records("people.jsonl", '{"name": "Ada"}\n\n{"name": "Bo"}\n')

    assert read_rows(found) == [["name"], ["Ada"], ["Bo"]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"name": "Ada"}'),
        ("a.json", '[{"name": "Ada"}]'),
        ("a.json", '["Ada", "Bo"]'),
        ("a.json", '[{"at": {"x": 1}}, {"at": {"x": 2}}]'),
        ("a.json", '[{"name": "Ada"}, {"name": '),
        ("a.json", "[" * 100_000),
        ("a.jsonl", "Ada\nBo\n"),
        ("a.md", '[{"name": "Ada"}, {"name": "Bo"}]'),
    ],
)
def test_other_texts_are_no_tables(name: str, text: str) -> None:
    assert read_records(name, text) is None


def test_signs_that_no_file_can_hold_are_left_out() -> None:
    found = read_records("a.json", r'[{"name": "A\ud800\u0000b"}, {"name": "Bo"}]')

    assert found is not None
    assert "\0" not in found.encode().decode()


@given(ROWS)
def test_no_row_or_cell_is_lost(rows: list[dict[str, Any]]) -> None:
    found = read_records("a.json", json.dumps(rows))

    if found is None:
        assert not any(rows)
        return
    header, *cells = read_rows(found)
    kept = [dict(zip(header, each, strict=True)) for each in cells if each]
    texts = [{k: v for k, v in row.items() if isinstance(v, str) and v} for row in rows if row]
    for row in texts:
        assert any(row.items() <= each.items() for each in kept)
