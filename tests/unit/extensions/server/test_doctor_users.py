"""What `supervise doctor` finds out about the file of a server's users."""

from pathlib import Path

from extensions.server.doctor_users import check_users
from extensions.server.users.users_file import add_user
from graph.settings import Settings


def test_without_a_file_nothing_is_checked():
    assert list(check_users(Settings())) == []


def test_the_users_of_a_file_are_counted(tmp_path: Path):
    path = tmp_path / "users.json"
    add_user(path, "anna@example.org")

    [check] = check_users(Settings(users_file=path))

    assert (check.level, check.text) == ("ok", f"{path}: 1 user")


def test_a_missing_file_is_broken_and_the_line_says_how_to_write_one(tmp_path: Path):
    [check] = check_users(Settings(users_file=tmp_path / "none.json"))

    assert check.level == "broken"
    assert check.text.endswith("which cannot be used: No such file or directory")
    assert "add-user" in check.fix
