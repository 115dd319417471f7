"""Parse and lint Python code; never run it."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials
from nodes.tools.framework.tool_report import join_names

from .materials.selection import list_other_code, select_modules

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
CHILD_FUNCTION = f"{__package__}.code.child_program:check_modules"
MAX_WRITTEN_BYTES = 1_000_000


@tool
async def check_code(
    code: Annotated[str, Field(description="Code that you wrote, instead of a file")] = "",
    files: Annotated[
        list[FileName] | None,
        Field(description="Names of the Python files to check; all of them by default"),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Parse and lint Python code: syntax errors and likely bugs, each with file and line.

    Nothing is run. Use `code` for what you wrote or fixed.
    """
    modules = select_modules(code, files or (), materials)
    report: dict[str, Any] = await run_isolated(
        CHILD_FUNCTION,
        max_written_bytes=MAX_WRITTEN_BYTES,
        failure=", ".join(modules) + " cannot be read: {}; hand over less of it",
        modules=modules,
    )
    if others := list_other_code(materials):
        report["gaps"].append(f"Only Python is checked; not read: {join_names(others)}.")
    return report
