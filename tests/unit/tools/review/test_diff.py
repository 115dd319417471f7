"""Diffs of many makes, and what is no diff."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.code_review.tools.review import diff as diffs
from teams.code_review.tools.review.diff import read_diff
from teams.code_review.tools.review.diff_materials import list_diffs, sort_materials

GIT = """\
diff --git a/app/main.py b/app/main.py
index 1111111..2222222 100644
--- a/app/main.py
+++ b/app/main.py
@@ -10,4 +10,5 @@ def run():
 one
-two
+TWO
+three
 four
 five
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-old
-lines
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+first
+second
\\ No newline at end of file
"""
PLAIN = """\
diff -ru old/app.py new/app.py
--- old/app.py\t2024-01-01 00:00:00
+++ new/app.py\t2024-01-02 00:00:00
@@ -1 +1 @@
--- a removed comment of SQL
+++ an added one
"""
MAIL = (
    "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n---\n app | 2 +-\n\n"
    + GIT
    + "-- \n2.40\n"
)


def test_added_lines_have_the_numbers_of_the_new_file() -> None:
    main, gone, new = read_diff(GIT).files

    assert main.path == "app/main.py" and main.added == {11: "TWO", 12: "three"}
    assert main.removed == {11: "two"} and main.hunks[0].section == "def run():"
    assert gone.path == "gone.py" and not gone.added and gone.removed == {1: "old", 2: "lines"}
    assert new.is_new and new.added == {1: "first", 2: "second"}


def test_a_mail_with_a_patch_is_read_like_the_patch() -> None:
    assert read_diff(MAIL).files == read_diff(GIT).files


def test_lines_that_look_like_headers_are_lines() -> None:
    (file,) = read_diff(PLAIN).files

    assert file.added == {1: "++ an added one"} and file.removed == {
        1: "-- a removed comment of SQL"
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n", "x.png"),
        ("diff --git a/x.png b/x.png\nGIT binary patch\nliteral 3\nabc\n", "x.png"),
        ("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n one\n", "x.py"),
        ("--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n one\nnot a line of a hunk\n", "x.py"),
        ("diff --cc x.py\nindex 1,2..3\n--- a/x.py\n+++ b/x.py\n@@@ -1 -1 +1 @@@\n++a\n", "merge"),
    ],
    ids=["binary", "git binary", "cut", "broken", "merge"],
)
def test_what_cannot_be_read_is_named_and_hides_nothing_else(text: str, expected: str) -> None:
    change = read_diff(text + GIT)

    assert [file.path for file in change.files][-3:] == ["app/main.py", "gone.py", "new.py"]
    (message,) = (*change.unread_parts, *change.skipped_parts)
    assert expected in message and bool(change.skipped_parts) is ("inary" in text)


def test_a_change_of_names_alone_has_no_lines() -> None:
    renamed = "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n"

    assert read_diff(renamed).files == () and read_diff(renamed).unread_parts == ()


def test_of_a_huge_diff_the_python_is_read_first_and_the_rest_is_named() -> None:
    def added(name: str, count: int) -> str:
        lines = "".join(f"+line {number}\n" for number in range(count))
        return f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{count} @@\n{lines}"

    text = added("page.html", diffs.MAX_LINES) + added("code.py", 30) + added("more.html", 1)

    change = read_diff(text)

    assert [file.path for file in change.files] == ["code.py", "more.html"]
    assert change.unread_parts == (
        "The diff has more than 20,000 lines; not reviewed: `page.html`",
    )


@given(st.text(st.sampled_from("+- @a/\n\\dif0,1"), max_size=300))
def test_no_text_breaks_the_reading(text: str) -> None:
    change = read_diff(f"--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n{text}")

    assert len(change.files) + len(change.unread_parts) >= 1


def test_materials_are_sorted_by_name_and_by_looks() -> None:
    prose = f"Like so:\n\n```\n{GIT}```\n"

    materials = {
        "a.diff": GIT,
        "b.txt": PLAIN,
        "G.md": prose,
        "sub/pyproject.toml": "",
        "x.py": "",
        "n": "",
    }

    found = list_diffs(materials)
    given = sort_materials(materials, found)

    assert found == ["a.diff", "b.txt"]
    assert list(given.prose) == ["G.md"] and list(given.configuration) == ["sub/pyproject.toml"]
    assert list(given.sources) == ["x.py", "n"]
