"""Writes the record of a run: what it took from outside, in the order in which it took it.

A file beside the run's event log, `THREAD.record`: a gzip member for each process that worked on
the run, of one JSON value a line. A member begins with a line of `segment`, and, where the run has
ended or waits, ends with one of `end`.
"""

import asyncio
import json
import logging
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, TypeVar

import orjson
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt

from extensions.replay.described_tools import describe_tools
from extensions.replay.record_members import (
    GZIP,
    LEVEL,
    MAX_LINE_BYTES,
    MAX_PLAIN_BYTES,
    RecordTooLarge,
    finish_last_member,
)
from extensions.replay.run_state import describe_begin, summarize_state
from graph.around_run import BegunRun
from graph.runs.event_log import FORM_ERRORS
from graph.settings import Settings
from nodes.errors import SupervisorError
from nodes.errors.redaction import redact_bytes, redact_text, redact_value
from nodes.limits.recorder import Effect, enter_effect, get_effect
from nodes.limits.stop_requests import StopRequests
from nodes.schemas.team import Team
from nodes.security.private_files import make_private_folder, open_private_file
from state import Context, Tier

T = TypeVar("T")

_logger = logging.getLogger(__name__)


class RunRecorder:
    """Keeps what passes it in a file; what cannot be written ends the record, not the run."""

    is_replayed = False

    def __init__(self, path: Path, settings: Settings) -> None:
        self._path, self._settings = path, settings
        self._file: BinaryIO | None = None
        self._zip = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
        self._plain_bytes, self._began_s = 0, monotonic()
        self._effects = 0
        self._reads, self._readings = Counter[str](), list[list[Any]]()
        self._points = list[bytes]()
        self._tools = set[str]()

    async def begin(
        self,
        begun: BegunRun,
        given: Any,
        context: Context,
        *,
        team: Team,
        models: Mapping[Tier, str],
    ) -> None:
        """Begin the part of this process, with the input and the settings of the run."""
        self._open()
        segment = {
            "team": team.model_dump(mode="json"),
            "models": models,
            "context": asdict(context),
            **await describe_begin(begun, given, self._settings),
        }
        self._began_s = monotonic() - float(segment["elapsed_s"])
        self._write({"segment": segment})

    def _open(self) -> None:
        with self._keep_running():
            make_private_folder(self._path.parent)
            self._plain_bytes = finish_last_member(self._path)
            self._file = open(self._path, "ab", opener=open_private_file)  # noqa: SIM115  # `end` does

    def note_end(self, values: Mapping[str, Any], error: SupervisorError | None) -> None:
        """Keep the hash of each part of what the run has come to."""
        with self._keep_running():
            self._write({"end": summarize_state(values, error)})

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
        except BaseException as error:  # a cancel too: a replay raises it again
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

    def note_given(self, event: Mapping[str, Any]) -> None:
        """Keep an event that the run has from another one: a replay shows it, none emits it."""
        self._write({"event": event, "in": 0})

    async def pass_point(self, name: str) -> None:
        """Keep that the run has come to a point; the next entry takes it to the file."""
        self._points.append(orjson.dumps({"point": name}))

    def note_tools(self, key: str, tools: Sequence[BaseTool]) -> None:
        """Keep the descriptions of a worker's tools, once."""
        if key not in self._tools:
            self._tools.add(key)
            with self._keep_running():
                self._write({"tools": key, "described": describe_tools(tools)})

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
        readings, self._readings = self._readings, []
        points, self._points = self._points, []
        if self._file is None:
            return
        with self._keep_running():
            line = _format({**entry, "readings": readings} if readings else entry)
            plain = b"\n".join((*points, line, b""))
            self._plain_bytes += len(plain)
            if self._plain_bytes > MAX_PLAIN_BYTES or len(line) > MAX_LINE_BYTES:
                raise RecordTooLarge("it is as large as a record may be")
            written = self._zip.compress(redact_bytes(plain))
            self._file.write(written + self._zip.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

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
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a huge integer, half of a surrogate pair
        return json.dumps(value, default=str, ensure_ascii=False).encode("utf-8", "replace")


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
