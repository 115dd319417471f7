"""What can go wrong on the wire, as plain data: which requests it hits and what they get."""

from dataclasses import dataclass
from typing import Literal

FaultKind = Literal[
    "latency",
    "rate_limited",
    "quota",
    "server_error",
    "context_length",
    "unauthorized",
    "unknown_model",
    "hang",
    "drip",
    "reset",
    "half_body",
    "cut_stream",
    "cut_event",
    "done_without_finish",
    "stream_error",
    "broken_json",
    "html",
    "empty",
    "null",
    "list",
    "no_choices",
    "null_choices",
    "error_in_200",
    "huge",
    "gzip_bomb",
    "length",
    "content_filter",
    "no_finish",
    "null_content",
    "broken_arguments",
    "prose",
    "no_usage",
    "zero_usage",
    "bad_usage",
]

Face = Literal[
    "strict_tool_choice",  # LM Studio
    "no_required",  # DeepSeek while it thinks
    "no_response_format",
    "grammar_400",  # llama.cpp
    "text_tool_call",  # Ollama and others with a model that knows no tools
    "think_prefix",
    "double_json",
    "no_stream_options",
    "no_stream",
    "stream_as_json",  # answers a request for a stream with one JSON body
]
"""Quirks of a server that speaks the protocol otherwise; `faces.py` plays them."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault and the requests it hits; a field left None narrows nothing."""

    kind: FaultKind
    schema: str | None = None
    task: str | None = None
    model: str | None = None
    nth: tuple[int, ...] | None = None
    """Which of the requests that match schema, task and model, counted from 1."""
    share: float = 1.0
    """Part of the matching requests that is hit, by the scenario's seeded dice."""
    status: int = 503
    """Of `server_error`."""
    retry_after: str | None = None
    """Header as sent; `date:2` stands for the HTTP date two seconds from now."""
    seconds: float = 0.0
    """Of `latency`, and of what the other kinds wait before they strike."""
    chunks: int = 2
    """Events a cut stream sends first."""
    size: int = 12_000_000
    """Decoded bytes of `huge` and `gzip_bomb`."""
