"""Quotations held against their contracts."""

from typing import Any

import pytest
from pydantic import ValidationError

from nodes.errors import ToolRefused
from teams.contract_review.tools.verify_quotations import verify_quotations
from tests.contracts import DISTRIBUTION, NDA, read_contracts

NOTICE = (
    "Marlowe may terminate this Agreement for convenience upon twenty (20) days' written notice."
)
MATERIALS = read_contracts(DISTRIBUTION, NDA)


async def verify_claims(*claims: dict[str, str], **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = await verify_quotations.ainvoke(
        {
            "claims": [{"source": DISTRIBUTION.name, **c} for c in claims],
            "materials": MATERIALS,
            **more,
        }
    )
    return found


async def test_a_quotation_that_stands_there_holds():
    found = await verify_claims({"text": "Termination: clause 12(B)", "quotation": NOTICE})

    assert found["summary"].startswith("1 quotation checked: 1 stand in the contract as quoted")
    assert not found["findings"]


async def test_spaces_and_line_breaks_do_not_make_a_quotation_wrong():
    found = await verify_claims({"text": "Notice", "quotation": NOTICE.replace(" ", "\n  ")})

    assert not found["findings"]


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ({"text": "Notice", "quotation": NOTICE.replace("twenty", "sixty")}, "Quotation not found"),
        (
            {"text": "Termination: clause 3", "quotation": NOTICE},
            "Quotation is in 12(B), not where named",
        ),
        (
            {"text": "Notice", "quotation": NOTICE, "source": "z.txt"},
            "Quotation of what is not a material",
        ),
        ({"text": "Notice", "quotation": NOTICE, "source": NDA.name}, "Quotation not found"),
    ],
)
async def test_a_quotation_that_does_not_hold_is_a_finding(claim, problem):
    found = await verify_claims(claim)

    (finding,) = found["findings"]
    assert found["verdicts"] == {problem: 1}
    assert finding["message"].startswith(f"{problem}: ") and finding["severity"] == "high"


async def test_claims_that_quote_nothing_are_counted_apart():
    found = await verify_claims({"text": "The law is Dutch."}, {"text": "a", "quotation": NOTICE})

    assert found["verdicts"] == {"held": 1} and "1 claim without a quotation" in found["summary"]


async def test_no_claims_and_no_contract_are_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        await verify_claims()
    with pytest.raises(ToolRefused, match="no materials"):
        await verify_claims({"text": "a", "quotation": NOTICE}, materials={})
