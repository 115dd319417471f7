"""Parts of Python files, cut anywhere, become text that parses, line by line the same."""

import ast
import inspect
import textwrap
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.code_review.tools.review.diff import ChangedFile, Hunk
from teams.code_review.tools.review.fragments import CodeFragment, build_fragments

# What is parsed may hold strings that newer Pythons warn of.
pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")
SOURCE = inspect.getsource(textwrap).splitlines()


def make_changed_file(lines: list[str], start: int = 1, section: str = "") -> ChangedFile:
    """Make a file in which every line of one hunk is new."""
    added = dict(enumerate(lines, start))
    hunk = Hunk(start, tuple(lines), added, start, (), {}, section)
    return ChangedFile("a.py", "a.py", (hunk,), is_new=False)


def make_fragment(text: str, section: str = "") -> CodeFragment:
    (fragment,), lost = build_fragments(
        make_changed_file(text.strip("\n").split("\n"), section=section)
    )
    assert not lost
    ast.parse(fragment.text)
    return fragment


@given(st.integers(0, len(SOURCE) - 1), st.integers(1, 60))
def test_any_window_of_a_file_parses_and_keeps_its_numbers(start: int, length: int) -> None:
    lines = SOURCE[start : start + length]
    file = make_changed_file(lines, start + 1)

    for fragment in build_fragments(file)[0]:
        ast.parse(fragment.text)
        shown = list(zip(fragment.text.split("\n"), fragment.numbers, strict=False))
        numbers = [number for _, number in shown if number]
        assert all(file.added[n].strip() in text or not text for text, n in shown if n)
        assert all(one < other for one, other in pairwise(numbers))


def test_little_is_lost_where_a_file_is_cut_every_few_lines() -> None:
    lost = added = 0
    for start in range(0, len(SOURCE), 9):
        file = make_changed_file(SOURCE[start : start + 9], start + 1)
        added += sum(bool(line.strip()) for line in file.added.values())
        lost += len(build_fragments(file)[1])

    # What is lost is prose of docstrings that begin before and end after the nine lines.
    assert lost < 0.25 * added


@pytest.mark.parametrize(
    "text",
    [
        "        timeout=5,\n        verify=False,\n    )\n    return reply",
        "    first,\n    second):\n        return first",
        "    a: int,\n    b: str = '',\n) -> None:\n    pass",
        "        return 1\n    except ValueError:\n        return 2\n\ndef other():\n    pass",
        "    else:\n        b = 2\n    return b",
        "    elif x:\n        pass",
        "    except OSError:\n        raise",
        "try:\n    go()",
        "if x:",
        "def f(\n    a,",
        "call(a, b=",
        "value = {'a': 1,\n  'b': [2,",
        "    some words of a docstring.\n    '''\n    return 1",
        'def f():\n    """A docstring that does not',
        "\tif x:\n\t\ty = 1\n\telse:\n\t\ty = 2",
    ],
)
def test_a_hunk_may_begin_and_end_anywhere(text: str) -> None:
    make_fragment(text)


def test_code_after_the_end_of_a_docstring_is_code() -> None:
    fragment = make_fragment('    """\n    run(shell=True)')

    calls = [node for node in ast.walk(ast.parse(fragment.text)) if isinstance(node, ast.Call)]
    assert calls


def test_code_between_two_docstrings_is_code() -> None:
    fragment = make_fragment(
        '    ends some prose.\n    """\n    run(r"\\w")\n\n    def go(self):\n        """'
    )

    calls = [node for node in ast.walk(ast.parse(fragment.text)) if isinstance(node, ast.Call)]
    assert calls


def test_the_lines_above_the_hunk_identify_a_method_and_a_coroutine() -> None:
    assert "class fragment" in make_fragment("    def go(self):\n        pass", "class Store:").text
    assert "async def fragment" in make_fragment("    go()", "async def run():").text


def test_prose_and_other_languages_are_left_out_and_named() -> None:
    file = make_changed_file(["x = 1", "this is no Python", "print 'old'", "y = 2"])

    (fragment,), lost = build_fragments(file)

    assert lost == [2, 3] and "x = 1" in fragment.text and "y = 2" in fragment.text


def test_a_file_known_as_a_whole_is_read_as_a_whole() -> None:
    file = ChangedFile(
        "a.py",
        "a.py",
        make_changed_file(["    return 1"], 2).hunks,
        False,
        "def f():\n    return 1\n",
    )

    (fragment,), lost = build_fragments(file)

    assert fragment.is_whole and fragment.numbers[:2] == (1, 2) and not lost


@pytest.mark.parametrize("text", ["(" * 5000, "-" * 20000 + "1", "x = " + "[" * 300, "\\\n" * 50])
def test_text_that_overwhelms_the_parser_is_left_out(text: str) -> None:
    made, _ = build_fragments(make_changed_file(text.split("\n")))

    assert all(isinstance(ast.parse(fragment.text), ast.Module) for fragment in made)
