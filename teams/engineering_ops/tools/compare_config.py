"""Compare two configurations."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import FileName, UnratedFinding
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials, resolve_material_name

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def compare_config(
    findings: Annotated[
        list[UnratedFinding] | None,
        Field(
            description="Findings of earlier reports, unchanged: the settings that they name in "
            "backticks are checked first"
        ),
    ] = None,
    files: Annotated[
        list[FileName] | None,
        Field(
            description="The two files to compare, the one that works first; by default files are "
            "paired by their names, such as staging.yaml and production.yaml"
        ),
    ] = None,
    materials: Materials = None,
) -> Any:
    """Compare configurations of two environments or versions, setting by setting.

    YAML, TOML, JSON, INI, .env and properties are read. Secrets are never shown.
    Example: compare_config(files=["staging.yaml", "production.yaml"])
    """
    names = [resolve_material_name(name, materials) for name in files or []]
    if files and len(set(names)) != 2:
        raise ToolRefused(f"two files are compared; {len(set(names))} are named")
    return await run_isolated(
        f"{__package__}.incident.config_report:compare_configs",
        messages=[finding.message for finding in findings or []],
        files=names,
        materials=dict(materials or {}),
    )
