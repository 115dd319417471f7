"""Check quotations against the contracts they are from."""

from typing import Annotated, Any

from langchain_core.tools import tool
from pydantic import Field

from nodes.errors import ToolRefused
from nodes.tools.framework.argument_types import CitedClaim
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.materials import Materials

ACCESS = {"reads": ["private", "untrusted"], "sends": "nothing"}


@tool
async def verify_quotations(
    claims: Annotated[
        list[CitedClaim], Field(description="Claims with quotations", min_length=1, max_length=300)
    ],
    materials: Materials = None,
) -> dict[str, Any]:
    """Look each claim's quotation up in its contract, word for word, and in the clause it names.

    Each quotation that is not there, or is in another clause, is a finding.
    Example: verify_quotations(claims=[{"text": "Termination: clause 16(C)", "source": "a.txt",
    "quotation": "Either party may terminate by providing Ninety days Written Notice."}])
    """
    if not materials:
        raise ToolRefused("this task was given no materials; quotations need the contract's text")
    return dict(
        await run_isolated(
            f"{__package__}.contracts.extraction:check_quotations",
            claims=[claim.model_dump(mode="json") for claim in claims],
            materials=materials,
        )
    )
