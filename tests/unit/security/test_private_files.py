"""What runs write is for their user alone, whatever the umask is and whatever was there before."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graph import arun
from graph.settings import Settings
from graph.stores.sqlite import open_saver
from nodes.errors import StoreError
from nodes.security.private_files import make_private_folder, open_private_file, tighten_mode
from tests.endpoint import Endpoint, Scenario, script_tasks
from tests.teams import make_team


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """Create files for everybody, as far as nothing else is said."""
    before = os.umask(0)
    yield
    os.umask(before)


def read_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def list_modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): read_mode(path) for path in folder.rglob("*")}


async def test_all_that_a_run_writes_is_private(
    endpoint: Endpoint, settings: Settings, tmp_path: Path
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()})))
    home = tmp_path / "new" / ".supervise"
    kept = settings.model_copy(update={"database_url": f"sqlite:///{home}/runs.sqlite"})

    outcome = await arun("Compare the parts.", team=make_team(), settings=kept)

    modes = list_modes(home)
    assert outcome.status == "done"
    assert {"runs.sqlite", f"traces/{outcome.thread}.jsonl", "locks"} <= modes.keys()
    assert {read_mode(home), read_mode(home.parent)} == {0o700}
    assert {mode for path, mode in modes.items() if (home / path).is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if (home / path).is_file()} == {0o600}


async def test_what_an_earlier_release_wrote_is_tightened_when_it_is_opened(
    endpoint: Endpoint, settings: Settings, tmp_path: Path
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": ()})))
    home = tmp_path / ".supervise"
    kept = settings.model_copy(update={"database_url": f"sqlite:///{home}/runs.sqlite"})
    outcome = await arun("Compare the parts.", team=make_team(), settings=kept)
    trace = home / "traces" / f"{outcome.thread}.jsonl"
    for path in (home, home / "traces", home / "runs.sqlite", trace):
        path.chmod(0o755 if path.is_dir() else 0o644)

    await arun("Compare the parts.", team=make_team(), settings=kept, thread=outcome.thread)

    assert [read_mode(path) for path in (home, home / "traces")] == [0o700, 0o700]
    assert [read_mode(path) for path in (home / "runs.sqlite", trace)] == [0o600, 0o600]


def test_a_folder_that_the_user_shares_is_not_changed_but_new_ones_in_it_are_private(
    tmp_path: Path,
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)

    make_private_folder(shared)
    make_private_folder(shared / "traces")

    assert [read_mode(path) for path in (shared, shared / "traces")] == [0o755, 0o700]


async def test_the_file_of_another_application_is_refused_with_the_mode_it_has(
    tmp_path: Path,
) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE songs (name TEXT)")
    path.chmod(0o644)

    with pytest.raises(StoreError, match="another application's"):
        async with open_saver(path):
            pass

    assert read_mode(path) == 0o644


def test_a_folder_that_is_a_link_leads_to_no_change_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o755)
    (tmp_path / ".supervise").symlink_to(elsewhere)

    make_private_folder(tmp_path / ".supervise")

    assert read_mode(elsewhere) == 0o755


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "traces").touch()

    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "traces")


def test_a_file_that_is_opened_again_keeps_its_content_and_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text("kept ")
    path.chmod(0o666)

    with open(path, "a", opener=open_private_file) as file:
        file.write("added")

    assert (path.read_text(), read_mode(path)) == ("kept added", 0o600)


def test_a_mode_that_is_tighter_stays_and_a_missing_file_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "read_only"
    path.touch(0o440)

    tighten_mode(path)
    tighten_mode(tmp_path / "missing")

    assert read_mode(path) == 0o400
