"""What the course tools share: their parameters, and their call in a child process."""

from typing import Annotated, Any

from pydantic import Field

from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.isolation import run_isolated

TIMEOUT_S = 30.0
MaterialName = Annotated[
    str,
    Format("file"),
    Field(description="Name of one material; empty for all that fit"),
]
ShortText = Annotated[str, Field(max_length=1000)]


async def run_course_tool(function: str, **arguments: Any) -> dict[str, Any]:
    """Run a function of this package in a child: hostile text can keep a parser busy.

    Raises:
        ToolFailed: it took too long, or failed.
        ToolRefused: it cannot be done.
    """
    report: dict[str, Any] = await run_isolated(
        f"{__package__}.{function}",
        timeout_s=TIMEOUT_S,
        failure="the materials cannot be read: {}; name one of them, or hand over less",
        **arguments,
    )
    return report
