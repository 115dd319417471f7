"""Clauses and facts, quoted word for word."""

import json
from typing import Any

import docx
import pytest

from nodes.errors import ToolRefused
from nodes.tools.documents.reader import read_document
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


async def extract_from(name: str, query: str = "key clauses", **more: Any) -> dict[str, Any]:
    materials = more.pop("materials", None) or read_contracts(FILES[name])
    found: dict[str, Any] = await extract_clauses.ainvoke(
        {"material": name, "query": query, "materials": materials, **more}
    )
    return found


def list_quotations(found: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    places = zip(found["claims"], found["places"], strict=True)
    return [(p["clause"], c["quote"]) for c, p in places if c["text"].startswith(f"{kind}: ")]


@pytest.mark.parametrize("name", FILES)
async def test_every_quotation_stands_in_its_contract_at_its_offsets_and_line(name):
    text = read_contract(FILES[name])

    found = await extract_from(name)

    assert len(found["claims"]) == len(found["places"]) >= 5
    for claim, place in zip(found["claims"], found["places"], strict=True):
        assert claim["quote"] and claim["source"] == name
        assert text[place["start"] : place["end"]] == claim["quote"]
        assert place["line"] == text[: place["start"]].count("\n") + 1


async def test_a_line_to_sign_on_changes_no_clause_and_no_fact():
    text = read_contract(DISTRIBUTION)
    without = await extract_from(DISTRIBUTION.name, materials={DISTRIBUTION.name: text})

    signed = f"{text}\n{'_' * 30} Name and title\n"
    found = await extract_from(DISTRIBUTION.name, materials={DISTRIBUTION.name: signed})

    assert (found["claims"], found["places"]) == (without["claims"], without["places"])


@pytest.mark.parametrize("name", FILES)
async def test_what_the_summary_shows_between_quotation_marks_stands_in_the_contract(name):
    summary = (await extract_from(name))["summary"]
    words = " ".join(read_contract(FILES[name]).split())

    shown = [part.partition("\u201d")[0] for part in summary.split("\u201c")[1:]]

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
    assert {kind: list_quotations(found, kind)[0][0] for kind in expected} == expected
    assert "Not found:** term, renewal, termination, limitation of liability" in found["summary"]


async def test_a_query_narrows_what_is_quoted():
    found = await extract_from(DISTRIBUTION.name, "How can we terminate it, and does it renew?")

    assert [clause for clause, _ in list_quotations(found, "Termination")] == ["12(A)", "12(B)"]
    assert list_quotations(found, "Termination")[1][1].endswith(
        "upon twenty (20) days' written notice."
    )
    assert list_quotations(found, "Renewal")[0][0] == "3(B)"
    assert not list_quotations(found, "Payment")


async def test_a_sentence_that_opens_a_list_is_quoted_with_its_list():
    found = await extract_from(DISTRIBUTION.name, "termination")

    (quote,) = (
        quote for clause, quote in list_quotations(found, "Termination") if clause == "12(A)"
    )

    assert quote.startswith("Either party may terminate") and "insolvent" in quote


async def test_a_question_on_something_else_is_looked_for_in_the_text():
    found = await extract_from(DISTRIBUTION.name, "trade fairs")

    assert [place["clause"] for place in found["places"]][-1] == "4(A)"
    assert "two trade fairs" in found["claims"][-1]["quote"]


async def test_a_request_that_no_contract_answers_is_escalated():
    found = await extract_from(DISTRIBUTION.name, "birthday cake ingredients")

    assert found["escalation"]["reason"] == "out_of_scope"
    assert "birthday, cake, ingredients" in found["escalation"]["message"]
    assert "claims" not in found


async def test_one_clause_is_given_whole_by_its_number():
    found = await extract_from(DISTRIBUTION.name, "", clause="12 (A)")

    (text,) = found["texts"]
    assert text in read_contract(DISTRIBUTION)
    assert text.startswith("A) Either party may terminate") and text.endswith(
        "business in the Territory."
    )


async def test_a_clause_too_long_to_be_given_whole_says_so():
    digging = "A shall dig. " * 2000
    text = f"Agreement between the parties A and B.\n\n1. Work. {digging}\n\n2. Notice. None."

    found = await extract_from("a.txt", "", clause="1", materials={"a.txt": text})

    assert len(json.dumps(found)) < 20_000 and len(found["texts"][0]) == 12_000
    assert found["gaps"][0] == "1 is given up to 12,000 characters"


async def test_a_clause_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(ToolRefused, match=r"no clause '77'; it has preamble, 1, 2, 3"):
        await extract_from(DISTRIBUTION.name, "", clause="77")


async def test_what_is_left_blank_is_a_gap():
    text = (
        'This Agreement dated [*] is between Marlowe, Inc. and [*] ("Distributor").\n\n'
        "1. Work. Distributor shall sell.\n\n2. Law. The laws of Peru govern this Agreement."
    )

    found = await extract_from("a.txt", materials={"a.txt": text})

    assert "a.txt: the name of the Distributor is left blank" in found["gaps"]
    assert "a.txt: its date is left blank" in found["gaps"]
    assert "not legal advice" in found["gaps"][-1]


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
    materials = {name: read_document(tmp_path / name) for name in ("lease.docx", "a.pdf")}

    lease, deal = [
        await extract_clauses.ainvoke({"material": name, "query": "law", "materials": materials})
        for name in materials
    ]

    assert ("¶4", "Law\n\nThis lease is governed by the laws of Austria.") in [
        (clause, quote.replace("# ", ""))
        for clause, quote in list_quotations(lease, "Governing law and disputes")
    ]
    assert any("Peru" in quote for _, quote in list_quotations(deal, "Governing law and disputes"))
    assert all(claim["quote"] in materials["lease.docx"] for claim in lease["claims"])


async def test_a_text_that_is_not_a_contract_is_escalated():
    found = await extract_clauses.ainvoke(
        {"material": RECIPE.name, "query": "key clauses", "materials": read_contracts(RECIPE)}
    )

    assert found["escalation"]["reason"] == "out_of_scope"
    assert found["escalation"]["message"].startswith("pancakes.md is not a contract")


async def test_a_text_that_is_no_contract_is_left_out_beside_one_that_is():
    found = await extract_clauses.ainvoke(
        {"material": RECIPE.name, "query": "key clauses", "materials": read_contracts(RECIPE, NDA)}
    )

    assert "escalation" not in found and not found["summary"]
    assert "pancakes.md is not a contract" in found["gaps"][0] and "left out" in found["gaps"][0]


@pytest.mark.parametrize(
    ("materials", "name", "reason"),
    [
        ({"a.txt": " \n"}, "a.txt", "a.txt holds no text"),
        (
            {"a.txt": "x" * 2_100_000},
            "a.txt",
            "2,100,000 characters, of at most 2,000,000; split it",
        ),
        ({"a.txt": "x"}, "b.txt", "no material is named 'b.txt'; materials of this task: a.txt"),
        (
            read_contracts(HOUSE_PLAYBOOK),
            HOUSE_PLAYBOOK.name,
            "is a playbook, and there is no contract",
        ),
    ],
)
async def test_what_cannot_be_read_is_refused_in_one_line(materials, name, reason):
    with pytest.raises(ToolRefused, match=reason) as refused:
        await extract_clauses.ainvoke({"material": name, "query": "x", "materials": materials})

    assert "\n" not in str(refused.value)


async def test_a_huge_contract_is_answered_within_the_size_and_says_what_is_left_out():
    sentence = (
        "The Supplier shall indemnify the Customer and may terminate this Agreement at will. "
    )
    clauses = [f"{n}. Heading\n\n{n}.1 {sentence * 40}\n\n{n}.2 {sentence}" for n in range(1, 250)]
    text = "This Agreement is made between A Ltd and B Ltd.\n\n" + "\n\n".join(clauses)
    text += "\n[cut at 2000000 characters]"

    found = await extract_clauses.ainvoke(
        {"material": "a.txt", "query": "key clauses", "materials": {"a.txt": text}}
    )

    assert len(json.dumps(found, ensure_ascii=False)) < 20_000
    assert "249 clauses, with 498 parts below them" in found["summary"]
    assert found["gaps"][0] == "a.txt was cut when it was read: its end is not covered"
    assert all(claim["quote"] in text for claim in found["claims"])


@pytest.mark.parametrize("name", FILES)
async def test_an_answer_stays_within_the_size_that_a_worker_reads_whole(name):
    assert len(json.dumps(await extract_from(name), ensure_ascii=False)) < 20_000
