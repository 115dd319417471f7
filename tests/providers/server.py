"""A server of one provider's protocol, which plays a run of two tasks."""

import json
from typing import Any, Final

from aiohttp import web

from tests.providers.wires import Wire

DESCRIPTION: Final = "Find the price of {part} in euros, with its source."
EXPRESSION: Final = "6 * 7"
REPLIES: Final[dict[str, Any]] = {
    "Plan": {
        "tasks": [
            {"id": "a", "worker": "researcher", "description": DESCRIPTION.format(part="part A")},
            {"id": "b", "worker": "researcher", "description": DESCRIPTION.format(part="part B")},
        ]
    },
    "calculate": {"expression": EXPRESSION},
    "Report": {"output": "It costs 42 euros.", "confidence": 90},
    "Answer": {"text": "Both parts cost 42 euros.", "confidence": 90},
}


class ProviderServer:
    """Answers each request with a call of the tool, or the JSON of the schema, it asks for."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.bodies, self.paths = wire, list[Any](), list[str]()
        self.app = web.Application()
        self.app.router.add_post("/{path:.*}", self.respond)

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        body = await request.json()
        self.bodies.append(body)
        self.paths.append(request.path)
        offered = self.wire.read_wanted(body)
        name = "Report" if "Report" in offered else offered[0]
        if "calculate" in offered and EXPRESSION not in json.dumps(body):
            name = "calculate"
        value = REPLIES[name]
        if (body.get("format") or {}).get("title") == "ToolCall":
            value = {"name": name, "arguments": value}
        streams = body.get("stream") or "stream" in request.path.lower()
        if not streams or self.wire.write_stream is None:
            return web.json_response(self.wire.write_reply(name, value))
        response = web.StreamResponse(headers={"Content-Type": self.wire.content_type})
        await response.prepare(request)
        for part in self.wire.write_stream(name, value):
            await response.write(part)
        return response

    @property
    def sent_text(self) -> str:
        """All that was sent, as text."""
        return json.dumps(self.bodies)
