"""Carry out the faults that replace or cut the response itself."""

import asyncio
import gzip
import json
import time
from email.utils import formatdate
from typing import Any

from aiohttp import web

from supervisor_worker.testing.endpoint.faults import Fault

DRIP_INTERVAL_S = 0.3

HTTP_ERRORS: dict[str, tuple[int, str, str]] = {
    "rate_limited": (429, "rate_limit_exceeded", "Rate limit reached, slow down."),
    "quota": (429, "insufficient_quota", "You exceeded your current quota."),
    "context_length": (400, "context_length_exceeded", "Maximum context length is 8192 tokens."),
    "unauthorized": (401, "invalid_api_key", "Incorrect API key provided: {key}."),
    "unknown_model": (404, "model_not_found", "The model `{model}` does not exist."),
    "error_in_200": (200, "server_error", "The server had an error."),
}

BROKEN_BODIES: dict[str, str] = {
    "broken_json": '{"id": "chatcmpl-1", "choices": [{',
    "html": "<html><body><h1>Captive portal</h1></body></html>",
    "empty": "",
    "null": "null",
    "list": "[]",
    "no_choices": '{"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": []}',
    "null_choices": '{"id": "chatcmpl-1", "object": "chat.completion", "choices": null}',
}


async def respond_with_fault(
    fault: Fault, request: web.Request, model: str
) -> web.StreamResponse | None:
    """Answer with the fault; None when the fault only changes what is said."""
    if fault.kind in HTTP_ERRORS:
        return build_error(fault, request, model)
    if fault.kind in BROKEN_BODIES:
        kind = "text/html" if fault.kind == "html" else "application/json"
        return web.Response(text=BROKEN_BODIES[fault.kind], content_type=kind)
    if fault.kind == "server_error":
        page = f"<html><body><h1>{fault.status}</h1>{'<p>upstream</p>' * 200}</body></html>"
        return web.Response(status=fault.status, text=page, content_type="text/html")
    return await _respond_slowly(fault, request)


async def _respond_slowly(fault: Fault, request: web.Request) -> web.StreamResponse | None:
    match fault.kind:
        case "hang":
            await asyncio.Event().wait()
        case "reset" if request.transport is not None:
            request.transport.abort()
        case "drip":
            return await _send_drip(request)
        case "huge":
            return await _send_huge_body(request, fault.size)
        case "gzip_bomb":
            packed = gzip.compress(b" " * fault.size + b"{}")
            headers = {"Content-Encoding": "gzip"}
            return web.Response(body=packed, headers=headers, content_type="application/json")
    return None


def build_refusal(message: str) -> web.Response:
    """Return a response with status 400."""
    error = {"message": message, "type": "invalid_request_error", "code": None}
    return web.json_response({"error": error}, status=400)


async def open_response(
    request: web.Request, content_type: str = "application/json", length: int | None = None
) -> web.StreamResponse:
    """Return a response whose body is still to be written, piece by piece."""
    response = web.StreamResponse()
    response.content_type, response.content_length = content_type, length
    await response.prepare(request)
    return response


async def send_half_body(request: web.Request, whole: bytes) -> web.StreamResponse:
    """Promise a whole body, send half of it and hang up."""
    response = await open_response(request, length=len(whole))
    await response.write(whole[: len(whole) // 2])
    close_connection(request)
    return response


def close_connection(request: web.Request) -> None:
    """Close the connection without a word."""
    if request.transport is not None:
        request.transport.close()


def build_error(fault: Fault, request: web.Request, model: str) -> web.Response:
    """Return the response of a fault that is an HTTP error."""
    status, code, words = HTTP_ERRORS[fault.kind]
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    message = words.replace("{key}", key).replace("{model}", model)
    content: dict[str, Any] = {"error": {"message": message, "type": code, "code": code}}
    headers = {}
    if fault.retry_after is not None:
        headers["Retry-After"] = _format_retry_after(fault.retry_after)
    return web.Response(
        status=status, text=json.dumps(content), headers=headers, content_type="application/json"
    )


def _format_retry_after(value: str) -> str:
    if value.startswith("date:"):
        return formatdate(time.time() + float(value.removeprefix("date:")), usegmt=True)
    return value


async def _send_drip(request: web.Request) -> web.StreamResponse:
    response = await open_response(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(DRIP_INTERVAL_S)


async def _send_huge_body(request: web.Request, size: int) -> web.StreamResponse:
    response = await open_response(request)
    piece = b" " * 65_536
    for _ in range(size // len(piece) + 1):
        await response.write(piece)
    return response
