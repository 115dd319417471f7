"""Numbered lines, and the outline of a long text."""

import difflib

from hypothesis import given
from hypothesis import strategies as st
from unidiff.patch import PatchSet

from nodes.text.lines import (
    MAX_LINE_CHARS,
    count_fitting_lines,
    describe_part,
    format_ranges,
    join_numbers,
    list_missing_ranges,
    outline_text,
    share_room,
    split_lines,
)

GIT = """\
diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -10,3 +10,4 @@ def run():
 one
-two
+TWO
+three
 four
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
---- a line that was a comment
"""
NAMES = st.text("abcxyz", min_size=1, max_size=5)
LINES = st.lists(st.text("ab+-@ ", max_size=6), max_size=12)


def test_the_outline_of_a_diff_is_its_files_with_the_lines_they_add():
    outline = outline_text("a.diff", GIT)

    assert outline.is_diff
    assert [describe_part(part, outline) for part in outline.parts] == [
        "1-9: app.py, adds 2 lines",
        "10-11: logo.png, adds 0 lines",
        "12-15: old.py, adds 0 lines",
    ]
    assert outline.parts[0].added == {7: 11, 8: 12}


def test_a_place_in_a_diff_is_its_file_and_its_line_there():
    outline = outline_text("a.diff", GIT)

    assert outline.locate(8) == "in app.py, where the next added line is line 12 of the new file"
    assert outline.list_added([(8, 15)]) == "app.py, added lines 12"


def test_the_outline_of_a_markdown_document_is_its_headings():
    outline = outline_text("a.md", "Preface\n# One\ntext\n## Two\nmore\n")

    assert [describe_part(part, outline) for part in outline.parts] == ["2-3: One", "4-5: Two"]
    assert outline.locate(1) == "" and outline.locate(3) == "in One"


def test_other_texts_have_a_kind_and_no_parts():
    assert outline_text("a.csv", "a,b\n1,2\n").kind == "csv"
    assert outline_text("notes", "--- a line\nanother").kind == "text"


@given(st.dictionaries(NAMES, st.tuples(LINES, LINES), min_size=1, max_size=3))
def test_the_added_lines_are_those_that_a_library_reads(files):
    parts = [
        "".join(f"{line}\n" for line in difflib.unified_diff(old, new, name, name, lineterm=""))
        for name, (old, new) in files.items()
    ]
    text = "".join(parts)

    outline = outline_text("a.diff", text)

    wanted = {
        (file.path, line.diff_line_no, line.target_line_no)
        for file in PatchSet(text)
        for hunk in file
        for line in hunk
        if line.is_added
    }
    found = {(p.title, at, new) for p in outline.parts for at, new in p.added.items()}
    assert found == wanted


@given(st.text("+-@ ,1#\n\\difgt/a", max_size=200), st.sampled_from(["diff", "md"]))
def test_any_text_has_an_outline_whose_parts_lie_within_it(text, suffix):
    outline = outline_text(f"a.{suffix}", text)

    last = len(split_lines(text))
    assert all(1 <= part.first_line <= part.last_line <= last for part in outline.parts)


@given(st.text("ab\n", max_size=50), st.integers(0, 60))
def test_the_lines_that_fit_are_as_many_as_possible(text, max_chars):
    lines = split_lines(text)

    count = count_fitting_lines(lines, max_chars)

    assert "\n".join(lines) == text.removesuffix("\n")
    assert len("\n".join(lines[:count])) <= max_chars
    assert count == len(lines) or len("\n".join(lines[: count + 1])) > max_chars


def test_a_very_long_line_counts_as_several():
    assert list(map(len, split_lines("a" * (MAX_LINE_CHARS + 1) + "\nb"))) == [MAX_LINE_CHARS, 1, 1]


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=6), st.integers(0, 30))
def test_each_line_is_shown_or_missing(ranges, last):
    ordered = [(min(pair), max(pair)) for pair in ranges]
    shown = {line for first, end in ordered for line in range(first, end + 1)}

    missing = list_missing_ranges(ordered, last)

    lines = [line for first, end in missing for line in range(first, end + 1)]
    assert lines == sorted(set(range(1, last + 1)) - shown)
    assert join_numbers(lines) == missing


def test_ranges_are_written_shortly():
    assert format_ranges([(1, 1), (3, 9)]) == "1, 3-9"
    assert format_ranges([(n, n) for n in range(1, 20, 2)]) == "1, 3, 5, 7, 9 and 5 more ranges"


@given(st.lists(st.integers(0, 100), max_size=8), st.integers(0, 400))
def test_texts_that_share_room_fit_together(sizes, room):
    limit = share_room(sizes, room)

    assert sum(min(size, limit) for size in sizes) <= room
    assert sum(sizes) > room or all(size <= limit for size in sizes)
