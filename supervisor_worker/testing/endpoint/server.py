"""The endpoint itself: an aiohttp server on a free port of this machine."""

import asyncio
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from supervisor_worker.testing.endpoint import fault_responses, wire
from supervisor_worker.testing.endpoint.faces import disguise_reply, find_refusal
from supervisor_worker.testing.endpoint.faults import Fault
from supervisor_worker.testing.endpoint.records import Call, Records
from supervisor_worker.testing.endpoint.request import Body, ModelRequest, read_request
from supervisor_worker.testing.endpoint.scenario import Scenario
from supervisor_worker.testing.endpoint.scripted_model import ModelReply, ScriptedModel

MAX_REQUEST_BYTES = 256 * 2**20
BACKLOG = 2048
MIN_SLEEP_S = 0.002

_USED_PORTS: set[int] = set()
"""Free ports once given out: what the process learned of a dead endpoint must not meet another."""


class Endpoint(Records):
    """Plays one scenario; `async with` it, or run it in a thread with `run_in_thread()`."""

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        port: int = 0,
        log: Path | None = None,
        keeps_bodies: bool = True,
    ) -> None:
        super().__init__(log)
        self.port, self.keeps_bodies = port, keeps_bodies
        self._runner: web.AppRunner | None = None
        self.load_scenario(scenario or Scenario())

    def load_scenario(self, scenario: Scenario) -> None:
        """Change to another scenario; the records stay."""
        self.scenario = scenario
        self._model = ScriptedModel(scenario)
        self._match_counts: Counter[Fault] = Counter()
        self._random = random.Random(scenario.seed)

    @property
    def base_url(self) -> str:
        """What a client is given, with its `/v1`."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        """Listen."""
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.router.add_post("/v1/chat/completions", self._answer_completion)
        app.router.add_get("/v1/models", self._send_models)
        app.router.add_get("/requests", self._send_records)
        app.router.add_delete("/requests", self._clear_records)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        listener = _open_listener(self.port)
        await web.SockSite(self._runner, listener, backlog=BACKLOG).start()
        self.port = listener.getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and drop what is open."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.close_log()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    @contextmanager
    def run_in_thread(self) -> Iterator[Self]:
        """Run in a thread with a loop of its own, for tests without one."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), loop).result()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self.stop(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _answer_completion(self, request: web.Request) -> web.StreamResponse:
        began_s = time.monotonic()
        raw = await request.read()
        body: Body = json.loads(raw)
        asked = read_request(body)
        call = Call(
            number=len(self.requests) + 1,
            schema=asked.schema,
            task=asked.task,
            tools=asked.tools,
            model=body.get("model", ""),
            stream=bool(body.get("stream")),
            body_bytes=len(raw),
            began_s=began_s,
            body=body,
        )
        with self.record_call(call):
            try:
                return await self._respond_to_call(request, asked, call)
            except asyncio.CancelledError:
                call.client_gone = True
                raise
            except ConnectionError:
                call.client_gone = True
                return web.Response()
            finally:
                if not self.keeps_bodies:
                    call.body = {}

    async def _respond_to_call(
        self, request: web.Request, asked: ModelRequest, call: Call
    ) -> web.StreamResponse:
        wanted = self.scenario.api_key
        if wanted and request.headers.get("Authorization") != f"Bearer {wanted}":
            return fault_responses.build_error(Fault(kind="unauthorized"), request, call.model)
        if refusal := find_refusal(self.scenario.faces, call.body):
            call.fault = "refused"
            return fault_responses.build_refusal(refusal)
        extra_s, fault = self._choose_fault(asked, call.model)
        call.fault = fault.kind if fault else ""
        if fault:
            await asyncio.sleep(fault.seconds)
            if (
                broken := await fault_responses.respond_with_fault(fault, request, call.model)
            ) is not None:
                return broken
        call.latency_s = self._model.compute_latency_s(asked) + extra_s
        if call.latency_s and not (call.stream and self.scenario.is_paced):
            await asyncio.sleep(call.latency_s)
        reply = disguise_reply(self.scenario.faces, self._model.build_reply(asked, call.body))
        return await _send_reply(request, reply, call, fault, self.scenario)

    def _choose_fault(self, asked: ModelRequest, model: str) -> tuple[float, Fault | None]:
        extra_s, struck = 0.0, None
        for fault in self.scenario.faults:
            if fault.schema not in (None, asked.schema) or fault.task not in (None, asked.task):
                continue
            if fault.model not in (None, model):
                continue
            self._match_counts[fault] += 1
            hit = fault.nth is None or self._match_counts[fault] in fault.nth
            if not hit or self._random.random() >= fault.share:
                continue
            if fault.kind == "latency":
                extra_s += fault.seconds
            else:
                struck = struck or fault
        return extra_s, struck

    async def _send_models(self, request: web.Request) -> web.Response:
        names = [{"id": name, "object": "model"} for name in self.scenario.models]
        return web.json_response({"object": "list", "data": names})

    async def _send_records(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "calls": [call.to_json() for call in self.requests],
                "max_in_flight": self.max_in_flight,
                "processor_s": time.process_time(),
            }
        )

    async def _clear_records(self, request: web.Request) -> web.Response:
        self.clear_calls()
        return web.json_response({"processor_s": time.process_time()})


async def _send_reply(
    request: web.Request, reply: ModelReply, call: Call, fault: Fault | None, scenario: Scenario
) -> web.StreamResponse:
    kind = fault.kind if fault else ""
    reply, finish, usage = _apply_fault(kind, reply, call.body_bytes)
    if call.stream and "stream_as_json" not in scenario.faces:
        events = wire.build_events(reply, call.body, call.number, finish=finish, usage=usage)
        return await _stream_events(request, list(events), call, fault, scenario)
    content = wire.build_completion(reply, call.body, call.number, finish=finish, usage=usage)
    if kind == "null_content":
        content["choices"][0]["message"] = {"role": "assistant", "content": None}
    if kind in (*CUTS, "done_without_finish"):
        return await fault_responses.send_half_body(request, json.dumps(content).encode())
    return web.json_response(content)


CUTS = ("cut_stream", "cut_event", "half_body", "stream_error")

BROKEN_USAGES: Mapping[str, Any] = {
    "no_usage": None,
    "zero_usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "bad_usage": {"prompt_tokens": -5, "completion_tokens": 10**30, "total_tokens": -1},
}


def _apply_fault(
    kind: str, reply: ModelReply, body_bytes: int
) -> tuple[ModelReply, str | None, Any]:
    finish: str | None = wire.get_finish_reason(reply)
    usage: Any = wire.estimate_usage(reply, body_bytes)
    match kind:
        case "length":
            written = reply.content
            text = written if isinstance(written, str) else json.dumps(written)
            reply, finish = ModelReply(reply.name, text[: -len(text) // 3]), kind
        case "content_filter":
            finish = kind
        case "no_finish" | "done_without_finish":
            finish = None
        case "broken_arguments":
            reply = ModelReply(reply.name, '{"goal": "half an arg')
        case "prose":
            reply, finish = (
                ModelReply(content="I would rather talk about it in my own words."),
                "stop",
            )
        case "null_content":
            reply, finish = ModelReply(content=""), "stop"
        case "no_usage" | "zero_usage" | "bad_usage":
            usage = BROKEN_USAGES[kind]
    return reply, finish, usage


async def _stream_events(
    request: web.Request,
    events: Sequence[bytes],
    call: Call,
    fault: Fault | None,
    scenario: Scenario,
) -> web.StreamResponse:
    response = await fault_responses.open_response(request, "text/event-stream")
    spread_s = call.latency_s if scenario.is_paced else 0.0
    for index, event in enumerate(events):
        await _sleep_until(call.began_s + spread_s * (index + 1) / len(events))
        if fault and fault.kind in CUTS and index == fault.chunks:
            if fault.kind == "stream_error":
                error = {"error": {"message": "The server had an error.", "type": "server_error"}}
                await response.write(b"data: " + json.dumps(error).encode() + b"\n\n")
            elif fault.kind != "cut_stream":
                await response.write(event[: len(event) // 2])
                fault_responses.close_connection(request)
            return response
        await asyncio.sleep(scenario.chunk_delay_s)
        await response.write(event)
    await response.write(b"data: [DONE]\n\n")
    return response


async def _sleep_until(moment_s: float) -> None:
    """Sleep to a moment of the monotonic clock; not for what a loop cannot measure."""
    if (left_s := moment_s - time.monotonic()) > MIN_SLEEP_S:
        await asyncio.sleep(left_s)


def _open_listener(port: int) -> socket.socket:
    while True:
        listener = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
        given = listener.getsockname()[1]
        if port or given not in _USED_PORTS:
            _USED_PORTS.add(given)
            return listener
        listener.close()
