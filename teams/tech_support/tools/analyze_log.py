"""Report what failed in a log, from its tracebacks and error lines."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.framework.materials import get_material_text, resolve_material_name
from nodes.tools.framework.out_of_scope import escalate_out_of_scope

from .support.human_decisions import escalate_human_decisions, reject_if_out_of_scope
from .support.log import find_logs, read_log
from .support.log_diagnosis import diagnose_logs

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
NO_LOG_MESSAGE = "nothing to diagnose: neither the request nor its files hold a traceback or a log"


@tool
async def analyze_log(
    request: str,
    material: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Return what failed in a log or a traceback of Python, Java or JavaScript, how often, where.

    Returns each kind of error with its first and last time, its chain of causes, and the product's
    own call nearest to the root cause. request is the task unchanged, with any traceback pasted
    into it; without a material every log among the files is read. An escalation in the answer means
    that the request is out of scope: escalate with these words.
    Example: analyze_log(request="why does the sync fail?", material="worker.log")
    """
    return await asyncio.to_thread(_analyze_logs, request, material, materials)


def _analyze_logs(
    request: str, material: str, materials: Mapping[str, str] | None
) -> dict[str, Any]:
    if elsewhere := reject_if_out_of_scope(request, materials) or escalate_human_decisions(request):
        return elsewhere
    if material:
        name, text = (
            resolve_material_name(material, materials),
            get_material_text(material, materials),
        )
        log = read_log(name, text)
        if not (log.entries or log.failures):
            raise ToolRefused(f"{name} is not a log: no line has a time, a level or a traceback")
        return diagnose_logs([log])
    if logs := [log for log in find_logs(materials) if log.entries or log.failures]:
        return diagnose_logs(logs)
    pasted = read_log("the request", request)
    if pasted.failures or len(pasted.entries) > 1:
        return diagnose_logs([pasted], is_pasted=True)
    return escalate_out_of_scope(NO_LOG_MESSAGE)
