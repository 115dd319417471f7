"""A server that sends every caller the same reply, and keeps what they sent."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

SAID = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
}


@dataclass
class OneReplyServer:
    """What is sent, and what came."""

    status: int = 200
    body: bytes = field(default_factory=lambda: json.dumps(SAID).encode())
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ("m",)
    base_url: str = ""
    seen_headers: list[dict[str, str]] = field(default_factory=list)
    seen_bodies: list[dict[str, Any]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        self.seen_headers.append({name.lower(): text for name, text in request.headers.items()})
        self.seen_bodies.append(await request.json())
        return web.Response(
            status=self.status,
            body=self.body,
            content_type=self.content_type,
            headers=dict(self.headers),
        )

    async def list_models(self, request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": name} for name in self.models]})

    async def show_page(self, request: web.Request) -> web.Response:
        return web.Response(text="<html>Welcome</html>", content_type="text/html")


@asynccontextmanager
async def run_server(**reply: Any) -> AsyncIterator[OneReplyServer]:
    """Start a server on a port of its own."""
    played = OneReplyServer(**reply)
    app = web.Application()
    app.router.add_post("/v1/chat/completions", played.answer)
    app.router.add_get("/v1/models", played.list_models)
    app.router.add_get("/page/models", played.show_page)
    async with TestServer(app) as server:
        played.base_url = str(server.make_url("/v1"))
        yield played
