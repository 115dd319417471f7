"""Measure texts, and check them for habits that style books name."""

import asyncio
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolFailed
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.tool_report import ToolReport

from .prose.texts import asks_to_check, reject_if_out_of_scope, select_texts

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
CHILD_FUNCTION = f"{__package__}.prose.child_program:check_texts"
TIMEOUT_S = 60.0


@tool
async def check_prose(
    request: str,
    text: str = "",
    material: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check English prose: length, reading grade, long sentences, clichés, likely misspellings.

    `text` is one that you wrote; without it the texts among the artifacts are read, or the one that
    is named, where `request` asks for a check. A word limit in `request` is checked for each text.
    Remarks have file and line; the words themselves are not changed.
    Example: check_prose(request="at most 200 words", text="Dear tenants, ...")
    """
    if elsewhere := reject_if_out_of_scope(request):
        return elsewhere
    if not (text.strip() or material or asks_to_check(request)):
        return ToolReport().to_json()
    texts = await asyncio.to_thread(select_texts, request, material, text, materials)
    asked = {"request": request, "texts": texts}
    try:
        report: dict[str, Any] = await run_isolated(
            CHILD_FUNCTION, timeout_s=TIMEOUT_S, request=asked
        )
    except ToolFailed as failure:
        raise ToolFailed(
            f"{', '.join(texts)} cannot be read: {failure}; hand over less of it"
        ) from failure
    return report
