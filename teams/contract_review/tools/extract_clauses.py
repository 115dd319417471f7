"""A contract's clauses, facts and quotations."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.tools.framework.argument_types import Format
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials, resolve_material_name

from .contracts.clause_kinds import ClauseKindName

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}

Query = Annotated[str, Format("query"), Field(max_length=2000)]


@tool
async def extract_clauses(
    material: Annotated[str, Field(description="Name of the contract", max_length=1000)],
    kinds: Annotated[
        list[ClauseKindName] | None,
        Field(description="Kinds of clauses to quote; default is all kinds"),
    ] = None,
    query: Annotated[
        Query | None, Field(description="Words to search for as well, such as product recall")
    ] = None,
    clause: Annotated[
        str | None,
        Field(description="Number of one clause to return whole, such as 4.2(a)", max_length=60),
    ] = None,
    materials: Materials = None,
) -> dict[str, Any]:
    """Return a contract's parties, date, governing law, sums, and its clauses, quoted verbatim.

    `not_found` lists the kinds of clauses that are not in the contract.
    Example: extract_clauses(material="nda.txt", kinds=["term", "termination"])
    Example: extract_clauses(material="nda.txt", clause="4.2(a)")
    """
    held = materials or {}
    name = resolve_material_name(material, held)
    return dict(
        await run_isolated(
            f"{__package__}.contracts.extraction:extract",
            name=name,
            text=held[name],
            kinds=kinds or [],
            query=query or "",
            clause=clause or "",
        )
    )
