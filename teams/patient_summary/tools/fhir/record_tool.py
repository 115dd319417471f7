"""Build the tools of the team: each reports on the record in one bundle."""

import asyncio
from collections.abc import Callable
from inspect import cleandoc, signature
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import InjectedState
from pydantic import Field, create_model

from nodes.tools.framework.argument_types import FileName
from nodes.tools.framework.materials import resolve_material_name
from nodes.tools.framework.out_of_scope import escalate_out_of_scope

from .advice import find_advice_request
from .bundle import read_record

BundleName = Annotated[FileName, Field(description="Name of the FHIR bundle")]
Materials = Annotated[dict[str, str] | None, InjectedState("materials")]
Messages = Annotated[list[AnyMessage] | None, InjectedState("messages")]
"""The worker's conversation; it begins with its task."""


def build_record_tool(name: str, build_report: Callable[..., dict[str, Any]]) -> BaseTool:
    """Build a tool that reports on a record; a task for a clinician's judgement is escalated.

    The tool's description is the docstring of `build_report`, up to what it raises. Its arguments
    are the name of a bundle, and those of `build_report` after the record.

    The tool raises:
        ToolFailed: reading took too long, or failed.
        ToolRefused: no such material, no bundle, an empty one, or not of exactly one patient.
    """

    async def report(
        material: str, materials: Materials = None, messages: Messages = None, **own: Any
    ) -> dict[str, Any]:
        source = resolve_material_name(material, materials)
        record = await asyncio.to_thread(read_record, source, (materials or {})[source])
        if asked := find_advice_request(messages):
            return escalate_out_of_scope(
                f"{asked!r} is for a clinician to answer; ask what is recorded"
            )
        return await asyncio.to_thread(build_report, record, **own)

    _, *parameters = signature(build_report).parameters.values()
    fields: dict[str, Any] = {each.name: (each.annotation, each.default) for each in parameters}
    fields = {"material": (BundleName, ...), **fields}
    fields |= {"materials": (Materials, None), "messages": (Messages, None)}
    return StructuredTool.from_function(
        coroutine=report,
        name=name,
        description=cleandoc(build_report.__doc__ or "").partition("\n\nRaises:")[0],
        args_schema=create_model(name, **fields),
    )
