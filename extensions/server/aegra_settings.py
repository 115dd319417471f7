"""Reads the settings of Aegra as Aegra itself reads them, and reports what is wrong."""

import logging
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from langgraph.checkpoint.serde import _msgpack
from pydantic import ValidationError

from extensions.server.start_problems import (
    EXAMPLE_PASSWORD,
    InstanceSettings,
    StartProblem,
    find_start_problems,
)
from graph.settings import Settings
from graph.stores.postgres_url import list_passwords
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import register_secrets


@dataclass(frozen=True)
class AegraSettings:
    """What Aegra will use."""

    instance: InstanceSettings
    database_url: str
    redis_url: str
    graphs: tuple[str, ...]
    """The names of the graphs in the configuration."""


def read_aegra_settings() -> AegraSettings:
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
    return AegraSettings(
        InstanceSettings(
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
        ),
        theirs.db.database_url_sync,
        theirs.redis.REDIS_URL if theirs.redis.REDIS_BROKER_ENABLED else "",
        tuple(config["graphs"]),
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


def report_start_problems() -> AegraSettings:
    """Return the settings of the server, and log a warning for each that is doubtful.

    Raises:
        SettingsInvalid: the server must not start with them.
    """
    settings = read_aegra_settings()
    found = list(find_start_problems(settings.instance))
    for problem in found:
        if not problem.is_fatal:
            LOGGER.warning("%s", problem)
    if fatal := [problem for problem in found if problem.is_fatal]:
        raise SettingsInvalid(
            "; ".join(problem.text for problem in fatal), next=_join_advice(fatal)
        )
    return settings


def _join_advice(problems: list[StartProblem]) -> str:
    return "; ".join(problem.next for problem in problems)
