"""A server's answer to a call, as content blocks without what a model does not read."""

import json
from typing import Any

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

Block = dict[str, Any]
"""A content block of a message: `{"type": "text", "text": …}`, or a kind and a size in bytes."""


def read_result(result: CallToolResult) -> list[Block]:
    """Return the blocks of an answer; structured content counts where there is no other."""
    if not result.content and result.structuredContent is not None:
        return [_make_text(json.dumps(result.structuredContent, ensure_ascii=False))]
    return [_read_block(block) for block in result.content]


def _read_block(block: ContentBlock) -> Block:
    match block:
        case TextContent():
            return _make_text(block.text)
        case ImageContent() | AudioContent():
            return _name_part(block.type, len(block.data) * 3 // 4)
        case ResourceLink():
            return _name_part(f"link to {block.uri}")
        case EmbeddedResource(resource=BlobResourceContents(blob=blob)):
            return _name_part("file", len(blob) * 3 // 4)
        case EmbeddedResource(resource=resource):
            return _make_text(getattr(resource, "text", ""))


def _name_part(kind: str, size: int = 0) -> Block:
    """Return the block of a part that is not read; LangChain makes text of types unknown to it."""
    return {"type": "file", "kind": kind, "bytes": size}


def _make_text(text: str) -> Block:
    return {"type": "text", "text": text}
