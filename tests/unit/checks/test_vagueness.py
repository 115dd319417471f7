import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.planning.vagueness import explain_vagueness
from tests.benchmarks.vagueness.measure import Half, count_errors, read_descriptions


@pytest.mark.parametrize(
    "description",
    [
        "Analyze the data",
        "Do research",
        "Handle the rest",
        "Look into it",
        "Improve the results",
        "12345",
    ],
)
def test_a_description_without_an_object_is_reported(description: str) -> None:
    assert "what to work on" in (explain_vagueness(description) or "")


def test_a_description_without_a_result_is_reported() -> None:
    assert "result that can be checked" in (explain_vagueness("Improve coverage") or "")


@pytest.mark.parametrize(
    "description",
    [
        "Sum column revenue by region",
        "Translate clause 4.2 into French",
        "List open ports on host db-3",
        "Rank T1's candidates by price",
        "Compare the three companies found by T1",
        "Verify the results against sales.csv",
        "Analyze the results of Tesla",
        "Check the state of the PostgreSQL server",
        "Update the record 'k7-Blue' with a new name, size and status",
        "Take the 9.15 to the harbour office and give them the key details of the case",
        "How many suppliers are there?",
        "Go to the boiler room",
        "Understand the customers' needs, the reasons behind them and the ways in which "
        "the lighthouse project might serve them better over time",
    ],
)
def test_a_short_description_that_names_its_work_passes(description: str) -> None:
    assert explain_vagueness(description) is None


@pytest.mark.parametrize(
    "description",
    [
        "Provide 5 insights",
        "Improve the teams' work and the users' experience",
        "Review the data. Provide the insights.",
        "What is important?",
    ],
)
def test_sizes_apostrophes_and_capitals_name_no_object(description: str) -> None:
    assert explain_vagueness(description)


@pytest.mark.parametrize(
    "description",
    [
        "Analysiere die Daten der Umfrage nach Altersgruppe",
        "Analiza los datos de ventas por región",
        "Résume les résultats par pays",
        "分析各地区的销售数据",
        "Проанализируй продажи по регионам",
        "حلل المبيعات حسب المنطقة",
    ],
)
def test_other_languages_are_not_refused_for_not_being_english(description: str) -> None:
    assert explain_vagueness(description) is None


@given(st.text(min_size=1, max_size=300))
def test_any_text_gets_an_answer(description: str) -> None:
    assert explain_vagueness(description) is None or len(explain_vagueness(description) or "") > 20


@pytest.mark.parametrize(
    ("half", "max_false_refusals", "max_misses"),
    [("development", 0.0, 0.02), ("held_out", 0.011, 0.15)],
)
def test_errors_stay_within_the_bounds_reached(
    half: Half, max_false_refusals: float, max_misses: float
) -> None:
    counts = count_errors(read_descriptions(half))

    assert counts.false_refusal_rate <= max_false_refusals
    assert counts.miss_rate <= max_misses
