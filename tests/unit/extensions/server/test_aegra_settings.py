"""Addresses with passwords, as they are read before a server starts."""

import pytest

from extensions.server.aegra_settings import read_passwords
from nodes.errors import SettingsInvalid


@pytest.mark.parametrize(
    ("address", "passwords"),
    [
        ("postgresql://u:secret@db:5432/x", ("secret",)),
        ("postgresql://u:s%40cret@db/x", ("s%40cret", "s@cret")),
        ("postgresql://u:secret@one:5432,two:5433/x", ("secret",)),
        ("postgresql:///x?host=/run/postgresql&password=secret", ("secret",)),
        ("redis://:secret@[::1]:6379/0", ("secret",)),
        ("redis://127.0.0.1:6379/0", ()),
        ("unix:///run/redis.sock?db=0", ()),
    ],
)
def test_the_passwords_of_an_address_are_found(address: str, passwords: tuple[str, ...]):
    assert read_passwords("DATABASE_URL", address) == passwords


@pytest.mark.parametrize("odd", ["@", "/", "?", "#", "["])
@pytest.mark.parametrize("scheme", ["postgresql", "redis"])
def test_a_password_that_could_be_taken_for_a_host_or_port_is_refused_unseen(scheme: str, odd: str):
    with pytest.raises(SettingsInvalid) as refused:
        read_passwords("DATABASE_URL", f"{scheme}://u:first{odd}second@db:5432/x")

    shown = refused.value.format_line()
    assert "DATABASE_URL is not an address" in shown
    assert "first" not in shown and "second" not in shown


@pytest.mark.parametrize("address", ["", "u secret", "postgresql://u:secret@db:many/x"])
def test_what_is_no_address_is_refused_unseen(address: str):
    with pytest.raises(SettingsInvalid) as refused:
        read_passwords("REDIS_URL", address)

    assert "secret" not in refused.value.format_line()
