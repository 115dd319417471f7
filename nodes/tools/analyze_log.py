"""What failed in a log, from its tracebacks and error lines."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.materials import material_name, material_text
from nodes.tools.scope import out_of_scope
from nodes.tools.support.diagnosis import diagnosed
from nodes.tools.support.log import logs_of, read_log
from nodes.tools.support.matters import aside, handed_over

NO_LOG = "nothing to diagnose: neither the request nor its files hold a traceback or a log"


@tool
async def analyze_log(
    request: str,
    material: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Tell what failed in a log or a traceback of Python, Java or JavaScript, how often, where.

    Gives each kind of error with its first and last time, its chain of causes, and the call of the
    product nearest to the root. request is the task as it stands, with a traceback that was pasted
    into it; without a material every log among the files is read. An escalation in the answer says
    that the request is for somebody else: hand it back with these words.
    Example: analyze_log(request="why does the sync fail?", material="worker.log")
    """
    return await asyncio.to_thread(_analyzed, request, material, materials)


def _analyzed(request: str, material: str, materials: Mapping[str, str] | None) -> dict[str, Any]:
    if elsewhere := aside(request, materials) or handed_over(request):
        return elsewhere
    if material:
        name, text = material_name(material, materials), material_text(material, materials)
        log = read_log(name, text)
        if not (log.entries or log.failures):
            raise ToolRefused(f"{name} is no log: no line has a time, a level or a traceback")
        return diagnosed([log])
    if logs := [log for log in logs_of(materials) if log.entries or log.failures]:
        return diagnosed(logs)
    pasted = read_log("the request", request)
    if pasted.failures or len(pasted.entries) > 1:
        return diagnosed([pasted], is_pasted=True)
    return out_of_scope(NO_LOG)
