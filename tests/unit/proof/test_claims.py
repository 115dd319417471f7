"""Claims of a report, proved by what was read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.proof import Evidence, find_claims, is_quoted, prove_answer, prove_claim, prove_report
from state import Answer, Claim, Report

MILL = (
    "# The mill\n\nWork on the mill wheel can begin in March 2027, once the eel has spawned. The "
    "state pays 59,200 EUR of the 148,000 EUR, which is 40 percent; the parish pays the rest.\n\n"
    "Amazon held 30 percent of the market, Microsoft 21 percent.\n"
)
CAPS = (
    "company,year,market_cap_billion_usd,staff\nMicrosoft,2023,2794.7,221\n"
    "Microsoft,2024,3133.4,228\nAmazon,2023,1570.2,1525\nAmazon,2024,2324.0,1556\n"
)
BEGINS = "Work on the mill wheel can begin in March 2027"
SHARES = "The state pays 59,200 EUR of the 148,000 EUR, which is 40 percent"


def read_all() -> Evidence:
    evidence = Evidence("When can work begin?")
    evidence.add_material("mill.md", MILL)
    evidence.add_material("caps.csv", CAPS)
    return evidence


def prove(text: str, source: str = "mill.md", quotation: str = "") -> Claim:
    return prove_claim(Claim(text=text, source=source, quotation=quotation), read_all())


@pytest.mark.parametrize(
    ("text", "quotation", "proof"),
    [
        ("Work can begin in March 2027.", BEGINS, "quoted"),
        ("Work can begin in March 2026.", BEGINS, "unproved"),
        ("Work can begin in March 2027.", "Work on the mill wheel can begin in May", "unproved"),
        ("The state pays 59.2 thousand euros.", SHARES, "quoted"),
        ("The state pays 59,200 USD.", SHARES, "unproved"),
        ("The state pays 59,200 million EUR.", SHARES, "unproved"),
        ("The parish pays 88,800 EUR.", SHARES, "computed"),
        ("The parish pays 60 percent.", SHARES, "computed"),
        ("The state pays about two fifths.", SHARES, "quoted"),
        ("Google held 21 percent.", "Microsoft 21 percent", "unproved"),
        ("Microsoft held 21 percent.", "Microsoft 21 percent", "quoted"),
    ],
)
def test_a_claim_has_what_its_quotation_has(text: str, quotation: str, proof: str) -> None:
    assert prove(text, quotation=quotation).proof == proof


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        ("Microsoft was worth 3,133.4 billion USD in 2024.", "quoted"),
        ("Microsoft was worth 2,794.7 billion USD in 2024.", "unproved"),
        ("Microsoft had a market cap of 228 billion USD in 2024.", "unproved"),
        ("The market cap of Microsoft grew by 12.1 percent from 2023 to 2024.", "computed"),
        ("The market cap of Microsoft fell by 12.1 percent from 2023 to 2024.", "unproved"),
        ("In 2024 the market cap of Microsoft was higher than that of Amazon.", "quoted"),
        ("In 2024 the market cap of Microsoft was lower than that of Amazon.", "unproved"),
    ],
)
def test_a_claim_on_a_table_has_what_its_row_and_column_have(text: str, proof: str) -> None:
    assert prove(text, "caps.csv").proof == proof


def test_a_sentence_is_quoted_where_the_claim_quotes_none() -> None:
    found = prove("Work on the wheel can begin in March 2027.")

    assert found.proof == "quoted" and found.quotation.startswith(BEGINS)


def test_a_source_that_was_not_read_proves_nothing() -> None:
    found = prove("Work can begin in March 2027.", "accounts.pdf", BEGINS)

    assert found.proof == "unproved" and found.doubt == "accounts.pdf was not read"


def test_without_any_source_a_claim_is_stated() -> None:
    claim = prove_claim(Claim(text="There are 25 primes below 100."), Evidence())

    assert claim.proof == "stated"


def test_what_a_tool_returned_is_computed_or_returned() -> None:
    evidence = Evidence("What share of 148000 is 59200?")
    evidence.add_result("calculate", {"expression": "59200 / 148000"}, "0.4")
    evidence.add_result("loan", {}, '{"monthly_payment": 1159.92, "months": 240}')

    payment = prove_claim(Claim(text="The payment is 1,159.92."), evidence)
    share = prove_claim(Claim(text="The share is 0.4.", source="calculate"), evidence)

    assert (payment.proof, share.proof) == ("returned", "computed")


def test_a_model_that_quotes_what_it_gave_a_tool_quotes_itself() -> None:
    evidence, said = Evidence(), "The reserve is 75,000 EUR."
    evidence.add_result("check_prose", {"text": said}, f"26 characters: {said}")

    found = prove_claim(Claim(text=said, source="check_prose", quotation=said), evidence)

    assert found.proof == "unproved"


def test_a_calculation_with_numbers_that_nobody_gave_proves_nothing() -> None:
    evidence = read_all()
    evidence.add_result("calculate", {"expression": "75000 * 1"}, "75000")

    found = prove_claim(Claim(text="The reserve is 75,000 EUR.", source="calculate"), evidence)

    assert found.proof == "unproved"


def test_an_unproved_claim_lowers_the_confidence_and_is_a_gap() -> None:
    report = Report(claims=(Claim(text="It costs 75,000 EUR.", source="mill.md"),), confidence=95)

    found = prove_report(report, read_all())

    assert found.confidence == 50 and "75,000 EUR" in found.gaps[0]


@pytest.mark.parametrize(
    "quotation",
    [
        "work on the mill\n   wheel can begin",
        "Work on the mill wheel can be-\ngin in March",
        "Work on … can begin in March 2027",
        "company: Microsoft; year: 2024; staff: 228",
    ],
)
def test_a_quotation_is_found_however_it_is_printed(quotation: str) -> None:
    assert is_quoted(quotation, f"{MILL}\n{CAPS}")


def test_a_claim_in_the_words_of_its_quotation_is_proved_with_the_marks_of_its_links() -> None:
    passage = "Begin with [the plan](PLAN.md#step2go) of 2027."
    evidence = Evidence()
    evidence.add_material("guide.md", f"# Guide\n\n{passage}\n")

    claim = prove_claim(Claim(text=passage, source="guide.md", quotation=passage), evidence)

    assert (claim.proof, claim.doubt) == ("quoted", "")


def test_two_sentences_far_apart_are_no_quotation() -> None:
    text = f"{MILL}{'Nothing is said here. ' * 60}The roof leaks."

    assert not is_quoted("Work on the mill wheel ... The roof leaks", text)


@given(st.text(max_size=400), st.text(max_size=200), st.text(max_size=200))
def test_any_claim_on_any_text_has_a_proof(text: str, claimed: str, quotation: str) -> None:
    evidence = Evidence()
    evidence.add_material("a.md", text)
    claim = Claim(text=claimed or "x", source="a.md", quotation=quotation)

    assert prove_claim(claim, evidence).proof is not None


@given(st.text("abc \u201c\u2019\u2014*_\n", min_size=1, max_size=80))
def test_a_text_is_quoted_from_itself(text: str) -> None:
    if any(sign in "abc" for sign in text):
        assert is_quoted(text, f"before {text} after")


def test_sentences_that_were_found_are_claims_and_others_are_none() -> None:
    text = (
        "Here is what the report says.\n\n- The state pays 59,200 EUR.\n"
        "- The parish pays 12,000 EUR.\n\n| company | 2024 |\n|---|---|\n| Microsoft | 3133.4 |\n"
    )

    found = find_claims(text, read_all())

    assert [(claim.text, claim.source, claim.proof) for claim in found] == [
        ("The state pays 59,200 EUR.", "mill.md", "quoted"),
        ("Microsoft | 3133.4", "caps.csv", "quoted"),
    ]


CLAIMS = (
    Claim(text="Microsoft grew by 12.1 percent.", source="caps.csv", proof="computed"),
    Claim(text="Amazon grew by 48.0 percent.", source="caps.csv", proof="computed"),
    Claim(text="AWS earned 61.7 billion USD.", source="aws.md", proof="quoted"),
    Claim(text="Google Cloud earned 18.5 billion USD.", source="g.md", proof="quoted"),
)


def mark(text: str, *claims: Claim) -> tuple[str, list[str]]:
    report = Report(task="a", claims=claims or CLAIMS)
    proved = prove_answer(Answer(text=text), [report], Evidence("Who grew?"))
    return proved.answer.text, list(proved.gaps)


@pytest.mark.parametrize(
    "text",
    [
        "Microsoft grew by 12.1 percent, Amazon by 48.0 percent.",
        "| company | growth |\n|---|---|\n| Microsoft | 12.1 percent |\n| Amazon | 48 percent |",
        "AWS earned about 3.3 times as much as Google Cloud.",
        "1. Amazon: 48.0 percent (caps.csv)\n2. Microsoft: 12.1 percent",
    ],
)
def test_what_the_claims_say_has_no_mark(text: str) -> None:
    assert mark(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Amazon grew by 12.1 percent.", "Amazon"),
        ("Microsoft grew by 13.1 percent.", "13.1"),
        ("Microsoft grew by 12.1 percent and hired 900 people.", "900"),
        ("One in nine of them came from abroad.", "One in 9"),
        ('They said "we will never open the mill again".', "never open"),
        ("Amazon grew by 48.0 percent, see https://a.example/x.", "a.example"),
        ("```\nMicrosoft 17.2 percent\n```", "17.2"),
        ("[Microsoft grew by 19 percent](caps.csv)", "19 percent"),
    ],
)
def test_what_no_claim_says_is_marked_and_a_gap(text: str, named: str) -> None:
    marked, gaps = mark(text)

    assert "(not supported by a source)" in marked
    assert len(gaps) == 1 and named in gaps[0]


def test_what_an_unproved_claim_says_is_marked_once() -> None:
    doubted = Claim(text="The reserve is 75,000 EUR.", source="m.md", proof="unproved")

    marked, gaps = mark("The reserve is 75,000 EUR.", *CLAIMS, doubted)

    assert marked == "The reserve is 75,000 EUR (not supported by a source)." and gaps == []


def test_an_output_whose_worker_made_no_claims_supports_the_answer() -> None:
    output = "Microsoft grew by 12.1 percent. Amazon grew by 48.0 percent."
    found = (Claim(text="Amazon grew by 48.0 percent.", source="caps.csv", proof="computed"),)
    report = Report(task="a", output=output, claims=found, has_found_claims=True)

    proved = prove_answer(Answer(text=output), [report], Evidence("Who grew?"))

    assert (proved.answer.text, dict(proved.gaps)) == (output, {})
    assert proved.answer.claims == found


@pytest.mark.parametrize(("goals", "proof"), [(11, "quoted"), (9, "unproved")])
def test_a_figure_is_looked_up_in_its_column_though_the_name_of_a_label_has_more_words(
    goals: int, proof: str
) -> None:
    rows = "".join(f"P{100 + n},N{n},{n}\n" for n in range(15))
    evidence = Evidence("Who scored most?")
    evidence.add_material("players.csv", f"player_id,name,goals\n{rows}")

    claim = Claim(text=f"player_id: P111; goals: {goals}", source="players.csv")

    assert prove_claim(claim, evidence).proof == proof
