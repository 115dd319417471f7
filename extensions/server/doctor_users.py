"""The check of `supervise doctor` for the file of a server's users."""

from collections.abc import Iterator

from extensions.server.users.users_file import load_users
from graph.extensions import DoctorCheck
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.text.counts import format_count


def check_users(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the file, if one is set; the server refuses everybody without it."""
    path = settings.users_file
    if path is None:
        return
    try:
        users = load_users(path)
    except SettingsInvalid as error:
        yield DoctorCheck("broken", "users", str(error), error.next)
    else:
        yield DoctorCheck("ok", "users", f"{path}: {format_count(len(users), 'user')}")
