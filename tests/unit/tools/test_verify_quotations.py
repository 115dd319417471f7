"""Quotations held against their contracts."""

from typing import Any

import pytest

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
    found = await verify_claims({"text": "Termination: clause 12(B)", "quote": NOTICE})

    assert found["summary"].startswith("1 quotation checked: 1 stand in the contract as quoted")
    assert not found["findings"]


async def test_spaces_and_line_breaks_do_not_make_a_quotation_wrong():
    found = await verify_claims({"text": "Notice", "quote": NOTICE.replace(" ", "\n  ")})

    assert not found["findings"]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"text": "Notice", "quote": NOTICE.replace("twenty", "sixty")}, "not found"),
        ({"text": "Termination: clause 3", "quote": NOTICE}, "other clause"),
        ({"text": "Notice", "quote": NOTICE, "source": "z.txt"}, "source unknown"),
        ({"text": "Notice", "quote": NOTICE, "source": NDA.name}, "not found"),
    ],
)
async def test_a_quotation_that_does_not_hold_is_a_finding(claim, verdict):
    found = await verify_claims(claim)

    assert [each["verdict"] for each in found["wrong"]] == [verdict]
    assert found["findings"][0]["severity"] == "high"
    assert "0 stand in the contract as quoted, 1 do not" in found["summary"]


async def test_claims_that_quote_nothing_are_counted_apart():
    found = await verify_claims({"text": "The law is Dutch."}, {"text": "a", "quote": NOTICE})

    assert found["quotations"] == 1 and "1 claim without a quotation" in found["summary"]


async def test_no_claims_and_no_contract_are_refused():
    with pytest.raises(ToolRefused, match="at least one claim"):
        await verify_claims()
    with pytest.raises(ToolRefused, match="no materials"):
        await verify_claims({"text": "a", "quote": NOTICE}, materials={})
