"""The benchmark of proofs: what it calls true is in the documents, what it plants is false."""

from collections import Counter
from pathlib import Path

import pytest

from state import Claim
from tests.benchmarks.proof.cases import KINDS, Case, generate_cases
from tests.benchmarks.proof.documents import Document, read_documents
from tests.benchmarks.proof.figures import list_figures, list_values, may_follow
from tests.benchmarks.proof.free import build_free_case, read_free_claims
from tests.benchmarks.proof.quotations import holds_quotation

SENTENCES = """
The contract between Harbour Lights Trust and Weaver Brothers began on March {day}, 2019.
In the first year, the Trust paid ${large},000 to Weaver Brothers for the mill wheel.
The repair of the roof takes {few} days, while the repair of the wheel takes {many} days.
Questions about the mill go to Anna Petrova at the office of Harbour Lights Trust.
About {many}% of the members voted for the plan, and {few}% of the members voted against it.
The oak beams were cut by Nordic Timber Works in the summer of the second year.
Visitors of the mill pay {few} dollars on weekdays, and children under {many} pay nothing.
The river carried {large},500 tons of gravel past the old bridge in that winter.
The reserve of the parish is kept at Union Savings Bank until the end of the works.
On April {day}, 2021, the parish council of Lower Marsh approved the second payment.
""".strip().splitlines()
ADDRESS = "Plans of the mill are kept at https://mill-{few}.example.org/plans for all members"
ROOT = Path(__file__).parents[2]
PER_KIND = 3
QUOTATION_FAULTS = ("invented quotation", "altered quotation", "stitched quotation")


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    given = read_documents([ROOT / "docs"], packages=False)
    return [*given, *map(build_text, range(8)), *map(build_table, range(8))]


def build_text(number: int) -> Document:
    values = {"day": 3 + number, "few": 21 + number, "many": 61 + 3 * number, "large": 40 + number}
    lines = [each.format(**values) for each in SENTENCES]
    return Document(f"mill_{number}.txt", "\n\n".join((*lines, ADDRESS.format(**values))))


def build_table(number: int) -> Document:
    rows = [
        f"{1990 + row},{(row * 7 + number) ** 3 + 2_000_000},{(row * 11 + number) % 17 + 3}.5,"
        f"{40_000 + (row * 31 + number * 7) % 23 * 900}"
        for row in range(12)
    ]
    return Document(f"mills_{number}.csv", "\n".join(("year,grain,share,visits", *rows)))


@pytest.fixture(scope="module")
def cases(documents: list[Document]) -> list[Case]:
    return list(generate_cases(documents, per_kind=PER_KIND, true_cases=20))


def read_source(case: Case, name: str) -> str:
    results = [text for _, text in case.tool_results if text.startswith(f"{name}, lines")]
    return case.materials.get(name, "".join(results))


def read_quotation(claim: Claim) -> str:
    values = claim.model_dump()
    return str(values.get("quotation", values.get("quote")))


def test_every_kind_occurs_in_both_halves(cases: list[Case]) -> None:
    counts = Counter(f"{case.split} {case.kind}" for case in cases)

    assert all(counts[f"{split} {kind}"] == PER_KIND for split in "ab" for kind in KINDS)


def test_quotations_of_true_claims_are_in_their_documents(cases: list[Case]) -> None:
    for case in cases:
        for at, claim in enumerate(case.report.claims):
            quotation = read_quotation(claim)
            if at != case.fault_claim and quotation:
                assert holds_quotation(read_source(case, claim.source), quotation), claim


def test_planted_quotations_are_in_no_document(cases: list[Case]) -> None:
    planted = [case for case in cases if case.kind in QUOTATION_FAULTS]

    for case in planted:
        assert case.fault_claim is not None
        quotation = read_quotation(case.report.claims[case.fault_claim])
        texts = (*case.materials.values(), *(text for _, text in case.tool_results))
        assert quotation and not any(holds_quotation(text, quotation) for text in texts)


def test_planted_figures_do_not_follow_from_their_quotations(cases: list[Case]) -> None:
    kinds = ("altered digit", "another figure", "wrong arithmetic")
    planted = [case for case in cases if case.kind in kinds]

    for case in planted:
        assert case.fault_claim is not None
        claim = case.report.claims[case.fault_claim]
        quoted = list_values(read_quotation(claim))
        wrong = [each for each in list_figures(claim.text) if not may_follow(each.value, quoted)]
        assert wrong or not quoted


def test_free_claims_are_half_true_and_each_has_its_quotation() -> None:
    claims = read_free_claims()

    counts = Counter(claim.fault for claim in claims)

    assert counts == {"": 150, "figure": 70, "unit": 25, "date": 25, "name": 30}
    assert len({claim.text for claim in claims}) == len(claims)
    for number, claim in enumerate(claims):
        case = build_free_case(number, claim)
        assert holds_quotation(read_source(case, claim.source), claim.quotation)
