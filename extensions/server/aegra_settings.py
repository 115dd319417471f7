"""The settings of a server that shares its runs with others, as Aegra reads them; what is wrong."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from langgraph.checkpoint.serde import _msgpack
from pydantic import ValidationError

from graph.settings import Settings
from graph.stores.postgres_url import list_passwords
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets

APP: Final = "extensions.server.studio_access:app"
APPS: Final = (APP, "supervisor_worker.studio:app")
EXAMPLE_PASSWORD: Final = "change-me"
"""In `deploy/secrets.env.example`."""


@dataclass(frozen=True)
class InstanceSettings:
    """The settings of one instance: what decides whether runs are safe there, and its servers."""

    is_strict_msgpack: bool
    """Whether a checkpoint can load only the classes that were registered for it."""
    has_broker: bool
    """Whether runs are distributed through Redis, and taken over when an instance dies."""
    lease_s: float
    heartbeat_s: float
    jobs: int
    """Runs that the instance works on at once."""
    app: str
    """The app that the configuration names."""
    traces_to_langsmith: bool
    own_trace_targets: str
    """Where the server itself sends spans, which hold prompts and answers."""
    unknown_variables: Mapping[str, str]
    """Variables named like settings of ours that are none, with the nearest name or nothing."""
    has_example_password: bool = False
    """Whether the password of the database or of Redis is that of the example file."""
    database_url: str = field(default="", repr=False)
    redis_url: str = field(default="", repr=False)
    """Empty without a broker."""


@dataclass(frozen=True)
class StartProblem:
    """What is wrong, and how it is corrected."""

    text: str
    next: str
    is_fatal: bool = False
    """Whether the server must not start."""

    def __str__(self) -> str:
        return f"{self.text}; {self.next}"


def find_start_problems(settings: InstanceSettings) -> Iterator[StartProblem]:
    """Yield the problems of an instance's settings, those that forbid a start first."""
    if not settings.is_strict_msgpack:
        yield StartProblem(
            "LANGGRAPH_STRICT_MSGPACK is not true, so that a checkpoint could load any class",
            "set LANGGRAPH_STRICT_MSGPACK=true in the environment; this server does not read"
            " `env` of langgraph.json",
            is_fatal=True,
        )
    if settings.lease_s <= 2 * settings.heartbeat_s:
        yield StartProblem(
            f"LEASE_DURATION_SECONDS ({settings.lease_s:g}) is not more than twice"
            f" HEARTBEAT_INTERVAL_SECONDS ({settings.heartbeat_s:g}), so that two instances"
            " could work on one run",
            "set a lease of three heartbeats",
            is_fatal=True,
        )
    if settings.has_example_password:
        yield StartProblem(
            "DATABASE_URL or REDIS_URL has the password of deploy/secrets.env.example",
            "choose another, such as the output of `openssl rand -hex 24`",
            is_fatal=True,
        )
    yield from _find_doubtful_settings(settings)
    for name, near in settings.unknown_variables.items():
        advice = f"did you mean {near}?" if near else ".env.example lists the settings"
        yield StartProblem(f"{name} is not a setting", advice)


def _find_doubtful_settings(settings: InstanceSettings) -> Iterator[StartProblem]:
    if not settings.has_broker:
        yield StartProblem(
            "REDIS_BROKER_ENABLED is not true, so that no other instance finishes the runs of"
            " one that dies",
            "set it, and REDIS_URL",
        )
    elif settings.jobs == 0:
        yield StartProblem(
            "WORKER_COUNT is 0, so that this instance accepts runs and works on none",
            "set it, unless others do the work",
        )
    if settings.app not in APPS:
        yield StartProblem(
            f"the configuration does not name {APP} as `http.app`, so that unknown settings"
            " of a run are dropped instead of refused",
            "point AEGRA_CONFIG to langgraph.json of the checkout",
        )
    if settings.traces_to_langsmith:
        yield StartProblem(
            "LANGSMITH_TRACING is true: requests, documents and answers are sent to LangSmith",
            "unset it if they must not leave",
        )
    if settings.own_trace_targets:
        yield StartProblem(
            f"OTEL_TARGETS is {settings.own_trace_targets!r}: the server itself sends prompts"
            " and answers there, beside our spans",
            "unset it, and use SUPERVISE_OTEL",
        )


def read_aegra_settings() -> InstanceSettings:
    """Return what Aegra will use, and register its passwords for redaction.

    Raises:
        SettingsInvalid: a setting of Aegra's or of ours is invalid, Aegra is not installed, or
            there is no configuration.
    """
    ours, theirs, config = Settings(), *_load_aegra()
    passwords = [
        *read_passwords("DATABASE_URL", theirs.db.database_url_sync),
        *read_passwords("REDIS_URL", theirs.redis.REDIS_URL),
    ]
    register_secrets(passwords)
    http = config.get("http") or {}
    if not config.get("graphs"):
        raise SettingsInvalid(
            f"{theirs.app.AEGRA_CONFIG!r} is no configuration that names graphs",
            next="point AEGRA_CONFIG to langgraph.json of the checkout",
        )
    worker = theirs.worker
    return InstanceSettings(
        is_strict_msgpack=_msgpack.STRICT_MSGPACK_ENABLED,
        has_broker=theirs.redis.REDIS_BROKER_ENABLED,
        lease_s=worker.LEASE_DURATION_SECONDS,
        heartbeat_s=worker.HEARTBEAT_INTERVAL_SECONDS,
        jobs=worker.WORKER_COUNT * worker.N_JOBS_PER_WORKER,
        app=str(http.get("app", "")),
        traces_to_langsmith=ours.langsmith_tracing,
        own_trace_targets=theirs.observability.OTEL_TARGETS,
        unknown_variables=ours.find_unknown_variables(),
        has_example_password=EXAMPLE_PASSWORD in passwords,
        database_url=theirs.db.database_url_sync,
        redis_url=theirs.redis.REDIS_URL if theirs.redis.REDIS_BROKER_ENABLED else "",
    )


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


LOGGER: Final = logging.getLogger("supervise.server")


def report_start_problems() -> InstanceSettings:
    """Return the settings of the server, and log a warning for each that is doubtful.

    Raises:
        SettingsInvalid: the server must not start with them.
    """
    settings = read_aegra_settings()
    found = list(find_start_problems(settings))
    for problem in found:
        if not problem.is_fatal:
            LOGGER.warning("%s", problem)
    if fatal := [problem for problem in found if problem.is_fatal]:
        advice = "; ".join(problem.next for problem in fatal)
        raise SettingsInvalid("; ".join(problem.text for problem in fatal), next=advice)
    return settings
