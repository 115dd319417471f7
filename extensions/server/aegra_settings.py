"""The settings of a server that shares its runs with others, as Aegra reads them; what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from langgraph.checkpoint.serde import _msgpack
from pydantic import ValidationError

from graph.settings import Settings
from graph.stores.postgres_url import list_passwords
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets

EXAMPLE_PASSWORD: Final = "change-me"
"""In `deploy/secrets.env.example`."""


@dataclass(frozen=True)
class InstanceSettings:
    """The settings of one instance that decide whether runs are safe there."""

    is_strict_msgpack: bool
    """Whether a checkpoint can load only the classes that were registered for it."""
    lease_s: float
    heartbeat_s: float
    has_example_password: bool = False
    """Whether the password of the database or of Redis is that of the example file."""


@dataclass(frozen=True)
class StartProblem:
    """Why a server must not start, and how it is corrected."""

    text: str
    next: str


def find_start_problems(settings: InstanceSettings) -> Iterator[StartProblem]:
    """Yield what of an instance's settings forbids a start."""
    if not settings.is_strict_msgpack:
        yield StartProblem(
            "LANGGRAPH_STRICT_MSGPACK is not true, so that a checkpoint could load any class",
            "set LANGGRAPH_STRICT_MSGPACK=true in the environment; this server does not read"
            " `env` of langgraph.json",
        )
    if settings.lease_s <= 2 * settings.heartbeat_s:
        yield StartProblem(
            f"LEASE_DURATION_SECONDS ({settings.lease_s:g}) is not more than twice"
            f" HEARTBEAT_INTERVAL_SECONDS ({settings.heartbeat_s:g}), so that two instances"
            " could work on one run",
            "set a lease of three heartbeats",
        )
    if settings.has_example_password:
        yield StartProblem(
            "DATABASE_URL or REDIS_URL has the password of deploy/secrets.env.example",
            "choose another, such as the output of `openssl rand -hex 24`",
        )


def refuse_unsafe_settings() -> None:
    """Check what Aegra will use, and register its passwords for redaction.

    Raises:
        SettingsInvalid: the server must not start with it, a setting of Aegra's or of ours is
            invalid, Aegra is not installed, or there is no configuration.
    """
    _, theirs, config = Settings(), *_load_aegra()
    passwords = [
        *read_passwords("DATABASE_URL", theirs.db.database_url_sync),
        *read_passwords("REDIS_URL", theirs.redis.REDIS_URL),
    ]
    register_secrets(passwords)
    if not config.get("graphs"):
        raise SettingsInvalid(
            f"{theirs.app.AEGRA_CONFIG!r} is no configuration that names graphs",
            next="point AEGRA_CONFIG to langgraph.json of the checkout",
        )
    instance = InstanceSettings(
        is_strict_msgpack=_msgpack.STRICT_MSGPACK_ENABLED,
        lease_s=theirs.worker.LEASE_DURATION_SECONDS,
        heartbeat_s=theirs.worker.HEARTBEAT_INTERVAL_SECONDS,
        has_example_password=EXAMPLE_PASSWORD in passwords,
    )
    if problems := list(find_start_problems(instance)):
        advice = "; ".join(problem.next for problem in problems)
        raise SettingsInvalid("; ".join(problem.text for problem in problems), next=advice)


def _load_aegra() -> tuple[Any, dict[str, Any]]:
    """Return Aegra's settings, of its own type, and its configuration.

    Raises:
        SettingsInvalid: a setting of it is invalid, or it is not installed.
    """
    try:
        from aegra_api.config import load_config  # optional package
        from aegra_api.settings import Settings as Aegra  # optional package

        return Aegra(), load_config() or {}
    except ImportError as error:
        raise SettingsInvalid(
            "Aegra is not installed here",
            cause=str(error),
            next="install deploy/requirements.lock with Python 3.12 or newer",
        ) from None
    except ValidationError as error:
        raise SettingsInvalid(
            "; ".join(_describe_problem(each["loc"], each["msg"]) for each in error.errors()),
            next="change it in the environment",
        ) from None


def read_passwords(name: str, address: str) -> tuple[str, ...]:
    """Return the passwords in an address.

    Raises:
        SettingsInvalid: it cannot be read without doubt; clients of it would print parts of a
            password as a host or a port.
    """
    try:
        place = urlsplit(address).netloc.split("@")
        ports = [urlsplit(f"//{host}").port for host in place[-1].split(",")]
        is_clear = "://" in address and len(place) <= 2 and 0 not in ports
    except ValueError:
        is_clear = False
    if not is_clear:
        raise SettingsInvalid(
            f"{name} is not an address",
            next="scheme://user:password@host:port/name; write what is no letter or digit in"
            " the password as %XX",
        )
    return list_passwords(address)


def _describe_problem(place: tuple[int | str, ...], message: str) -> str:
    """Return a problem in words; that of a single field names its variable."""
    text = message.removeprefix("Value error, ").rstrip(".")
    return f"{place[0]}: {text}" if place else text
