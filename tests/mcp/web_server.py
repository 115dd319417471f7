"""An MCP server over HTTP, of the library: `python web_server.py TRANSPORT PORT`."""

import asyncio
import os
import sys

from mcp.server.fastmcp import Context, FastMCP

MAX_MESSAGE_BYTES = 8_000_000  # of a client of ours; importing its module takes a second

server = FastMCP("web", host="127.0.0.1", port=int(sys.argv[2]))


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
def show_header(context: Context) -> str:  # type: ignore[type-arg]  # the library's own form
    request = context.request_context.request
    return request.headers.get("x-token", "none") if request else "none"


@server.tool()
def big() -> str:
    return "x" * (MAX_MESSAGE_BYTES + 1)


@server.tool()
async def hang() -> str:
    await asyncio.sleep(60)
    return ""


@server.tool()
def die() -> str:
    os._exit(1)


if __name__ == "__main__":
    server.run(transport="sse" if sys.argv[1] == "sse" else "streamable-http")
