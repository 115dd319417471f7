"""The documents of a run, as its page gets them."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from extensions.server.run_documents import load_documents


def write_call(path: Path, text: str, **changed: Any) -> str:
    told = {"path": str(path), "format": "markdown", "bytes": len(text)}
    call = {"kind": "tool_call", "tool": "format_document", "result": json.dumps(told)}
    return json.dumps({**call, **changed})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    for name in ("documents/a.md", "documents/b.md", "outside.md"):
        (tmp_path / name).write_text(f"# {name}\n")
    return tmp_path / "documents"


def test_a_run_has_the_documents_that_it_has_written_and_no_others(folder: Path) -> None:
    lines = [write_call(folder / "a.md", "# documents/a.md\n"), json.dumps({"kind": "report"})]

    (found,) = load_documents(lines, folder)

    assert found["name"] == "a.md" and b64decode(found["content"]) == b"# documents/a.md\n"


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("documents/../outside.md", {}),
        ("outside.md", {}),
        ("documents/a.md", {"tool": "read_page"}),
        ("documents/a.md", {"result": 'as in {"path": "a.md", "format": "markdown", "bytes": 1}'}),
        ("documents/gone.md", {}),
        ("documents/link.md", {}),
    ],
)
def test_no_other_file_is_taken_for_a_document(
    folder: Path, path: str, changed: dict[str, Any]
) -> None:
    (folder / "link.md").symlink_to(folder.parent / "outside.md")
    line = write_call(folder.parent / path, f"# {Path(path).name}\n", **changed)

    assert load_documents([line], folder) == []


def test_a_document_of_another_size_than_the_run_gave_it_is_left_out(folder: Path) -> None:
    assert load_documents([write_call(folder / "b.md", "longer than the file is")], folder) == []
