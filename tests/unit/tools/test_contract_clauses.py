"""Contracts parted into clauses, as filed, hard-wrapped, run together, or without numbers."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.tools.contracts.clauses import SIGNATURES, Clause, named
from nodes.tools.contracts.compliance import check
from nodes.tools.contracts.contract import Contract
from nodes.tools.contracts.extraction import extract
from nodes.tools.contracts.phrases import phrase
from nodes.tools.contracts.playbook import SHIPPED, read_playbook
from tests.contracts import (
    DISTRIBUTION,
    NDA,
    REAL,
    REAL_DISTRIBUTOR,
    REAL_ENDORSEMENT,
    SERVICES,
    text_of,
)

PIECES = (
    *("1. ", "2. Term. ", "ARTICLE I\n", "Section 1.1 ", "(a) ", "(i) ", "A) ", "12", "\n", "   "),
    *("IN WITNESS WHEREOF", "EXHIBIT A\n", "TABLE OF CONTENTS\n", "Text. More; and\n", "[*]"),
    *(
        "The parties agree that \u201cthis\u201d shall hold. ",
        "- 3 -\n",
        "\f",
        "\u0130",
        "Ten (9) days ",
    ),
)
NUMBERED = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


PLAYBOOK = read_playbook(SHIPPED.name, SHIPPED.read_text(encoding="utf-8"))


def read(file: Path) -> Contract:
    return Contract(file.name, text_of(file))


def numbers(contract: Contract, level: int | None = None) -> list[str]:
    return [c.number for c in contract.clauses if level is None or c.level == level]


def headings(contract: Contract) -> dict[str, str]:
    return {clause.number: clause.heading for clause in contract.clauses}


def own_text(contract: Contract, number: str) -> str:
    (clause,) = named(contract.clauses, number)
    return contract.reading.raw[clause.start : clause.whole_end]


@pytest.mark.parametrize(
    ("file", "count"),
    [*zip((*REAL, DISTRIBUTION), (22, 20, 8, 16), strict=True)],
)
def test_the_whole_clauses_of_a_contract_are_counted_as_it_counts_them(file, count):
    contract = read(file)

    assert numbers(contract, level=0) == ["preamble", *map(str, range(1, count + 1)), SIGNATURES]


@pytest.mark.parametrize("file", [*REAL, DISTRIBUTION])
def test_each_clause_begins_where_its_number_stands(file):
    """Held against a plain search for the number, which knows nothing of sequences."""
    contract = read(file)

    for clause in contract.clauses:
        if clause.level == 0 and clause.number.isdigit():
            before = contract.reading.raw[max(0, clause.start - 1) : clause.start]
            at = contract.reading.raw[clause.start :]
            assert re.match(rf"{clause.number}\.? ", at)
            assert before.strip() == ""


def test_clauses_that_are_run_together_in_one_line_are_parted():
    contract = read(REAL_ENDORSEMENT)

    assert headings(contract)["6"] == "Non-Competing Services"
    assert headings(contract)["11"] == "Mutual Representations, Warranties and Covenants"
    assert "14" in numbers(contract) and headings(contract)["14"] == ""
    assert own_text(contract, "12").startswith("12. Assignment - Neither party will assign any")
    assert own_text(contract, "9(b)").startswith("(b) All amounts due under this Agreement")


def test_lettered_parts_and_lists_lie_below_their_clause():
    found = numbers(read(DISTRIBUTION))

    at = found.index("12")
    assert found[at : at + 5] == ["12", "12(A)", "12(A)(i)", "12(A)(ii)", "12(A)(iii)"]
    assert found[at + 5 : at + 8] == ["12(B)", "12(C)", "13"]


def test_numbers_below_a_letter_are_parts_of_it():
    found = numbers(read(REAL_DISTRIBUTOR))

    assert found[found.index("17(A).1") :][:4] == ["17(A).1", "17(A).2", "17(A).3", "17(B)"]


def test_a_clause_is_found_however_its_number_is_written():
    clauses = read(DISTRIBUTION).clauses

    for written in ("12(C)", "12 C", "12.C", "Clause 12 (c)", "section 12C"):
        (clause,) = named(clauses, written)
        assert clause.number == "12(C)"
    assert named(clauses, "99") == [] == named(clauses, "")


def test_articles_sections_and_lists_of_a_hard_wrapped_filing_are_parted():
    contract = read(SERVICES)

    assert numbers(contract) == [
        *("preamble", "Article I", "1.1", "1.2", "Article II", "2.1"),
        *("2.1(a)", "2.1(b)", "2.1(b)(i)", "2.1(b)(ii)", "2.1(c)", "2.2"),
        *("Article III", "3.1", "3.2", SIGNATURES, "Exhibit A", "Exhibit A 1", "Exhibit A 2"),
    ]
    assert headings(contract)["Article III"] == "TERM AND TERMINATION"
    assert headings(contract)["2.2"] == "Fees"


def test_the_table_of_contents_page_marks_and_running_heads_are_no_text():
    contract = read(SERVICES)

    assert "......" in contract.reading.raw and "......" not in contract.reading.clean
    assert "Harrow / Brightwater MSA" not in contract.reading.clean
    assert "<PAGE>" not in contract.reading.clean and "-2-" not in contract.reading.clean
    assert len(contract.reading.clean) == len(contract.reading.raw)


def test_a_table_of_contents_without_page_numbers_is_no_text():
    text = (
        "CONTRACT\n\nContents\n\n1. Scope\n2. Price\n\nThis contract is made between A and B today."
        "\n\n1. Scope\n\nA shall dig.\n\n2. Price\n\nB shall pay."
    )
    contract = Contract("a.txt", text)

    assert numbers(contract) == ["preamble", "1", "2"]
    assert own_text(contract, "2") == "2. Price\n\nB shall pay."


def test_a_sentence_that_a_page_break_cuts_is_quoted_up_to_the_break():
    contract = read(SERVICES)

    (hit,) = contract.find([phrase("undisputed invoices")])

    assert contract.quote(contract.passage(hit)).endswith("within ninety\n(90) days after")


def test_parties_and_recitals_before_the_first_number_are_the_preamble():
    text = (
        "DEED\n\nPARTIES\n\n(1) NORTH LIMITED (Client); and\n(2) JANE ROE of Rye (Consultant).\n\n"
        "BACKGROUND\n\n(A) The Client needs advice.\n(B) The Consultant gives it.\n\n"
        "1. TERM\n\n1.1 The engagement lasts:\n\n(a) one month's notice permitting; or\n"
        "(b) until 1 May 2021.\n\n2. FEES\n\nThe Client shall pay 500 GBP a day.\n"
    )

    assert numbers(Contract("a.txt", text)) == ["preamble", "1", "1.1", "1.1(a)", "1.1(b)", "2"]


def test_parts_under_headings_are_counted_where_there_are_no_numbers():
    text = (
        "# Non-Disclosure Agreement\n\nThis agreement is between A AG and B SAS.\n\n## Purpose\n\n"
        "The parties talk.\n\n## Secrecy\n\nEach party shall be silent.\n\n## Law\n\nFrench law."
    )
    contract = Contract("a.docx", text)

    assert headings(contract) == {"preamble": "", "¶1": "Purpose", "¶2": "Secrecy", "¶3": "Law"}


def test_paragraphs_are_counted_where_there_are_not_even_headings():
    text = (
        "Letter agreement of A and B.\n\nA will pay B ten dollars.\n\nB shall keep it all secret."
    )

    assert numbers(Contract("a.txt", text)) == ["preamble", "¶1", "¶2"]


def test_a_reference_at_the_start_of_a_line_opens_no_clause():
    text = (
        "1. Scope. A shall dig as agreed in Section 2 and in\n(a) this clause, and as set forth in"
        " the\n3. Then B shall be told of it.\n\n2. Price. B shall pay as stated in clause\n3. C "
        "shall watch."
    )

    assert numbers(Contract("a.txt", text)) == ["1", "2"]


def test_counting_goes_on_over_articles_and_past_a_deleted_clause():
    text = (
        "ARTICLE I\nWORK\n\n1. Digging. A shall dig.\n\n2. Filling. A shall fill.\n\n"
        "ARTICLE II\nMONEY\n\n3. Price. B shall pay.\n\n5. Interest. B shall pay more.\n"
    )

    assert numbers(Contract("a.txt", text)) == ["Article I", "1", "2", "Article II", "3", "5"]


@given(NUMBERED | st.text(max_size=400))
def test_the_clauses_of_any_text_cover_it_without_gap_or_overlap(text):
    contract = Contract("a.txt", text)
    found = contract.clauses

    assert not contract.reading.clean[: found[0].start].strip() and found[-1].end == len(text)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert all(c.start <= c.head <= c.body <= max(c.end, c.body) and c.number for c in found)


@given(NUMBERED | st.text(max_size=400))
def test_text_as_it_is_searched_keeps_every_offset(text):
    reading = Contract("a.txt", text).reading

    assert len(reading.clean) == len(reading.low) == len(text)


@given(NUMBERED | st.text(max_size=400))
def test_whatever_is_quoted_of_any_text_stands_in_it(text):
    contract = Contract("a.txt", text)
    answers = [extract(contract, "key clauses"), check(contract, PLAYBOOK)]

    for claim in (claim for answer in answers for claim in answer["claims"]):
        assert claim["quote"] and claim["quote"] in text


@given(NUMBERED)
def test_every_sentence_lies_inside_one_clause(text):
    contract = Contract("a.txt", text)

    def owner(at: int) -> Clause:
        return contract.clause_at(at)

    assert all(owner(start) is owner(max(start, end - 1)) for start, end in contract.sentences)


@pytest.mark.parametrize("file", [*REAL, DISTRIBUTION, NDA, SERVICES])
def test_the_line_of_a_clause_is_the_line_an_editor_shows(file):
    contract = read(file)
    lines = contract.reading.raw.split("\n")

    for clause in contract.clauses:
        line = contract.reading.line(clause.start)
        before = sum(len(each) + 1 for each in lines[: line - 1])
        assert before <= clause.start <= before + len(lines[line - 1])
