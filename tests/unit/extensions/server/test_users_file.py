"""The file of a server's users: tokens, names, and files that are none."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from extensions.server.users_file import (
    MAX_FILE_BYTES,
    add_user,
    encode_identity,
    find_user,
    load_users,
)
from nodes.errors import FileUnreadable, SettingsInvalid


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "users.json"


def test_a_token_finds_its_user(path: Path) -> None:
    tokens = {name: add_user(path, name) for name in ("anna@example.org", "bob")}

    found = {find_user(load_users(path), token) for token in tokens.values()}

    assert found == {"anna@example.org", "bob"}


@pytest.mark.parametrize(
    "token", ["", ".", "bob", "bob.", "bob.guess", ".guess", "carol.guess", "x" * 10_000, "bob.é"]
)
def test_what_is_not_a_token_finds_nobody(path: Path, token: str) -> None:
    add_user(path, "bob")

    assert find_user(load_users(path), token) is None


def test_the_token_of_one_user_does_not_fit_another(path: Path) -> None:
    add_user(path, "bob")
    secret = add_user(path, "anna").partition(".")[2]

    assert find_user(load_users(path), f"bob.{secret}") is None


def test_the_file_holds_no_token_and_is_the_operators_alone(path: Path) -> None:
    token = add_user(path, "bob")

    assert token.partition(".")[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_token_replaces_the_old_one(path: Path) -> None:
    old, new = add_user(path, "bob"), add_user(path, "bob", has_crons=True)

    users = load_users(path)

    assert (find_user(users, old), find_user(users, new)) == (None, "bob")
    assert users["bob"].crons


@pytest.mark.parametrize("name", ["", "a b", "a/b", "../x", "system", "Anonymous", "é", "x" * 101])
def test_some_names_are_refused(path: Path, name: str) -> None:
    with pytest.raises(SettingsInvalid):
        add_user(path, name)

    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", '{"other": 1}', '{"users": {"bob": {}}}'),
        json.dumps({"users": {"system": {"salt": "0" * 32, "hash": "0" * 64}}}),
        '{"users": {"bob": {"salt": "zz", "hash": "0"}}}',
        "[" * 100_000,
    ],
)
def test_another_file_is_refused_in_one_line(path: Path, content: str) -> None:
    path.write_text(content)

    with pytest.raises(SettingsInvalid) as refused:
        load_users(path)

    assert "SUPERVISE_USERS" in refused.value.format_line()
    assert "\n" not in refused.value.format_line()
    with pytest.raises(SettingsInvalid):
        add_user(path, "bob")
    assert path.read_text() == content


def test_a_missing_a_huge_and_a_folder_are_no_files_of_users(path: Path, tmp_path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)

    for wrong in (path, tmp_path, tmp_path / "missing.json"):
        with pytest.raises(SettingsInvalid):
            load_users(wrong)


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileUnreadable, match="cannot be written"):
        add_user(tmp_path / "missing" / "users.json", "bob")


def test_identities_are_unique_and_hold_no_dot() -> None:
    names = ["a.b", "a-b", "ab", "a.b@c.d"]

    identities = {encode_identity(name) for name in names}

    assert len(identities) == len(names)
    assert not any("." in identity for identity in identities)


def test_users_that_are_added_at_once_are_all_kept(path: Path) -> None:
    names = [f"user{index}" for index in range(20)]

    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda name: add_user(path, name), names))

    users = load_users(path)
    assert [find_user(users, token) for token in tokens] == names


def test_a_file_that_everybody_may_write_is_refused(path: Path) -> None:
    add_user(path, "anna")
    path.chmod(0o666)

    with pytest.raises(SettingsInvalid, match="cannot be used") as refused:
        load_users(path)

    assert "everybody on this machine may write it" in str(refused.value.cause)
