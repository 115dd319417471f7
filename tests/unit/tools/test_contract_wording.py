"""Phrases, quantities, sentences, facts: what a contract's wording is read as."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nodes.errors import ToolRefused
from teams.contract_review.tools.contracts.contract import Contract
from teams.contract_review.tools.contracts.contract_text import split_sentences
from teams.contract_review.tools.contracts.facts import (
    find_agreement_date,
    find_governing_law,
    find_parties,
    find_sums,
    name_contract,
)
from teams.contract_review.tools.contracts.phrases import find_quantities, parse_phrase
from teams.contract_review.tools.verify_quotations import verify_quotations
from tests.contracts import DISTRIBUTION, NDA, REAL_FACTS, SERVICES, read_contract, read_contracts

FACTS = {
    **REAL_FACTS,
    DISTRIBUTION: (
        "Distribution Agreement",
        [
            ("Marlowe Hearing Systems, Inc.", "Marlowe"),
            ("Quayside Medical Supply Ltd.", "Distributor"),
        ],
        "2026-03-02",
        "the State of Oregon",
        ["$40,000"],
    ),
    NDA: (
        "Mutual Non-Disclosure Agreement",
        [("Northwind Instruments GmbH", "Northwind"), ("Tallgrass Analytics SAS", "Tallgrass")],
        "2026-05-04",
        "France",
        ["EUR 250,000"],
    ),
    SERVICES: (
        "Master Services Agreement",
        [("HARROW HOLDINGS, INC.", "Harrow"), ("BRIGHTWATER LLC", "Supplier")],
        "2025-06-01",
        "the State of Delaware",
        ["3.5 million dollars"],
    ),
}


@pytest.mark.parametrize("file", FACTS)
def test_the_facts_of_a_contract_are_those_a_reader_finds(file):
    contract = Contract(file.name, read_contract(file))
    named, between, day, place, money = FACTS[file]

    dated, governing = find_agreement_date(contract), find_governing_law(contract)

    assert name_contract(contract) == named
    assert [(party.name, party.role) for party in find_parties(contract)] == between
    assert dated is not None and (dated[0] and dated[0].isoformat()) == day
    assert governing is not None and governing[0] == place
    assert [contract.quote(passage) for passage in find_sums(contract)] == money


@pytest.mark.parametrize(
    ("opening", "names"),
    [
        ('between A Inc., a firm ("A"), B LLC ("B") and C Corp. ("C")', "A Inc., B LLC, C Corp."),
        ('by and between John Smith ("Landlord") and Mary Jones', "John Smith, Mary Jones"),
        ("among FOO BANK, N.A., as agent, and BAR PLC", "FOO BANK, N.A., BAR PLC"),
        ("for the benefit of all who read it", ""),
        ('by Foo Trust ("F"), a trust, and by and among others', ""),
        (
            'by Foo Inc. ("Foo"), a firm, Bar Ltd., a firm ("Bar"), and Qux AG ("Qux")',
            "Foo Inc., Bar Ltd., Qux AG",
        ),
        (
            'between (1) Foo Labs, of 2 High St. ("Foo"), and (2) Bar Labs, of Rome ("Bar")',
            "Foo Labs, Bar Labs",
        ),
        (
            'between Bo T. Li ("Li") and FOO GAS AND OIL COMPANY, referred to as "Foo"',
            "Bo T. Li, FOO GAS AND OIL COMPANY",
        ),
        (
            "BETWEEN: FOO LTD. 2nd Floor, Quay ('the Maker') AND: BAR LIMITED 4 Pier ('the Buyer')",
            "FOO LTD., BAR LIMITED",
        ),
        (
            "as follows.\nParty A:\n\nFoo and Bar Co., Ltd.\n\nParty B: Qux (Macao) Co., Ltd.",
            "Foo and Bar Co., Ltd., Qux (Macao) Co., Ltd.",
        ),
    ],
)
def test_parties_are_read_from_many_openings(opening, names):
    text = f"This agreement is made {opening}.\n\n1. Work. A shall dig.\n\n2. Price. B shall pay."

    assert ", ".join(party.name for party in find_parties(Contract("a.txt", text))) == names


@pytest.mark.parametrize(
    ("sentence", "place"),
    [
        (
            "It will be governed in all respects by the laws of the State of Iowa.",
            "the State of Iowa",
        ),
        ("It shall be governed and construed according to the laws of Malta.", "Malta"),
        ("It shall be interpreted under the laws of England and Wales.", "England and Wales"),
        ("IT IS GOVERNED BY THE LAWS OF THE STATE OF OHIO WITHOUT MORE.", "THE STATE OF OHIO"),
        ("It is governed by the laws, other than its choice of law rules, of Peru.", "Peru"),
        ("Performance is controlled by the laws of Chile.", "Chile"),
        ("Any dispute will be governed by EU Laws.", "EU"),
        ("A, formed under the laws of Cuba, is governed by its board.", ""),
        ("Headings shall not be interpreted.", ""),
    ],
)
def test_the_governing_law_is_found_in_many_wordings(sentence, place):
    found = find_governing_law(Contract("a.txt", f"Agreement.\n\n1. Law. {sentence}\n"))

    assert (found[0] if found else "") == place


@pytest.mark.parametrize(
    ("text", "value", "unit", "differ"),
    [
        ("thirty (30) days", 30, "days", False),
        ("sixty ( 90 ) \n day", 90, "days", True),
        ("Ninety days", 90, "days", False),
        ("twenty-four (24) months", 720, "days", False),
        ("one hundred and eighty (180) days", 180, "days", False),
        ("two (2) business days", 2, "days", False),
        ("a 30-day period", 30, "days", False),
        ("three (3) calendar years", 1095, "days", False),
        ("two and a half years", 912.5, "days", False),
        ("1.5%", 1.5, "percent", False),
        ("thirty (30) per cent", 30, "percent", False),
        ("one and one-half percent (1.5%) per month", 1.5, "percent per month", False),
        ("18% per annum", 1.5, "percent per month", False),
        ("five percent (6%)", 6, "percent", True),
    ],
)
def test_quantities_are_read_as_contracts_write_them(text, value, unit, differ):
    (found,) = find_quantities(text.lower())

    assert (found.value, found.unit, found.is_contradictory) == (value, unit, differ)


@pytest.mark.parametrize(
    "text", ["2320 Brighton", "clause 4.2", "$30 days", "in 5,000 units", "one"]
)
def test_other_numbers_are_no_quantities(text):
    assert not list(find_quantities(text.lower()))


@pytest.mark.parametrize(
    ("wording", "text", "found"),
    [
        ("terminat*", "Terminating is termination.", ["terminating", "termination"]),
        ("exclusive", "non-exclusive, exclusively, exclusive", ["exclusive"]),
        ("shall|will   renew", "It shall\n renew and will renew", ["shall\n renew", "will renew"]),
        ("govern* ... law*", "governed by the laws", ["governed by the laws"]),
        ("upon # notice", "upon thirty (30) days' notice", ["upon thirty (30) days' notice"]),
        ("upon # notice", "upon notice", []),
        (
            "terminate ... # notice",
            "terminate it on 9 days notice",
            ["terminate it on 9 days notice"],
        ),
        ("[*]", "between A and [*]", ["[*]"]),
        ("party's", "each party\u2019s own", ["party's"]),
        ("a b", "a" + " " * 30 + "b", ["a" + " " * 30 + "b"]),
        ("a ... b", "a" + "x" * 200 + " b", []),
    ],
)
def test_a_phrase_finds_its_wording(wording, text, found):
    low = Contract("a.txt", text).text.lowercase

    assert [
        low[match.start : match.end] for match in parse_phrase(wording).find_matches(low)
    ] == found


@pytest.mark.parametrize(
    "wording",
    ["", "... x", "# days", "x ...", "a ... b ... c ... d", "# # a", "|x", "*", "x" * 300],
)
def test_a_phrase_that_cannot_be_looked_for_is_refused(wording):
    with pytest.raises(ValueError, match=r"phrase|stands between"):
        parse_phrase(wording)


@given(st.text("ab .#*|[](){}?+\\^$", max_size=40), st.text("ab .", max_size=80))
def test_no_wording_is_taken_for_a_regular_expression(wording, text):
    try:
        wanted = parse_phrase(wording)
    except ValueError:
        return
    assert all(match.end <= len(text) for match in wanted.find_matches(text))


def test_sentences_end_where_they_end():
    text = (
        "Acme Inc. shall pay Mr. P. Roe. It does so at No. 5 Main St. and\n\nelsewhere.\n\nNext one"
    )

    found = [text[start:end] for start, end in split_sentences(text, 0, len(text))]

    assert found == [
        "Acme Inc. shall pay Mr. P. Roe. It does so at No. 5 Main St. and\n\nelsewhere.",
        "Next one",
    ] or found == [
        "Acme Inc. shall pay Mr. P. Roe.",
        "It does so at No. 5 Main St. and\n\nelsewhere.",
        "Next one",
    ]


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


@pytest.mark.slow
@pytest.mark.parametrize("quotation", [NOTICE, NOTICE.replace(" ", "\n  ")])
async def test_a_quotation_that_stands_there_holds_whatever_its_line_breaks(quotation):
    found = await verify_claims({"text": "Termination: clause 12(B)", "quotation": quotation})

    assert found["summary"].startswith("1 quotation checked: 1 in the contract as quoted")
    assert not found["findings"]


@pytest.mark.slow
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


@pytest.mark.slow
async def test_claims_that_quote_nothing_are_counted_apart():
    found = await verify_claims({"text": "The law is Dutch."}, {"text": "a", "quotation": NOTICE})

    assert found["verdicts"] == {"held": 1} and "1 claim without a quotation" in found["summary"]


async def test_no_claims_and_no_contract_are_refused():
    with pytest.raises(ValidationError, match="at least 1 item"):
        await verify_claims()
    with pytest.raises(ToolRefused, match="no materials"):
        await verify_claims({"text": "a", "quotation": NOTICE}, materials={})
