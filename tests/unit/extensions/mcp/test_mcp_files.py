"""Which files an MCP client may name."""

from pathlib import Path

import pytest

from extensions.mcp.server.server import choose_roots, resolve_file
from nodes.errors import FileUnreadable


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("a")
    (tmp_path / "other.md").write_text("other")
    monkeypatch.chdir(folder)
    return folder.resolve()


def test_the_working_folder_is_the_root_of_a_client_that_declares_none(project: Path) -> None:
    assert choose_roots([]) == [project]
    assert resolve_file("docs/a.md", [project]) == project / "docs" / "a.md"
    assert resolve_file(str(project / "docs"), [project]) == project / "docs"


def test_a_home_folder_and_a_whole_disk_are_no_roots(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    assert choose_roots([]) == []
    monkeypatch.chdir(project.parent)
    assert choose_roots([]) == []
    monkeypatch.chdir("/")
    assert choose_roots([]) == []
    assert choose_roots(["file:///"]) == []

    with pytest.raises(FileUnreadable, match="declares no root"):
        resolve_file("etc/passwd", [])


def test_declared_roots_replace_the_working_folder(project: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "my files"
    spaced.mkdir()

    roots = choose_roots([spaced.as_uri(), "https://example.com/", "file://elsewhere/share"])

    assert roots == [spaced.resolve()]
    with pytest.raises(FileUnreadable, match="outside"):
        resolve_file(str(project / "docs" / "a.md"), roots)


@pytest.mark.parametrize(
    "name",
    ["../other.md", "docs/../../other.md", ".git/config", "docs/.secret", "link.md", "a\0b"],
)
def test_what_is_hidden_or_leads_outside_is_refused(project: Path, name: str) -> None:
    (project / "link.md").symlink_to(project.parent / "other.md")

    with pytest.raises(FileUnreadable):
        resolve_file(name, [project])
