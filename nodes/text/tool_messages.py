"""What tools answer: the text of content blocks, and messages without what users need not read."""

from collections.abc import Mapping, Sequence

from nodes.limits.patterns import Pattern
from nodes.text.plain_text import sanitize_line

_ADVICE = Pattern(r"; [^;]*\breport what is missing\.?$")
"""A tool's advice to its worker does not concern the user who reads the answer."""


def drop_advice(reason: str) -> str:
    """Return a tool's message without its advice to the worker."""
    return _ADVICE.sub("", reason)


MAX_TYPE_CHARS = 100
MAX_NAMED_BLOCKS = 8
"""Blocks without text that are named one by one; more are counted."""


def flatten_content(content: str | Sequence[object]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a message's content, and what of it was not read, in words.

    A block that holds no text, such as an image, appears in the text as its name and size.
    """
    if isinstance(content, str):
        return content, ()
    texts, unread = list[str](), list[str]()
    for block in content:
        if (text := _read_text(block)) is not None:
            texts.append(text)
            continue
        unread.append(_name_block(block))
        if len(unread) <= MAX_NAMED_BLOCKS:
            texts.append(f"[{unread[-1]}, not read]")
    if (more := len(unread) - MAX_NAMED_BLOCKS) > 0:
        texts.append(f"[{more} more parts, not read]")
        unread = [*unread[:MAX_NAMED_BLOCKS], f"{more} more parts"]
    return "\n".join(texts), tuple(unread)


def strip_media(content: str | Sequence[object]) -> str | list[object]:
    """Return a message's content with the name and size of each block that holds no text."""
    if isinstance(content, str):
        return content
    return [block if _read_text(block) is not None else _describe_block(block) for block in content]


def _read_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    is_text = isinstance(block, Mapping) and block.get("type") in ("text", None)
    text = block.get("text") if is_text and isinstance(block, Mapping) else None
    return text if isinstance(text, str) else None


def _name_block(block: object) -> str:
    """Return what a block is and how large, in words: `image, 40 kB`."""
    described = _describe_block(block)
    kind, size = str(described["kind"]), described["bytes"]
    return f"{kind}, {_format_size(size)}" if isinstance(size, int) and size else kind


def _describe_block(block: object) -> dict[str, object]:
    """Return the kind of a block and its bytes; 0 where these are unknown."""
    if not isinstance(block, Mapping):
        return {"kind": "part of an unknown kind", "bytes": 0}
    named = block.get("kind") or block.get("type") or "part of an unknown kind"
    kind = sanitize_line(str(named), MAX_TYPE_CHARS)
    size = block.get("bytes")
    if not isinstance(size, int):
        payloads = (block.get(key) for key in ("base64", "data", "image_url", "source"))
        size = max((len(each) * 3 // 4 for each in payloads if isinstance(each, str)), default=0)
    return {"kind": kind, "bytes": size}


def _format_size(size: int) -> str:
    return f"{size:,} bytes" if size < 1_000 else f"{size / 1_000:,.0f} kB"
