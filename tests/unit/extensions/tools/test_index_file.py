"""The index of a large folder, kept between processes."""

import os
from pathlib import Path

import pytest

import extensions.tools.documents.kept_index as kept_index
from extensions.tools.documents.index import PassageIndex
from extensions.tools.documents.library import DocumentLibrary


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of documents that is large enough to keep its index, and a cache of its own."""
    monkeypatch.setattr(kept_index, "MIN_KEPT_CHARS", 10)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.md").write_text("# Animals\n\nA zebra has stripes.\n")
    (documents / "b.md").write_text("# Others\n\nA gnu has none.\n")
    return documents


@pytest.fixture
def index_folder(tmp_path):
    return tmp_path / "cache" / "supervisor-worker" / "documents"


async def search(folder, query, materials=None):
    """Search as a new process would, which has nothing in its memory."""
    index, _, _ = await DocumentLibrary(folder).get_index(materials or {})
    return [(hit.passage.source, hit.passage.text) for hit in index.search(query, 5)]


def change_bytes(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def replace_by_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.fixture
def used(monkeypatch) -> list[bytes]:
    """The indexes that are read while it is watched."""
    found = list[bytes]()
    load = PassageIndex.load

    def watch(raw: bytes) -> PassageIndex:
        found.append(raw)
        return load(raw)

    monkeypatch.setattr(PassageIndex, "load", watch)
    return found


async def test_a_second_process_finds_the_same_without_cutting_the_documents_again(
    folder, index_folder, used, monkeypatch
):
    first = await search(folder, "zebra stripes")
    written = [(each, each.read_bytes()) for each in index_folder.iterdir()]
    monkeypatch.setattr("extensions.tools.documents.library.split_document", None)

    assert await search(folder, "zebra stripes") == first != []
    assert len(used) == 1
    assert [(each, each.read_bytes()) for each in index_folder.iterdir()] == written


async def test_only_the_user_can_read_what_is_kept(folder, index_folder):
    await search(folder, "zebra")

    (file,) = index_folder.iterdir()
    assert [each.stat().st_mode & 0o777 for each in (file, index_folder, index_folder.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


async def test_a_changed_document_is_found_with_its_new_words_only(folder, index_folder):
    await search(folder, "zebra")
    changed = folder / "a.md"
    times = changed.stat().st_mtime_ns
    changed.write_text("# Animals\n\nA koala has stripes.\n")
    os.utime(changed, ns=(times, times))  # same time and same size are not the same text

    assert await search(folder, "zebra") == []
    assert await search(folder, "koala") != []
    assert len(list(index_folder.iterdir())) == 1


async def test_words_of_a_removed_document_are_not_kept(folder, index_folder):
    await search(folder, "zebra")
    (folder / "a.md").unlink()

    assert await search(folder, "zebra") == []
    assert all(b"stripes" not in each.read_bytes() for each in index_folder.iterdir())


async def test_materials_are_found_beside_a_kept_index_and_never_kept(folder, index_folder):
    await search(folder, "zebra")

    found = await search(folder, "zebra", {"b.md": "A zebra and a secret."})

    assert {source for source, _ in found} == {"a.md", "b.md"}
    assert all(b"secret" not in each.read_bytes() for each in index_folder.iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        change_bytes,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-4096]),
        lambda path: path.write_bytes(path.read_bytes() + b"more"),
        lambda path: path.chmod(0o622),
        lambda path: path.parent.chmod(0o777),
        lambda path: path.rename(path.with_name("x")).with_name(path.name).symlink_to("x"),
        replace_by_a_pipe,
    ],
)
async def test_what_is_damaged_or_open_to_others_is_not_used(folder, index_folder, used, damage):
    expected = await search(folder, "zebra")
    damage(next(index_folder.iterdir()))

    assert await search(folder, "zebra") == expected
    assert not used


async def test_the_index_of_another_folder_is_not_used(folder, index_folder, tmp_path):
    await search(folder, "zebra")
    (file,) = index_folder.iterdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("A koala has stripes.")
    await search(tmp_path / "other", "koala")
    (other,) = set(index_folder.iterdir()) - {file}
    other.rename(file)

    assert await search(folder, "koala") == []


async def test_a_damaged_file_is_written_again(folder, index_folder):
    await search(folder, "zebra")
    (file,) = index_folder.iterdir()
    change_bytes(file)
    damaged = file.read_bytes()

    await search(folder, "zebra")

    assert list(index_folder.iterdir()) == [file] and file.read_bytes() != damaged


async def test_another_users_folder_is_not_used(folder, index_folder, used, monkeypatch):
    await search(folder, "zebra")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

    assert await search(folder, "zebra") and not used
    assert list(index_folder.iterdir()) == []


async def test_what_a_killed_process_left_goes_with_the_next_index(folder, index_folder):
    await search(folder, "zebra")
    (file,) = index_folder.iterdir()
    file.with_name(f"{file.name}abc").write_bytes(b"half")
    (folder / "c.md").write_text("An ibex.")

    assert await search(folder, "ibex")
    assert list(index_folder.iterdir()) == [file]


async def test_the_indexes_not_used_for_longest_go_when_there_is_no_room(
    folder, index_folder, tmp_path, monkeypatch
):
    folders = [folder, tmp_path / "second", tmp_path / "third"]
    for each in folders[1:]:
        each.mkdir()
        (each / "a.md").write_text("A zebra has stripes.")
    await search(folder, "zebra")
    first = set(index_folder.iterdir())
    monkeypatch.setattr(
        kept_index, "MAX_KEPT_BYTES", 2 * next(index_folder.iterdir()).stat().st_size
    )
    await search(folders[1], "zebra")
    (second,) = set(index_folder.iterdir()) - first
    os.utime(second, (0, 0))
    await search(folder, "zebra")
    await search(folders[2], "zebra")

    assert len(list(index_folder.iterdir())) == 2 and second not in index_folder.iterdir()


async def test_without_a_cache_that_can_be_written_nothing_is_kept(
    folder, index_folder, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)

    assert await search(folder, "zebra") and await search(folder, "zebra")
    assert not index_folder.exists()


async def test_a_cache_in_the_current_folder_is_not_used(folder, monkeypatch):
    monkeypatch.setattr(kept_index, "user_cache_path", lambda *_, **__: Path("here"))

    assert await search(folder, "zebra")
    assert "here" not in os.listdir()


async def test_a_small_folder_leaves_nothing_behind(folder, index_folder, monkeypatch):
    await search(folder, "zebra")
    monkeypatch.setattr(kept_index, "MIN_KEPT_CHARS", 2_000_000)
    (folder / "b.md").unlink()

    assert await search(folder, "zebra")
    assert list(index_folder.iterdir()) == []
