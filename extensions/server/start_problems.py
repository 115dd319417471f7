"""Finds what is wrong with the settings of a server that shares its runs with others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

APP: Final = "extensions.server.studio_access:app"
EXAMPLE_PASSWORD: Final = "change-me"
"""In `deploy/secrets.env.example`."""


@dataclass(frozen=True)
class InstanceSettings:
    """The settings of one instance that decide whether runs are safe there."""

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
    if settings.app != APP:
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
