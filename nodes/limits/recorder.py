"""What a run takes from outside, through one port: replies, results, decisions, order.

A recorder keeps it, or gives back what another one has kept. Without one nothing is kept.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.config import get_config

from nodes.errors.redaction import MASK, redact_text
from nodes.limits.patterns import Pattern
from nodes.limits.run_scope import get_run_scope
from nodes.limits.stop_requests import StopRequests

T = TypeVar("T")
HASH_CHARS: Final = 16
"""Of a section's hash, in hexadecimal digits: 64 bits."""

_inside: ContextVar[int] = ContextVar("inside_effect", default=0)
"""The number of the effect that is at work; 0 outside of one."""


def keep_value(value: Any) -> Any:
    """Return a JSON value as it is."""
    return value


@dataclass(kw_only=True)
class Effect:
    """One thing that a run takes from outside, such as the reply of a model.

    Which one it is, `kind`, `purpose`, `task` and `attempt` say; of several that are equal in
    these, the sections tell them apart.
    """

    kind: str
    """`model`, `tool`, `remote` or `fact`."""
    purpose: str
    task: str
    """The path of the task; empty for the supervisor's."""
    attempt: int
    sections: Mapping[str, str]
    """The hash of each part of the request, after redaction, by the name of the part."""
    dump: Callable[[Any], Any] = keep_value
    """Returns the result as JSON; of None, what is known after a failure."""
    load: Callable[[Any], Any] = keep_value
    """Returns what `dump` was given; also called after a failure."""
    listeners: Sequence[Callable[[str], None]] = ()
    heard: list[str] = field(default_factory=list)
    """The last text that the listeners were given, of each try."""

    def hear(self, text: str) -> None:
        """Keep the text of a reply so far."""
        if self.heard and text.startswith(self.heard[-1]):
            self.heard[-1] = text
        else:
            self.heard.append(text)


class Recorder(Protocol):
    """Keeps what passes it, or gives back what was kept."""

    is_replayed: bool
    """Nothing is asked outside: all comes from a record."""

    async def take(self, effect: Effect, make: Callable[[], Awaitable[T]]) -> T:
        """Return what an effect gives, or raise what it raises."""

    def read(self, key: str, measure: Callable[[], T], usual: Any) -> T:
        """Return a decision that depends on time, chance or load; as JSON it is equal to itself."""

    async def pass_event(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an event when it has its turn."""

    async def pass_point(self, name: str) -> None:
        """Return when a point of a run that its order depends on has its turn."""

    def note_tools(self, key: str, tools: Sequence[BaseTool]) -> None:
        """Keep the descriptions of a worker's tools, once."""

    def follow_stops(self, stops: StopRequests) -> None:
        """Keep which tasks a human stops, or stop those of the record at their turn."""


def get_recorder(config: RunnableConfig | None = None) -> Recorder | None:
    """Return the recorder of the run around; None without one, and inside an effect."""
    if _inside.get():
        return None
    try:
        return get_run_scope(config or get_config()).recorder
    except RuntimeError:  # outside a graph
        return None


def is_replayed(config: RunnableConfig | None = None) -> bool:
    """Return whether the run around comes from a record."""
    recorder = get_recorder(config)
    return recorder is not None and recorder.is_replayed


def read_outside(
    name: str,
    measure: Callable[[], T],
    config: RunnableConfig | None = None,
    *,
    usual: Any = None,
) -> T:
    """Return a decision or a measurement that another run of the same would not repeat.

    Args:
        measure: returns it, as a JSON value.
        usual: is not kept.
    """
    recorder = get_recorder(config)
    if recorder is None:
        return measure()
    return recorder.read(f"{name} {find_place(config or get_config())[0]}", measure, usual)


async def take_effect(effect: Effect, make: Callable[[], Awaitable[T]]) -> T:
    """Return what an effect gives, through the recorder of the run around."""
    recorder = get_recorder()
    return await (make() if recorder is None else recorder.take(effect, make))


async def take_fact(name: str, make: Callable[[], Awaitable[T]]) -> T:
    """Return what is known of the surroundings, such as a database's tables, as a JSON value."""
    if (recorder := get_recorder()) is None:
        return await make()
    task, attempt = find_place(get_config())
    fact = Effect(kind="fact", purpose=name, task=task, attempt=attempt, sections={})
    return await recorder.take(fact, make)


async def pass_point(name: str) -> None:
    """Return when a point of the run around has its turn, such as the begin of a task."""
    if recorder := get_recorder():
        await recorder.pass_point(f"{name} {get_run_scope(get_config()).outer_task}")


def find_place(config: RunnableConfig) -> tuple[str, int]:
    """Return the path of the task that a config belongs to, and the attempt; "" and 0 outside."""
    around = config.get("metadata", {})
    path = "/".join(filter(None, (get_run_scope(config).outer_task, around.get("task", ""))))
    return path, int(around.get("attempt", 0) or 0)


def get_effect() -> int:
    """Return the number of the effect that is at work here; 0 outside of one."""
    return _inside.get()


@contextmanager
def enter_effect(number: int) -> Iterator[None]:
    """Keep nothing of what is called inside but its events; with 0 keep it again."""
    token = _inside.set(number)
    try:
        yield
    finally:
        _inside.reset(token)


def hash_section(value: Any) -> str:
    """Return the hash of a part of a request, without a known secret."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    hidden = unify_masks(redact_text(text))
    return sha256(hidden.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def unify_masks(text: str) -> str:
    """Return a text in which a secret that was overwritten looks like one that was replaced."""
    return _MASKED.sub(MASK, text) if "*" in text else text


_MASKED: Final = Pattern(r"(\**\[secret\])+\**|\*{8,}")
