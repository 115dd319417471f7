"""Explain logged exceptions by the code that raised them."""

from typing import Any

from langchain_core.tools import BaseTool, tool

from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.settings import ToolSettings

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_WRITTEN_BYTES = 20_000_000
"""The source files are written to a temporary folder for the linter."""


def explain_error(settings: ToolSettings) -> BaseTool:
    """Build the tool; code of `settings.repository` is read beside the files."""

    @tool("explain_error")
    async def explain(materials: Materials = None) -> Any:
        """Explain the exceptions that are logged: the failing line, why it raised, how to fix it.

        Python tracebacks among the files are followed into the source files. It distinguishes
        a bug from a value that a setting supplied, and in that case, without a bug, its result has
        `found_as_expected: false`. Repeat that in your report. Example: explain_error()
        """
        return await run_isolated(
            f"{__package__}.incident.explanation:explain_errors",
            max_written_bytes=MAX_WRITTEN_BYTES,
            materials=dict(materials or {}),
            repository=str(settings.repository or ""),
        )

    return explain
