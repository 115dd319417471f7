"""Contracts parted into clauses, as filed, hard-wrapped, run together, or without numbers."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teams.contract_review.tools.contracts.clause_kinds import load_clause_kinds
from teams.contract_review.tools.contracts.clauses import (
    AFTER_SIGNATURES,
    SIGNATURES,
    Clause,
    find_clauses,
)
from teams.contract_review.tools.contracts.contract import Contract
from teams.contract_review.tools.contracts.phrases import parse_phrase
from tests.contracts import (
    DISTRIBUTION,
    NDA,
    REAL_CONTRACTS,
    REAL_DISTRIBUTOR,
    REAL_ENDORSEMENT,
    SERVICES,
    read_contract,
)

pytestmark = pytest.mark.slow

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


def load_contract(file: Path) -> Contract:
    return Contract(file.name, read_contract(file))


def list_numbers(contract: Contract, level: int | None = None) -> list[str]:
    return [c.number for c in contract.clauses if level is None or c.level == level]


def list_headings(contract: Contract) -> dict[str, str]:
    return {clause.number: clause.heading for clause in contract.clauses}


def get_own_text(contract: Contract, number: str) -> str:
    (clause,) = find_clauses(contract.clauses, number)
    return contract.text.raw[clause.start : clause.whole_end]


@pytest.mark.parametrize(
    ("file", "count"),
    [*zip((*REAL_CONTRACTS, DISTRIBUTION), (22, 20, 8, 16), strict=True)],
)
def test_the_whole_clauses_of_a_contract_are_counted_as_it_counts_them(file, count):
    contract = load_contract(file)

    assert list_numbers(contract, level=0) == [
        "preamble",
        *map(str, range(1, count + 1)),
        SIGNATURES,
    ]


def test_clauses_that_are_run_together_in_one_line_are_parted():
    contract = load_contract(REAL_ENDORSEMENT)

    assert list_headings(contract)["6"] == "Non-Competing Services"
    assert list_headings(contract)["11"] == "Mutual Representations, Warranties and Covenants"
    assert "14" in list_numbers(contract) and list_headings(contract)["14"] == ""
    assert get_own_text(contract, "12").startswith("12. Assignment - Neither party will assign any")
    assert get_own_text(contract, "9(b)").startswith("(b) All amounts due under this Agreement")


def test_lettered_parts_and_lists_lie_below_their_clause():
    found = list_numbers(load_contract(DISTRIBUTION))

    at = found.index("12")
    assert found[at : at + 5] == ["12", "12(A)", "12(A)(i)", "12(A)(ii)", "12(A)(iii)"]
    assert found[at + 5 : at + 8] == ["12(B)", "12(C)", "13"]


def test_numbers_below_a_letter_are_parts_of_it():
    found = list_numbers(load_contract(REAL_DISTRIBUTOR))

    assert found[found.index("17(A).1") :][:4] == ["17(A).1", "17(A).2", "17(A).3", "17(B)"]


def test_a_clause_is_found_however_its_number_is_written():
    clauses = load_contract(DISTRIBUTION).clauses

    for written in ("12(C)", "12 C", "12.C", "Clause 12 (c)", "section 12C"):
        (clause,) = find_clauses(clauses, written)
        assert clause.number == "12(C)"
    assert find_clauses(clauses, "99") == [] == find_clauses(clauses, "")


def test_articles_sections_and_lists_of_a_hard_wrapped_filing_are_parted():
    contract = load_contract(SERVICES)

    assert list_numbers(contract) == [
        *("preamble", "Article I", "1.1", "1.2", "Article II", "2.1"),
        *("2.1(a)", "2.1(b)", "2.1(b)(i)", "2.1(b)(ii)", "2.1(c)", "2.2"),
        *("Article III", "3.1", "3.2", SIGNATURES, "Exhibit A", "Exhibit A 1", "Exhibit A 2"),
    ]
    assert list_headings(contract)["Article III"] == "TERM AND TERMINATION"
    assert list_headings(contract)["2.2"] == "Fees"


def test_the_table_of_contents_page_marks_and_running_heads_are_no_text():
    contract = load_contract(SERVICES)

    assert "......" in contract.text.raw and "......" not in contract.text.clean
    assert "Harrow / Brightwater MSA" not in contract.text.clean
    assert "<PAGE>" not in contract.text.clean and "-2-" not in contract.text.clean
    assert len(contract.text.clean) == len(contract.text.raw)


def test_a_table_of_contents_without_page_numbers_is_no_text():
    text = (
        "CONTRACT\n\nContents\n\n1. Scope\n2. Price\n\nThis contract is made between A and B today."
        "\n\n1. Scope\n\nA shall dig.\n\n2. Price\n\nB shall pay."
    )
    contract = Contract("a.txt", text)

    assert list_numbers(contract) == ["preamble", "1", "2"]
    assert get_own_text(contract, "2") == "2. Price\n\nB shall pay."


def test_a_sentence_that_a_page_break_cuts_is_quoted_to_its_end():
    contract = load_contract(SERVICES)

    (hit,) = contract.find_phrases([parse_phrase("undisputed invoices")])

    quoted = contract.quote(contract.build_passage(hit))
    assert "within ninety\n(90) days after" in quoted and quoted.endswith("receipt.")


NUMBERS = {
    "parties and recitals before the first number are the preamble": (
        "DEED\n\nPARTIES\n\n(1) NORTH LIMITED (Client); and\n(2) JANE ROE of Rye (Consultant).\n\n"
        "BACKGROUND\n\n(A) The Client needs advice.\n(B) The Consultant gives it.\n\n"
        "1. TERM\n\n1.1 The engagement lasts:\n\n(a) one month's notice permitting; or\n"
        "(b) until 1 May 2021.\n\n2. FEES\n\nThe Client shall pay 500 GBP a day.\n",
        "preamble, 1 TERM, 1.1, 1.1(a), 1.1(b), 2 FEES",
    ),
    "without numbers, parts under headings are counted": (
        "# Non-Disclosure Agreement\n\nThis is between A AG and B SAS.\n\n## Purpose\n\nWe talk."
        "\n\n## Secrecy\n\nEach party shall be silent.\n\n## Law\n\nFrench law.",
        "preamble, ¶1 Purpose, ¶2 Secrecy, ¶3 Law",
    ),
    "without headings, paragraphs are counted": (
        "Letter of A and B.\n\nA will pay B ten dollars.\n\nB shall keep it all secret.",
        "preamble, ¶1, ¶2",
    ),
    "a reference at the start of a line opens no clause": (
        "1. Scope. A shall dig as agreed in Section 2 and in\n(a) this clause, and as set forth in"
        " the\n3. Then B shall be told of it.\n\n2. Price. B shall pay as stated in clause\n3. C "
        "shall watch.",
        "1 Scope, 2 Price",
    ),
    "counting goes on over articles and past a deleted clause": (
        "ARTICLE I\nWORK\n\n1. Digging. A shall dig.\n\n2. Filling. A shall fill.\n\n"
        "ARTICLE II\nMONEY\n\n3. Price. B shall pay.\n\n5. Interest. B shall pay more.\n",
        "Article I WORK, 1 Digging, 2 Filling, Article II MONEY, 3 Price, 5 Interest",
    ),
}


@pytest.mark.parametrize(("text", "parts"), NUMBERS.values(), ids=NUMBERS.keys())
def test_a_contract_is_parted_by_its_numbers_headings_or_paragraphs(text, parts):
    clauses = Contract("a.docx", text).clauses

    assert ", ".join(f"{each.number} {each.heading}".strip() for each in clauses) == parts


@given(NUMBERED | st.text(max_size=400))
def test_the_clauses_of_any_text_cover_it_without_gap_or_overlap(text):
    contract = Contract("a.txt", text)
    found = contract.clauses

    assert not contract.text.clean[: found[0].start].strip() and found[-1].end == len(text)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert all(
        c.start <= c.text_start <= c.body_start <= max(c.end, c.body_start) and c.number
        for c in found
    )


@given(NUMBERED | st.text(max_size=400))
def test_text_as_it_is_searched_keeps_every_offset(text):
    reading = Contract("a.txt", text).text

    assert len(reading.clean) == len(reading.lowercase) == len(text)


@given(NUMBERED | st.text(max_size=400))
def test_whatever_is_quoted_of_any_text_stands_in_it(text):
    contract = Contract("a.txt", text)

    for kind in load_clause_kinds().values():
        passages = map(contract.build_passage, contract.find_phrases(kind.any, kind.unless))
        assert all(0 <= each.start <= each.end <= len(text) for each in passages)


@given(NUMBERED)
def test_every_sentence_lies_inside_one_clause(text):
    contract = Contract("a.txt", text)

    def owner(at: int) -> Clause:
        return contract.find_clause(at)

    assert all(owner(start) is owner(max(start, end - 1)) for start, end in contract.sentences)


@pytest.mark.parametrize("file", [*REAL_CONTRACTS, DISTRIBUTION, NDA, SERVICES])
def test_the_line_of_a_clause_is_the_line_an_editor_shows(file):
    contract = load_contract(file)
    lines = contract.text.raw.split("\n")

    for clause in contract.clauses:
        line = contract.text.find_line_number(clause.start)
        before = sum(len(each) + 1 for each in lines[: line - 1])
        assert before <= clause.start <= before + len(lines[line - 1])


def test_text_after_a_line_to_sign_on_keeps_its_clause_and_is_searched():
    text = (
        "Agreement of the parties.\n\n1. Work. A shall dig.\n\nBy: ________\n\nThe digger may "
        "terminate this Agreement by giving 60 days of notice.\n\n2. Law. Peru's law shall apply."
    )
    contract = Contract("a.txt", text)

    (hit,) = contract.find_phrases([parse_phrase("may terminate")])

    assert list_numbers(contract) == ["preamble", "1", "2"]
    assert hit.clause.number == "1"
    assert not contract.find_phrases([parse_phrase("____")])


def test_text_after_the_signatures_is_a_part_of_its_own():
    text = (
        "Agreement of the parties.\n\n1. Work. A shall dig.\n\n2. Pay. B shall pay.\n\n"
        "IN WITNESS WHEREOF, the parties have signed.\n\n/s/ A\nName: A\n\n"
        "Addendum: the digger shall carry insurance for all of the work."
    )
    contract = Contract("a.txt", text)

    (hit,) = contract.find_phrases([parse_phrase("insurance")])

    assert hit.clause.number == AFTER_SIGNATURES


def test_lines_to_sign_on_are_no_text():
    text = "Agreement.\n\n1. Work. A shall dig.\n\nBy: ____\nName: ____\nTitle: Head of Digging\n"

    assert not Contract("a.txt", text).find_phrases([parse_phrase("____")])
