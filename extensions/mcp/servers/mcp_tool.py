"""A tool of a server, as a worker's agent calls it, and the answer as content blocks."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from pydantic import PrivateAttr

from extensions.mcp.servers.listed_tool import ListedTool, McpAccess
from extensions.mcp.servers.server_files import ResolvedServer
from extensions.mcp.servers.session import CallFailed, McpSession, SessionLost, get_session
from nodes.errors import McpServerFailed, McpToolChanged, ToolFailed, ToolRefused
from nodes.errors.redaction import redact_text
from nodes.limits.nesting import MAX_LEVELS, is_nested_too_deeply
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import MCP_PREFIX
from nodes.security.tool_access import HAS_EFFECTS
from nodes.text.plain_text import sanitize_line
from nodes.text.tool_messages import flatten_content
from nodes.tools.framework.catalog import ConfirmedTool

Block = dict[str, Any]
"""A content block of a message: `{"type": "text", "text": …}`, or a kind and a size in bytes."""


MAX_ERROR_CHARS: Final = 1_000
MAX_NAME_CHARS: Final = 64
"""Limit of OpenAI for the name of a tool."""
_NOT_IN_NAME: Final = Pattern(r"[^A-Za-z0-9_-]+")


def read_result(result: CallToolResult) -> list[Block]:
    """Return the blocks of an answer; structured content counts where there is no other."""
    if not result.content and result.structuredContent is not None:
        text = json.dumps(result.structuredContent, ensure_ascii=False)
        return [{"type": "text", "text": text}]
    return [_read_block(block) for block in result.content]


def _read_block(block: ContentBlock) -> Block:
    match block:
        case TextContent():
            return {"type": "text", "text": block.text}
        case ImageContent() | AudioContent():
            return _name_part(block.type, len(block.data) * 3 // 4)
        case ResourceLink():
            return _name_part(f"link to {block.uri}")
        case EmbeddedResource(resource=BlobResourceContents(blob=blob)):
            return _name_part("file", len(blob) * 3 // 4)
        case EmbeddedResource(resource=resource):
            return {"type": "text", "text": getattr(resource, "text", "")}


def _name_part(kind: str, size: int = 0) -> Block:
    """Return the block of a part that is not read; LangChain makes text of types unknown to it."""
    return {"type": "file", "kind": kind, "bytes": size}


class McpTool(ConfirmedTool):
    """Calls a tool of a server, over the running loop's session."""

    _server: ResolvedServer = PrivateAttr()
    _listed: ListedTool = PrivateAttr()
    _may_have_effects: bool = PrivateAttr(True)

    async def _arun(self, /, **arguments: Any) -> list[Block]:
        """Return the content of the server's answer.

        Raises:
            ToolRefused: the arguments do not fit the schema.
            ToolFailed: the server failed, refused the call, or ended.
        """
        self.check_arguments(arguments)
        try:
            result = await self._call(arguments)
        except (CallFailed, SessionLost) as error:
            raise ToolFailed(str(error)) from None
        except (McpServerFailed, McpToolChanged) as error:
            raise ToolFailed(error.describe()) from None
        blocks = read_result(result)
        if result.isError:
            text = sanitize_line(flatten_content(blocks)[0], MAX_ERROR_CHARS)
            raise ToolFailed(f"the server reports an error: {redact_text(text) or 'without text'}")
        return blocks

    def _run(self, /, **arguments: Any) -> list[Block]:
        raise NotImplementedError("a server is called from an event loop")

    def check_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Do nothing if the arguments fit the tool's schema.

        Raises:
            ToolRefused: they do not; the message says which and why.
        """
        if is_nested_too_deeply(arguments):
            raise ToolRefused(f"the arguments are nested deeper than {MAX_LEVELS} levels")
        if problem := self._listed.arguments.find_problem(arguments):
            raise ToolRefused(f"the arguments do not fit its schema: {problem}")

    async def _call(self, arguments: dict[str, Any]) -> Any:
        session = await self._get_session()
        try:
            return await session.call(self._listed.name, arguments)
        except SessionLost as lost:
            if self.asks or self._may_have_effects:
                raise SessionLost(
                    f"the server ended during the call, which may have had its effect: {lost}"
                ) from None
        session = await self._get_session()
        return await session.call(self._listed.name, arguments)

    async def _get_session(self) -> McpSession:
        """Return an open session, in which the tool is still the same."""
        session = await get_session(self._server)
        now = {tool.name: tool.digest for tool in session.tools}
        if now.get(self._listed.name) != self._listed.digest:
            raise McpToolChanged(
                f"tool {self._listed.name} of MCP server {self._server.name} has changed",
                next="run supervise check --online TEAM, then try again",
            )
        return session


def build_mcp_tool(server: ResolvedServer, listed: ListedTool, access: McpAccess) -> McpTool:
    """Return a server's tool for a worker's agent.

    Its description is marked as the server's words: it is untrusted, like all that a server sends.
    """
    words = listed.description or "no description"
    tool = McpTool(
        name=build_tool_name(server.name, listed.name),
        description=f"Tool of the MCP server {server.name}, in the server's words: {words}",
        args_schema=dict(listed.schema),
        metadata={**access.access.metadata, HAS_EFFECTS: True},
        origin=f"{MCP_PREFIX}{server.name}/{listed.name}",
        version=f"{listed.name} {listed.digest} {access}",
        asks=access.asks,
    )
    tool._server, tool._listed = server, listed
    tool._may_have_effects = access.may_have_effects
    return tool


def build_tool_name(server: str, tool: str) -> str:
    """Return the name that a model is shown, such as `github_search_issues`."""
    is_prefixed = tool == server or tool.startswith(f"{server}_")
    name = _NOT_IN_NAME.sub("_", tool if is_prefixed else f"{server}_{tool}")
    if len(name) <= MAX_NAME_CHARS:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME_CHARS - 9]}_{mark}"
