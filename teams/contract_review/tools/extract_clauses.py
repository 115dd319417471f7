"""A contract's clauses, facts and quotations."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.tools.framework.materials import resolve_material_name

from .contracts.client import ask_worker

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_QUERY_CHARS = 2_000


@tool
async def extract_clauses(
    material: str,
    query: str,
    clause: str = "",
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Return a contract's parties, date, governing law, sums, and its clauses, quoted verbatim.

    `query` names the kinds of clauses wanted, such as termination, liability or confidentiality;
    "key clauses" returns all kinds. `clause` returns one clause whole, by its number. `places` has
    clause, line and offsets of each claim's quotation, in the claims' order.
    Example: extract_clauses(material="nda.txt", query="term and termination")
    Example: extract_clauses(material="nda.txt", query="", clause="4.2(a)")
    """
    held = materials or {}
    name = resolve_material_name(material, held)
    return await ask_worker(
        "extract", held, name=name, query=query[:MAX_QUERY_CHARS], clause=clause[:60]
    )
