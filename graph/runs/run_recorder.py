"""Writes the record of a run: what it took from outside, in the order in which it took it.

A file beside the run's event log, `THREAD.record`: a gzip member for each process that worked on
the run, of one JSON value a line. A member begins with a line of `segment`, and, where the run has
ended or waits, ends with one of `end`. A long text is there once; later lines have its hash.
"""

import asyncio
import base64
import json
import logging
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Final, TypeVar

import orjson
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphInterrupt

from graph.runs.event_log import FORM_ERRORS
from graph.runs.record_members import (
    GZIP,
    MAX_LINE_BYTES,
    MAX_PLAIN_BYTES,
    RecordTooLarge,
    finish_last_member,
)
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from nodes.errors import SupervisorError
from nodes.errors.redaction import redact_bytes, redact_text, redact_value
from nodes.limits.recorder import Effect, enter_effect, get_effect, hash_section
from nodes.limits.stop_requests import StopRequests
from nodes.security.private_files import make_private_folder, open_private_file

T = TypeVar("T")
VERSION: Final = 1
LONG_CHARS: Final = 1_000
"""A text of so many characters is kept once."""
LONG_BYTES: Final = 4_000
"""Of an entry, from which its texts are looked at."""
TEXT_KEY: Final = "$text"
_QUOTED_KEY: Final = b'"$text"'
_LEVEL: Final = 3

_logger = logging.getLogger(__name__)


def get_record_path(thread: str, settings: Settings) -> Path:
    """Return the path of a thread's record."""
    return settings.home / "traces" / f"{thread}.record"


class RunRecorder:
    """Keeps what passes it in a file; what cannot be written ends the record, not the run."""

    is_replayed = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._zip = zlib.compressobj(_LEVEL, zlib.DEFLATED, GZIP)
        self._plain_bytes, self._began_s = 0, monotonic()
        self._effects = 0
        self._reads, self._readings = Counter[str](), list[list[Any]]()
        self._points = list[bytes]()
        self._texts, self._tools = set[str](), set[str]()

    def begin(self, segment: Mapping[str, Any]) -> None:
        """Begin the part of this process, with the input and the settings of the run."""
        with self._keep_running():
            make_private_folder(self._path.parent)
            self._plain_bytes = finish_last_member(self._path)
            # `end` closes it.
            self._file = open(self._path, "ab", opener=open_private_file)  # noqa: SIM115
        self._began_s = monotonic() - float(segment.get("elapsed_s", 0.0))
        self._write({"segment": {"version": VERSION, **segment}})

    def note_end(self, summary: Mapping[str, Any]) -> None:
        """Keep what the run has come to, as `summarize_state` has it."""
        self._write({"end": summary})

    def end(self) -> None:
        """End the part of this process."""
        if self._file is not None:
            with self._keep_running():
                self._file.write(self._zip.flush(zlib.Z_FINISH))
                self._file.close()
                self._file = None

    async def take(self, effect: Effect, make: Callable[[], Awaitable[T]]) -> T:
        """Return what an effect gives, and keep it when it has ended."""
        self._effects = number = self._effects + 1
        began_s = self._measure_s()
        try:
            with enter_effect(number):
                result = await make()
        except BaseException as error:
            failure = _describe_failure(error)
            self._write_effect(effect, number, began_s, None, failure)
            raise
        self._write_effect(effect, number, began_s, result, {})
        return result

    def read(self, key: str, measure: Callable[[], T], usual: Any) -> T:
        """Return a decision; the next line has it, unless it is the usual one."""
        value = measure()
        number = self._reads[key]
        self._reads[key] += 1
        if value != usual:
            self._readings.append([key, number, value])
        return value

    async def pass_event(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Keep an event; one that is emitted inside an effect names it."""
        inside = {"in": number} if (number := get_effect()) else {}
        self._write({"event": event, **inside})
        return event

    async def pass_point(self, name: str) -> None:
        """Keep that the run has come to a point; the next entry takes it to the file."""
        self._points.append(orjson.dumps({"point": name}))

    def note_tools(self, key: str, describe: Callable[[], list[dict[str, Any]]]) -> None:
        """Keep the descriptions of a worker's tools, once."""
        if key not in self._tools:
            self._tools.add(key)
            with self._keep_running():
                self._write({"tools": key, "described": describe()})

    def follow_stops(self, stops: StopRequests) -> None:
        """Keep which tasks a human stops."""
        stops.on_added = lambda task: self._write({"stop": task, "at": self._measure_s()})

    def _measure_s(self) -> float:
        return round(monotonic() - self._began_s, 6)

    def _write_effect(
        self, effect: Effect, number: int, began_s: float, result: Any, failure: Mapping[str, Any]
    ) -> None:
        kept: dict[str, Any] = {
            "effect": number,
            "key": [effect.kind, effect.purpose, effect.task, effect.attempt],
            "sections": effect.sections,
            "at": [began_s, self._measure_s()],
            **failure,
        }
        with self._keep_running():
            value = effect.dump(result)
            kept |= {"value": value} if value is not None else {}
            kept |= {"heard": effect.heard} if effect.heard else {}
            self._write(kept)

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        if self._readings:
            entry = {**entry, "readings": self._readings}
            self._readings = []
        with self._keep_running():
            lines, self._points = self._points, []
            line = _format(entry)
            if not line or len(line) >= LONG_BYTES or _QUOTED_KEY in line:
                short = self._shorten(entry, lines)
                line = _format(short) or json.dumps(short, default=str).encode()
            plain = b"\n".join((*lines, line, b""))
            self._plain_bytes += len(plain)
            if self._plain_bytes > MAX_PLAIN_BYTES or len(line) > MAX_LINE_BYTES:
                raise RecordTooLarge("it is as large as a record may be")
            written = self._zip.compress(redact_bytes(plain))
            self._file.write(written + self._zip.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def _shorten(self, value: Any, lines: list[bytes]) -> Any:
        """Return a JSON value with its long texts as hashes; a new one gets a line of its own."""
        match value:
            case str() if len(value) >= LONG_CHARS:
                text = redact_bytes(value.encode("utf-8", "replace")).decode()
                name = sha256(text.encode()).hexdigest()
                if name not in self._texts:
                    self._texts.add(name)
                    lines.append(orjson.dumps({TEXT_KEY: name, "text": text}))
                return {TEXT_KEY: name}
            case str():
                return value if value.isascii() else value.encode("utf-8", "replace").decode()
            case Mapping():
                kept = {_replace(key): self._shorten(item, lines) for key, item in value.items()}
                return {TEXT_KEY: kept} if TEXT_KEY in kept else kept
            case list() | tuple():
                return [self._shorten(item, lines) for item in value]
            case _:
                return value

    @contextmanager
    def _keep_running(self) -> Iterator[None]:
        """End the record, not the run, where a line cannot be made or written."""
        try:
            yield
        except (OSError, zlib.error, *FORM_ERRORS) as error:
            if self._file is not None:
                with suppress(OSError):  # closing writes the rest of a failed write
                    self._file.close()
            self._file = None
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            said = redact_text(said)
            _logger.warning("the record %s ends here, the run goes on: %s", self._path, said)


def _format(value: Any) -> bytes:
    """Return JSON; nothing for what half of a surrogate pair or a huge integer is in."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return b""


def _replace(key: Any) -> Any:
    return key.encode("utf-8", "replace").decode() if isinstance(key, str) else key


def _describe_failure(error: BaseException) -> dict[str, Any]:
    """Return an error as data: by its class, which a replay looks up among the known ones."""
    if isinstance(error, asyncio.CancelledError):
        return {"cut": True}
    if isinstance(error, GraphInterrupt):
        asked = error.args[0] if error.args else ()
        return {"asked": [{"id": each.id, "value": each.value} for each in asked]}
    named = {"class": type(error).__name__, "said": redact_text(str(error))}
    if isinstance(error, SupervisorError):
        fields = {key: value for key, value in vars(error).items() if not key.startswith("_")}
        usage = fields.pop("usage", None)
        named["fields"] = redact_value(fields)
        named |= {"usage": usage.model_dump(mode="json")} if usage else {}
    return {"failure": named}


def summarize_state(values: Mapping[str, Any], error: SupervisorError | None) -> dict[str, Any]:
    """Return the hash of each part of what a run has come to, for a replay to compare."""
    plan, answer = values.get("plan"), values.get("answer")
    parts = {
        "plan": plan and plan.model_dump(mode="json"),
        "reports": _dump_models(values.get("results", {})),
        "answer": answer and answer.model_dump(mode="json"),
        "bill": _dump_models(values.get("ledger", {})),
        "error": error and [error.code, str(error)],
    }
    hashes = {name: hash_section(part) for name, part in parts.items()}
    return {"status": values.get("status", ""), **hashes}


def _dump_models(models: Mapping[str, Any]) -> dict[str, Any]:
    return {name: model.model_dump_json() for name, model in models.items()}


def encode_value(value: Any) -> list[str]:
    """Return a value of our own types as text, by the serializer of checkpoints."""
    kind, data = build_strict_serializer().dumps_typed(value)
    return [kind, base64.b64encode(data).decode()]


def encode_input(given: Any) -> list[str]:
    """Return what a graph is given; of an input it reads no known secret, so none is kept."""
    return encode_value(redact_value(given) if isinstance(given, Mapping) else given)


async def describe_checkpoints(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig
) -> list[list[str]]:
    """Return the last checkpoint of each graph of a thread, with what was written beside it."""
    thread, found = config["configurable"]["thread_id"], dict[str, list[str]]()
    async for saved in saver.alist({"configurable": {"thread_id": thread}}):
        place = saved.config["configurable"]
        if (ns := place.get("checkpoint_ns", "")) not in found:
            kept = [ns, saved.checkpoint, saved.metadata, list(saved.pending_writes or ())]
            found[ns] = encode_value(kept)
    return list(found.values())
