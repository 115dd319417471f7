"""A file that is read from stdin."""

import io
import sys

import pytest

pytestmark = pytest.mark.slow


def test_a_file_is_read_from_stdin(supervise, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Apples cost 3 euros a kilo.")))

    assert supervise("run", "What do apples cost?", "-f", "-", "--json", "-q") in (0, 3)

    assert "stdin.txt" in supervise.out and "Apples cost 3 euros" in supervise.out


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fruit,price\napple,3\npear,4\n", "stdin.csv"),
        ("fruit;price\napple;3\npear;4\n", "stdin.csv"),
        ('[{"fruit": "apple", "price": 3}, {"fruit": "pear", "price": 4}]', "stdin.json"),
        ("An apple, they say.\nA pear costs 3, or 4, with the price.\n", "stdin.txt"),
    ],
)
def test_a_table_from_stdin_is_named_as_one(supervise, monkeypatch, text, name):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    supervise("run", "What is the highest price?", "-f", "-")

    assert name in supervise.out


@pytest.mark.parametrize(
    ("raw", "problem"), [(b" \n", "it is empty"), (b"%PDF\0\1", "it is not text")]
)
def test_what_is_no_text_is_not_read_from_stdin(supervise, monkeypatch, raw, problem):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    assert supervise("run", "Sum it up.", "-f", "-", "-q") == 2

    assert supervise.err.startswith(f"error[FILE_UNREADABLE] cannot read stdin: {problem}. next: ")
