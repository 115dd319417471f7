"""Check a contract against a playbook of required, forbidden and limited terms."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials, resolve_material_name

from .contracts.playbook import is_playbook

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

FileName = Annotated[str, Format("file"), Field(max_length=1000)]


@tool
async def check_playbook(
    material: Annotated[str, Field(description="Name of the contract", max_length=1000)],
    playbook: Annotated[
        FileName | None,
        Field(
            description="Name of a playbook in YAML; default is the material that is named "
            "playbook, else the team's own"
        ),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Check a contract against a playbook.

    Each finding is a term that is missing, that is forbidden, or that exceeds its limit, with
    clause, line and severity; each claim quotes the words. Pass findings on unchanged.
    Example: check_playbook(material="supply_agreement.txt")
    """
    held = materials or {}
    name = resolve_material_name(material, held)
    named = [playbook] if playbook else [each for each in held if is_playbook(each)]
    if len(named) > 1:
        raise ToolRefused(f"several playbooks: {', '.join(named)[:500]}; name one in `playbook`")
    given = resolve_material_name(named[0], held) if named else ""
    return dict(
        await run_isolated(
            f"{__package__}.contracts.compliance:check",
            name=name,
            text=held[name],
            playbook_name=given,
            playbook_text=held.get(given, ""),
        )
    )
