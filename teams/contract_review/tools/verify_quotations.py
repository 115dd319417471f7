"""Check quotations against the contracts they are from."""

from typing import Annotated, Any

from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState

from nodes.errors import ToolRefused
from nodes.tools.evidence.source_check import CitedClaim

from .contracts.client import ask_worker

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}
MAX_CLAIMS = 300


@tool
async def verify_quotations(
    claims: list[CitedClaim],
    materials: Annotated[dict[str, str] | None, InjectedState("materials")] = None,
) -> dict[str, Any]:
    """Look each claim's quotation up in its contract, word for word, and in the clause it names.

    Each quotation that is not there, or is in another clause, is a finding.
    Example: verify_quotations(claims=[{"text": "Termination: clause 16(C)", "source": "a.txt",
    "quote": "Either party may terminate this agreement by providing Ninety days Written Notice."}])
    """
    if not claims:
        raise ToolRefused("give at least one claim with text, source and quote")
    if not materials:
        raise ToolRefused("this task was given no materials; quotations need the contract's text")
    given = [claim.model_dump(mode="json") for claim in claims[:MAX_CLAIMS]]
    answer = await ask_worker("verify", materials or {}, claims=given)
    if len(claims) > MAX_CLAIMS:
        answer["failures"] = [f"only the first {MAX_CLAIMS} of {len(claims)} claims were checked"]
    return answer
