"""Read lines of a material that was too long for the handoff."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.text.counts import format_count
from nodes.text.lines import count_fitting_lines, outline_text, split_lines
from nodes.text.plain_text import sanitize_text
from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.materials import Materials, resolve_material_name

MAX_READ_CHARS = 20_000
"""Limit of one reading, below the limit for the result of any tool."""


@tool(response_format="content_and_artifact")
async def read_material(
    name: Annotated[FileName, Field(description="Name of a material of this task")],
    first_line: Annotated[int, Field(ge=1, description="Number of the first line to read")],
    last_line: Annotated[
        int | None,
        Field(ge=1, description="Number of the last line; as many as fit without it"),
    ] = None,
    materials: Materials = None,
) -> tuple[str, dict[str, Any]]:
    """Read lines of a material of this task, at most 20,000 characters at a time.

    The first line of the result says which lines follow, and from which one to read on.
    Example: read_material(name="change.diff", first_line=250, last_line=640)
    """
    whole = resolve_material_name(name, materials)
    text = (materials or {})[whole]
    return await asyncio.to_thread(_read_lines, whole, text, first_line, last_line)


def _read_lines(
    name: str, raw: str, first_line: int, last_line: int | None
) -> tuple[str, dict[str, Any]]:
    """Return lines under a heading, and their numbers for the record of what was read."""
    text = sanitize_text(raw)
    lines = split_lines(text)
    if first_line > len(lines):
        raise ToolRefused(f"{name} has {format_count(len(lines), 'line')}, none is {first_line:,}")
    if last_line is not None and last_line < first_line:
        raise ToolRefused(f"last_line {last_line:,} is before first_line {first_line:,}")
    wanted = lines[first_line - 1 : last_line]
    fitting = wanted[: count_fitting_lines(wanted, MAX_READ_CHARS)]
    last = first_line + len(fitting) - 1
    where = outline_text(name, text).locate(first_line)
    more = f"; read on from line {last + 1}" if last < len(lines) else "; this is its end"
    heading = f"{name}, lines {first_line}-{last} of {len(lines)}{more}"
    place = f"Line {first_line} is {where}." if where else ""
    read = {"name": name, "first_line": first_line, "last_line": last}
    return "\n".join([heading, *filter(None, [place]), "", *fitting]), read
