"""Check a contract against a playbook of required, forbidden and limited terms."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.materials import resolve_material_name

from .contracts.client import ask_worker

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def check_playbook(
    material: str,
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Check a contract against the playbook: `playbook.yaml` among the materials, else the team's.

    Each finding is a term that is missing, that is forbidden, or that exceeds its limit, with
    clause, line and severity; each claim quotes the words. Pass findings on unchanged.
    Example: check_playbook(material="supply_agreement.txt")
    """
    held = materials or {}
    return await ask_worker("check", held, name=resolve_material_name(material, held))
