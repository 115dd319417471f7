"""Files that a user names become materials, or are refused in one clear line."""

import os
from pathlib import Path

import pytest

from graph.materials import MAX_FILES, MAX_TOTAL_BYTES, read_materials
from nodes.errors import FileUnreadable


def write(path: str, text: str = "Apples: 3.") -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_a_folder_stands_for_the_documents_right_inside_it():
    write("data/b.md")
    write("data/a.csv", "fruit,number\napples,3\n")
    write("data/.hidden.md")
    write("data/deeper/c.md")
    write("data/table.parquet")

    assert list(read_materials([Path("data")])) == ["a.csv", "b.md"]


def test_an_empty_file_of_a_folder_is_passed_over_and_one_that_is_named_is_refused():
    write("package/module.py", "x = 1")
    empty = write("package/__init__.py", "")

    assert list(read_materials([Path("package")])) == ["module.py"]
    with pytest.raises(FileUnreadable, match="no text in it"):
        read_materials([empty])


def test_two_files_of_one_name_get_distinct_names():
    first, second = write("north/notes.md", "North."), write("south/notes.md", "South.")

    assert read_materials([first, second]) == {"notes.md": "North.", "south/notes.md": "South."}


def test_a_file_named_twice_is_read_once():
    file = write("notes.md")

    assert read_materials([file, file]) == {"notes.md": "Apples: 3."}


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("data.parquet", b"PAR1", "SUPERVISE_SQL_URL"),
        ("sales.sqlite", b"SQLite format 3\0", "SUPERVISE_SQL_URL"),
        ("picture.md", b"\x89PNG\0\0", "binary"),
        ("empty.md", b"", "no text"),
        ("huge.md", b"x" * (MAX_TOTAL_BYTES + 1), "more than 5 MB"),
    ],
)
def test_a_file_that_is_no_readable_text_is_refused(name, raw, said):
    Path(name).write_bytes(raw)

    with pytest.raises(FileUnreadable) as raised:
        read_materials([Path(name)])

    line = raised.value.line()
    assert name in line
    assert said in line
    assert "\n" not in line


def test_what_is_not_there_is_refused():
    with pytest.raises(FileUnreadable, match=r"missing\.md: No such file"):
        read_materials([Path("missing.md")])


def test_an_empty_folder_is_refused():
    Path("empty").mkdir()

    with pytest.raises(FileUnreadable, match="no document"):
        read_materials([Path("empty")])


def test_what_is_no_regular_file_is_not_waited_for():
    os.mkfifo("pipe.md")

    with pytest.raises(FileUnreadable, match="not a regular file"):
        read_materials([Path("pipe.md")])


def test_too_many_files_are_refused():
    files = [write(f"data/{number}.md") for number in range(MAX_FILES + 1)]

    with pytest.raises(FileUnreadable, match=f"{MAX_FILES + 1} files"):
        read_materials(files)
