"""A run's recorder that has a record: what the run takes is there, in the order of the record."""

import asyncio
import random
import time
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeVar

from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.types import Interrupt

from extensions.replay.record_file import Entry, Segment
from extensions.replay.virtual_loop import VirtualLoop
from graph.runs.event_log import EventListener
from nodes.errors import SupervisorError, ToolFailed, ToolRefused, walk_subclasses
from nodes.limits.recorder import Effect, unify_masks
from nodes.limits.stop_requests import StopRequests
from nodes.telemetry.events import send_event
from nodes.text.plain_text import sanitize_line
from state import Usage

T = TypeVar("T")
CLOCK_FIELDS: Final = frozenset(("t", "seconds"))
"""Of an event: they are the record's."""
LATE_S: Final = 1.0
"""Seconds after the end of a record at which nothing can come any more."""
MAX_SHUFFLE_S: Final = 0.001
MAX_NAMED: Final = 5
MAX_CAUSE_CHARS: Final = 400
"""Of a miss, in which the record has words of its own."""


class ReplayMissed(SupervisorError):
    """A run asks for something else than its record has."""

    exit_code = 3


class Tape:
    """The recorder of a run that is replayed. Bound to a `VirtualLoop`.

    Each entry has its turn when all before it have had theirs. So tasks that work side by side see
    each other's reports, stops and budgets in the order in which they did.
    """

    is_replayed = True

    def __init__(
        self,
        segment: Segment,
        loop: VirtualLoop,
        *,
        shuffle: random.Random | None = None,
        on_event: EventListener | None = None,
        is_paced: bool = False,
        is_strict: bool = True,
    ) -> None:
        self.over: asyncio.Future[None] = loop.create_future()
        """Done when a part that has no end is used up; with an error for a miss."""
        self.events, self._loop, self._shuffle = list[Entry](), loop, shuffle
        self._on_event, self._is_paced, self._began_s = on_event, is_paced, time.monotonic()
        self._began_s -= loop.now_s
        self._is_strict = is_strict
        """Else only calls must be those of the record, and there may be fewer of them."""
        self._entries, self._is_ended = list(segment.entries), segment.ended is not None
        while not self._is_ended and self._entries and "cut" in self._entries[-1]:
            self._entries.pop()  # a cancel of the whole run ended them
        self._at, self._waiting = 0, dict[int, asyncio.Future[None]]()
        self._effects = defaultdict[tuple[Any, ...], list[tuple[int, Entry]]](list)
        self._inner = defaultdict[int, list[int]](list)
        self._events = defaultdict[tuple[Any, ...], deque[int]](deque)
        self._points = defaultdict[str, deque[int]](deque)
        self._readings = defaultdict[str, dict[int, Any]](dict)
        self._reads, self._stops = Counter[str](), StopRequests()
        self._cut = set[int]()
        """Effects that were cancelled, perhaps before their turn."""
        self._lost = list[str]()
        """What was asked for that the record does not have."""
        self._ends_s = loop.now_s
        self._ended_effects = {each["effect"] for each in self._entries if "effect" in each}
        self._index()
        loop.on_idle = self._note_idle
        self._skip()

    @property
    def left(self) -> int:
        """The number of entries that had no turn yet."""
        return len(self._entries) - self._at

    def close(self) -> None:
        """Do nothing more: the run has ended."""
        self._loop.on_idle = lambda _: None

    async def take(self, effect: Effect, make: Callable[[], Awaitable[T]]) -> T:
        """Return what the record has of an effect, or raise what it raised."""
        found = self._find_effect(effect)
        if found is None:
            return await self._wait_forever()
        index, entry = found
        for text in entry.get("heard", ()):
            for listen in effect.listeners:
                listen(text)
        if self._shuffle:
            await asyncio.sleep(self._shuffle.uniform(0, MAX_SHUFFLE_S))
        for inner in self._inner.get(entry["effect"], ()):
            await self._take_turn(inner)
            await send_event(self._entries[inner]["event"], get_config())
        if "cut" in entry:
            return await self._wait_until_cut(index)
        await self._take_turn(index)
        result: T = effect.load(entry.get("value"))
        if error := _build_failure(entry):
            raise error
        return result

    def read(self, key: str, measure: Callable[[], T], usual: Any) -> T:
        """Return the decision of the record."""
        number = self._reads[key]
        self._reads[key] += 1
        kept = self._readings[key].get(number, usual)
        return measure() if kept is None and usual is None else kept

    async def pass_event(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the event of the record at its turn; all but the clock's fields must be equal."""
        index = self._find_event(event)
        if index is None:
            if not self._is_strict:
                return event
            await self._wait_forever()
        await self._take_turn(index)
        kept: Entry = self._entries[index]["event"]
        return kept

    async def pass_point(self, name: str) -> None:
        """Wait for the turn of a point."""
        if self._points[name]:
            await self._take_turn(self._points[name].popleft())
        elif not self._is_ended:
            await self._wait_forever()

    def note_tools(self, key: str, tools: Sequence[BaseTool]) -> None:
        """Do nothing: the record has them."""

    def follow_stops(self, stops: StopRequests) -> None:
        """Stop the tasks that a human stopped, at their turn."""
        stops._stopped |= self._stops._stopped
        self._stops = stops

    def _index(self) -> None:
        for index, entry in enumerate(self._entries):
            for key, number, value in entry.get("readings", ()):
                self._readings[key][number] = value
            match entry:
                case {"effect": int(), "key": key}:
                    self._effects[tuple(key)].append((index, entry))
                case {"event": dict(event), "in": int(number)}:
                    self._inner[number].append(index)
                    del event
                case {"event": dict(event)}:
                    self._events[_name_event(event)].append(index)
                case {"point": str(name)}:
                    self._points[name].append(index)
            self._ends_s = max(self._ends_s, _read_time(entry))
        for found in self._effects.values():
            found.sort(key=lambda each: each[1]["effect"])

    def _find_effect(self, effect: Effect) -> tuple[int, Entry] | None:
        """Return the record's entry of an effect; None for one that a kill has cut short."""
        kept = self._effects.get(_name_effect(effect), [])
        for place, (_, entry) in enumerate(kept):
            if entry["sections"] == effect.sections:
                return kept.pop(place)
        # One that was cancelled before it was asked is cancelled again.
        self._lost.append(_describe_miss(effect, [entry for _, entry in kept]))
        return None

    def _find_event(self, event: Mapping[str, Any]) -> int | None:
        places = self._events[_name_event(event)]
        for place, index in enumerate(places):
            if not _list_differences(event, self._entries[index]["event"]):
                del places[place]
                return index
        if not self._is_strict:
            return places.popleft() if places else None
        said = f"event {_describe_event(event)} is not in the record"
        if places:
            kept = self._entries[places[0]]["event"]
            names = ", ".join(_list_differences(event, kept)[:MAX_NAMED])
            said = f"event {_describe_event(event)} differs in {names}"
        self._lost.append(said)
        return None

    async def _take_turn(self, index: int) -> None:
        if self._at < index:
            turn = self._waiting[index] = self._loop.create_future()
            await turn
        if self._is_paced:
            wait_s = _read_time(self._entries[index]) - (time.monotonic() - self._began_s)
            await asyncio.to_thread(time.sleep, max(0.0, wait_s))
        if self._at == index:
            self._pass(index)

    def _pass(self, index: int) -> None:
        entry = self._entries[index]
        self._loop.advance_to(_read_time(entry))
        if "event" in entry:
            self._show(entry["event"])
        self._at = index + 1
        self._skip()

    def _skip(self) -> None:
        """Pass the entries that no one comes to, and wake who has the next turn."""
        while self._at < len(self._entries):
            entry = self._entries[self._at]
            if "stop" in entry:
                self._loop.advance_to(_read_time(entry))
                self._stops.add(entry["stop"])
            elif "event" in entry and self._is_orphan(entry):
                self._show(entry["event"])
            elif {"effect", "event", "point"} & entry.keys() and self._at not in self._cut:
                break
            self._at += 1
        if (turn := self._waiting.pop(self._at, None)) and not turn.done():
            turn.set_result(None)
        if self._at == len(self._entries) and not self._is_ended and not self.over.done():
            self.over.set_result(None)

    def _show(self, event: Entry) -> None:
        self.events.append(event)
        if self._on_event:
            self._on_event(event)

    def _is_orphan(self, entry: Entry) -> bool:
        """Return whether an event was emitted inside an effect that a kill has cut short."""
        return "in" in entry and entry["in"] not in self._ended_effects

    async def _wait_until_cut(self, index: int) -> NoReturn:
        try:
            await self._wait_forever()
        except asyncio.CancelledError:
            if self._at == index:
                self._pass(index)
            self._cut.add(index)
            raise

    async def _wait_forever(self) -> NoReturn:
        await self._loop.create_future()
        raise AssertionError("what waits for ever is cancelled")

    def _note_idle(self, next_s: float) -> None:
        """Fail when nothing but a wait beyond the record is left."""
        if self.over.done() or next_s <= self._find_next_s() + LATE_S:
            return
        turns = [index for index, turn in self._waiting.items() if not turn.done()]
        if turns and not self._is_strict:
            self._at = min(turns)
            self._skip()
        elif self._lost:
            self._fail(self._lost[0])
        else:
            left = self._entries[self._at :]
            place = _describe_entry(left[0]) if left else "its end"
            self._fail(f"the run does not come to {place}")

    def _find_next_s(self) -> float:
        """Return the second until which a timer may be what the run waits for."""
        left = () if self._is_strict else self._entries[self._at :]
        return next(filter(None, map(_read_time, left)), self._ends_s)

    def _fail(self, cause: str) -> None:
        if not self.over.done():
            self.over.set_exception(
                ReplayMissed(
                    "the run is not the one of the record",
                    cause=sanitize_line(cause, MAX_CAUSE_CHARS),
                    kept="the record",
                    next="replay it with the team and the version it was made with",
                )
            )


def _build_failure(entry: Entry) -> BaseException | None:
    """Return the error of an entry, of a class that this program has; nothing is imported."""
    if asked := entry.get("asked"):
        return GraphInterrupt([Interrupt(value=each["value"], id=each["id"]) for each in asked])
    if not (failure := entry.get("failure")):
        return None
    name, fields = failure["class"], failure.get("fields")
    known = {kind.__name__: kind for kind in walk_subclasses(SupervisorError)}
    if fields is not None and name in known:
        own_kind = known[name]
        error, parts = own_kind.__new__(own_kind), {n: str(fields.get(n) or "") for n in _PARTS}
        SupervisorError.__init__(error, parts.pop("what"), **parts)
        unset = fields.keys() - {*_PARTS, *dir(own_kind)}
        own = {n: fields[n] for n in unset}
        vars(error).update(own)
        if usage := failure.get("usage"):
            error.usage = Usage.model_validate(usage)
        return error
    kinds: tuple[type[Exception], ...] = (ToolFailed, ToolRefused, *ToolRefused.__subclasses__())
    kind = next((each for each in kinds if each.__name__ == name), RuntimeError)
    return kind(failure["said"])


_PARTS: Final = ("what", "cause", "kept", "next")


def _name_event(event: Mapping[str, Any]) -> tuple[Any, ...]:
    return event.get("kind"), event.get("task"), event.get("worker")


def _read_time(entry: Entry) -> float:
    """Return the second of the run at which an entry was kept; 0 where it has none."""
    match entry:
        case {"event": {"t": float() | int() as t}}:
            return float(t)
        case {"at": [_, float() | int() as t]} | {"at": float() | int() as t}:
            return float(t)
        case _:
            return 0.0


def _list_differences(event: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """Return the fields in which two events differ, without those of the clock."""
    fields = sorted((event.keys() | kept.keys()) - CLOCK_FIELDS)
    return [
        path for name in fields for path in _compare(event.get(name), kept.get(name), str(name))
    ]


def _compare(value: Any, kept: Any, path: str = "") -> list[str]:
    """Return where a value differs from the one of a record, in which a tuple is a list."""
    match value, kept:
        case (list() | tuple(), list()) if len(value) == len(kept):
            pairs = {f"[{place}]": pair for place, pair in enumerate(zip(value, kept, strict=True))}
        case (dict(), dict()):
            texts = {str(key): item for key, item in value.items()}
            names = sorted(texts.keys() | kept.keys())
            if path.rpartition(".")[2] == "estimate":  # earlier releases say less in it
                names = sorted(kept)
            pairs = {f".{name}": (texts.get(name), kept.get(name)) for name in names}
        case _:
            return [] if value == kept or _is_same_text(str(value), kept) else [path]
    return [found for name, pair in pairs.items() for found in _compare(*pair, f"{path}{name}")]


def _is_same_text(text: str, kept: Any) -> bool:
    return isinstance(kept, str) and unify_masks(text) == unify_masks(kept)


def _describe_event(event: Mapping[str, Any]) -> str:
    about = f" of {event['task']}" if event.get("task") else ""
    return f"`{event.get('kind')}`{about}"


def _describe_effect(kind: str, purpose: str, task: str, attempt: int) -> str:
    about = f" of {task}, attempt {attempt}" if task else ""
    return f"{kind} `{purpose}`{about}"


def _describe_entry(entry: Entry) -> str:
    match entry:
        case {"effect": _, "key": key}:
            return _describe_effect(*key)
        case {"event": dict(event)}:
            return f"event {_describe_event(event)}"
        case _:
            return f"`{entry.get('point', '')}`"


def _describe_miss(effect: Effect, kept: Sequence[Entry]) -> str:
    """Return which call the record lacks, and in which parts the nearest of it differs."""
    said, ours = _describe_effect(*_name_effect(effect)), effect.sections
    if not kept:
        return f"{said} is not in the record"

    def compare(entry: Entry) -> list[str]:
        return [n for n in {**ours, **entry["sections"]} if ours.get(n) != entry["sections"].get(n)]

    names = min(map(compare, kept), key=len)
    return f"{said} differs from the record in: {', '.join(names)}"


def _name_effect(effect: Effect) -> tuple[str, str, str, int]:
    return effect.kind, effect.purpose, effect.task, effect.attempt
