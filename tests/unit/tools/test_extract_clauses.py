"""Clauses and facts, quoted word for word."""

import json
from typing import Any

import docx
import pytest

from nodes.errors import ToolRefused
from nodes.tools.framework.documents import read_document
from teams.contract_review.tools.extract_clauses import extract_clauses
from tests.contracts import (
    DISTRIBUTION,
    HOUSE_PLAYBOOK,
    NDA,
    REAL_CONTRACTS,
    REAL_ENDORSEMENT,
    RECIPE,
    SERVICES,
    read_contract,
    read_contracts,
)
from tests.unit.tools.document_samples import write_pdf

pytestmark = pytest.mark.slow

FILES = {file.name: file for file in (DISTRIBUTION, NDA, SERVICES, *REAL_CONTRACTS)}


async def extract_from(name: str, **arguments: Any) -> dict[str, Any]:
    arguments = {"material": name, "materials": None, **arguments}
    arguments["materials"] = arguments["materials"] or read_contracts(FILES[name])
    found: dict[str, Any] = await extract_clauses.ainvoke(arguments)
    return found


def list_quotations(found: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    """Return the places and quotations of a kind's claims."""
    parted = [
        (claim["text"].partition(f": {kind}: "), claim["quotation"]) for claim in found["claims"]
    ]
    return [(place, quote) for (_, is_kind, place), quote in parted if is_kind]


@pytest.mark.parametrize("name", FILES)
async def test_every_quotation_stands_in_its_contract_and_at_its_line(name):
    text = read_contract(FILES[name])

    found = await extract_from(name)

    assert len(found["claims"]) >= 5
    for claim in found["claims"]:
        line = int(claim["text"].rpartition(", line ")[2])
        start = len("\n".join(text.split("\n")[: line - 1]))
        assert claim["quotation"] and claim["source"] == name
        assert text.find(claim["quotation"], start) >= 0
    shown = [part.partition("\u201d")[0] for part in found["summary"].split("\u201c")[1:]]
    words = " ".join(text.split())
    assert shown and all(quote.replace("\\|", "|") in words for quote in shown)


async def test_each_important_kind_of_clause_is_quoted_from_the_clause_that_holds_it():
    found = await extract_from(REAL_ENDORSEMENT.name)

    expected = {
        "Indemnity": "8",
        "Confidentiality": "10",
        "Non-compete": "6",
        "Assignment and change of control": "12",
        "Governing law and disputes": "15",
        "Force majeure": "17",
        "Payment": "9(a)",
        "Survival": "16",
    }
    places = {kind: list_quotations(found, kind)[0][0] for kind in expected}
    assert all(places[kind].startswith(f"clause {expected[kind]}") for kind in expected)
    assert found["not_found"][:4] == ["term", "renewal", "termination", "liability"]


async def test_kinds_narrow_what_is_quoted():
    found = await extract_from(DISTRIBUTION.name, kinds=["termination", "renewal", "audit"])

    first, second = list_quotations(found, "Termination")
    assert first[0].startswith("clause 12(A)") and "insolvent" in first[1]
    assert second[1].endswith("upon twenty (20) days' written notice.")
    assert list_quotations(found, "Renewal")[0][0].startswith("clause 3(B)")
    assert not list_quotations(found, "Payment") and found["not_found"] == ["audit"]


async def test_words_are_searched_in_the_sentences_of_the_contract():
    found = await extract_from(DISTRIBUTION.name, kinds=["audit"], query="trade fairs")
    nothing = await extract_from(DISTRIBUTION.name, kinds=["audit"], query="birthday cake")

    ((place, quote),) = list_quotations(found, "Words searched")
    assert place.startswith("clause 4(A)") and "two trade fairs" in quote
    assert not list_quotations(nothing, "Words searched")


async def test_each_kind_is_shown_once_before_any_second_passage_and_words_that_are_searched():
    found = await extract_from(DISTRIBUTION.name, query="trade fairs")

    shown = [line for line in found["summary"].splitlines() if line.startswith("- **")]
    labels = [line.removeprefix("- **").partition("**")[0] for line in shown]
    firsts = labels[: labels.index("Words searched")]
    assert len(firsts) == len(set(firsts)) >= 12
    assert labels.count("Payment") == 2
    assert "- **More, not shown; ask by kind:** Payment 2" in shown


async def test_words_of_which_a_sentence_has_few_are_no_search_result():
    found = await extract_from(DISTRIBUTION.name, query="produce a risk report on compliance")

    assert not list_quotations(found, "Words searched")


MENTIONED = (
    ("insurance", "B shall pay an insurance fee of EUR 5 for each parcel."),
    ("exclusivity", "A has the exclusive right to remove its designees from the board."),
    ("exclusivity", "The warranties in this clause are exclusive."),
    ("exclusivity", "Fees are exclusive of duties and taxes."),
    ("exclusivity", "This is the complete and exclusive statement of what the parties agreed."),
    ("exclusivity", "A shall grant B a non- exclusive license, and either party may sell."),
    ("renewal", "This Agreement may be renewed if both parties agree in writing."),
    ("renewal", "The date of delivery may be extended by A."),
    ("intellectual_property", '"Website" means the pages with trademarks owned by B.'),
    ("intellectual_property", "The goods shall not infringe a patent owned by others."),
    ("assignment", "This Agreement binds the successors and assigns of the parties."),
    ("term", "During the term of this Agreement B shall keep records."),
)
AGREED = (
    ("insurance", "B shall maintain liability insurance at its own cost."),
    ("exclusivity", "A grants B the exclusive right to sell the goods in Peru."),
    ("exclusivity", "A shall not appoint any other distributor in Peru."),
    ("renewal", "The term may be extended by A for two further years."),
    ("intellectual_property", "A grants B a license to use the software."),
    ("intellectual_property", "All copyrights in the works are owned by A."),
    ("assignment", "B may not transfer its rights without the consent of A."),
    ("term", '"Term" means the period that begins in May and continues until June.'),
    ("term", "This Agreement shall remain in effect until terminated."),
)


@pytest.mark.parametrize(
    ("kind", "sentence", "is_clause"),
    [*((*each, False) for each in MENTIONED), *((*each, True) for each in AGREED)],
)
async def test_what_is_agreed_is_a_clause_under_any_heading_and_a_mention_is_none(
    kind, sentence, is_clause
):
    text = f"This Agreement is made between A Ltd and B Ltd.\n\n1. Work. B shall dig. {sentence}"

    found = await extract_from("a.txt", kinds=[kind], materials={"a.txt": text})

    assert found["not_found"] == ([] if is_clause else [kind])
    assert not is_clause or found["claims"][-1]["quotation"] == sentence


async def test_sums_that_are_not_shown_are_counted():
    sums = " ".join(f"B shall pay EUR {n}00 in year {n}." for n in range(1, 9))
    text = f"This Agreement is made between A Ltd and B Ltd.\n\n1. Price. {sums}"

    found = await extract_from("a.txt", kinds=["audit"], materials={"a.txt": text})

    assert len(found["facts"]["Sum"]) == 5 and "not shown; ask by kind:** Sum 3" in found["summary"]


async def test_a_heading_alone_is_not_quoted_for_a_kind():
    text = (
        "This Agreement is made between A Ltd and B Ltd, the parties.\n\n"
        "1. Term and Renewal\n\n1.1 It shall end in May.\n\n"
        "2. Audit\n\n3. Law. The laws of Peru shall govern this agreement."
    )

    found = await extract_from("a.txt", materials={"a.txt": text})

    assert {"renewal", "audit"} <= set(found["not_found"])


async def test_one_clause_is_given_whole_by_its_number():
    found = await extract_from(DISTRIBUTION.name, clause="12 (A)")

    assert "A) Either party may terminate" in found["summary"]
    assert found["summary"].endswith("business in the Territory.")


async def test_a_clause_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ToolRefused, match=r"no clause '77'; it has preamble, 1, 2, 3"):
        await extract_from(DISTRIBUTION.name, clause="77")


async def test_what_is_left_blank_or_taken_for_signatures_is_a_gap():
    text = (
        'This Agreement dated [*] is between Marlowe, Inc. and [*] ("Distributor").\n\n'
        "1. Work. Distributor shall sell.\n\n2. Law. The laws of Peru govern this Agreement.\n\n"
        "IN WITNESS WHEREOF, the parties sign.\n\n/s/ A\n"
    )

    found = await extract_from("a.txt", materials={"a.txt": text})

    assert "a.txt: a party is left blank" in found["gaps"]
    assert "a.txt: its date is left blank" in found["gaps"]
    assert any("lines 7 to " in gap and "not searched" in gap for gap in found["gaps"])


async def test_a_contract_in_word_or_pdf_is_read_too(tmp_path):
    document = docx.Document()
    document.add_heading("Lease", level=0)
    for heading, text in {
        "Parties": "This lease is made between Ann Roe (\"Landlord\") and Jo Doe (\"Tenant\").",
        "Rent": "The Tenant shall pay EUR 900 a month, payable within 5 days.",
        "Termination": "Either party may terminate this lease upon ninety (90) days\u2019 notice.",
        "Law": "This lease is governed by the laws of Austria.",
    }.items():  # fmt: skip
        document.add_heading(heading, level=1)
        document.add_paragraph(text)
    document.save(str(tmp_path / "lease.docx"))
    write_pdf(
        tmp_path / "a.pdf",
        "This agreement is made on 2 May 2026 between A Ltd and B Ltd. 1. Work. A shall dig.",
        "2. Law. This agreement is governed by the laws of Peru. Either party may terminate it.",
    )
    materials = {name: read_document(tmp_path / name)[""] for name in ("lease.docx", "a.pdf")}

    lease, deal = [
        await extract_clauses.ainvoke(
            {"material": name, "kinds": ["governing_law"], "materials": materials}
        )
        for name in materials
    ]

    ((place, quote),) = list_quotations(lease, "Governing law and disputes")
    assert place.startswith("¶4") and quote.endswith("governed by the laws of Austria.")
    assert any("Peru" in quote for _, quote in list_quotations(deal, "Governing law and disputes"))
    assert all(claim["quotation"] in materials["lease.docx"] for claim in lease["claims"])


@pytest.mark.parametrize(
    ("materials", "name", "reason"),
    [
        ({"a.txt": " \n"}, "a.txt", "a.txt holds no text"),
        (
            {"a.txt": "x" * 2_100_000},
            "a.txt",
            "2,100,000 characters, of at most 2,000,000",
        ),
        ({"a.txt": "x"}, "b.txt", "no material is named 'b.txt'; materials of this task: a.txt"),
        (
            read_contracts(HOUSE_PLAYBOOK),
            HOUSE_PLAYBOOK.name,
            "is a playbook; give the name of a contract",
        ),
        (read_contracts(RECIPE), RECIPE.name, "pancakes.md is not a contract"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_one_line(materials, name, reason):
    with pytest.raises(ToolRefused, match=reason) as refused:
        await extract_clauses.ainvoke({"material": name, "materials": materials})

    assert "\n" not in str(refused.value)


async def test_a_huge_contract_is_answered_within_the_size_and_says_what_is_left_out():
    sentence = (
        "The Supplier shall indemnify the Customer and may terminate this Agreement at will. "
    )
    clauses = [f"{n}. Heading\n\n{n}.1 {sentence * 40}\n\n{n}.2 {sentence}" for n in range(1, 250)]
    text = "This Agreement is made between A Ltd and B Ltd.\n\n" + "\n\n".join(clauses)
    text += "\n[cut at 2000000 characters]"

    found = await extract_clauses.ainvoke({"material": "a.txt", "materials": {"a.txt": text}})

    assert len(json.dumps(found, ensure_ascii=False)) < 20_000
    assert "249 clauses" in found["summary"]
    shown = {kind: len(list_quotations(found, kind)) for kind in ("Indemnity", "Termination")}
    more = [line for line in found["summary"].splitlines() if "not shown; ask by kind" in line]
    assert all(shown.values()) and "Indemnity" in more[0] and "Termination" in more[0]
    assert found["gaps"][0] == "a.txt was cut when it was read: its end is not covered"
    assert all(claim["quotation"] in text for claim in found["claims"])
