"""Claims against their sources."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.errors import ToolRefused
from nodes.tools.check_sources import check_sources
from nodes.tools.evidence.figure_matching import find_figures, find_scale_hints, is_among
from nodes.tools.evidence.quotes import is_quote_in
from nodes.tools.framework.settings import ToolSettings

MATERIALS = {
    "caps.csv": "provider,cap_usd_bn,growth_pct,year\nMicrosoft,3130,12.4,2024\n",
    "note.md": "Revenue **rose** by \u201c12 %\u201d \u2014 to 1,234.5 million in 2024.",
}


async def list_verdicts(*claims, settings=None, materials=MATERIALS):
    tool = check_sources(settings or ToolSettings())
    found = await tool.ainvoke({"claims": list(claims), "materials": materials})
    assert found["checked"] == len(claims)
    return found["results"]


@pytest.mark.parametrize(
    ("text", "source", "quotation", "verdict"),
    [
        ("Microsoft is worth $3.13 trillion", "caps.csv", "", "supported"),
        ("It grew by 12.4 percent in 2024", "CAPS", "", "supported"),
        ("a row", "caps.csv", "provider: Microsoft; cap_usd_bn: 3130", "supported"),
        ("It rose", "note.md", 'rose by "12 %" - to', "supported"),
        ("It rose", "note.md", "Revenue ... in 2024", "supported"),
        ("to 1.2345 billion", "note.md", "", "supported"),
        ("to about 1.23 billion", "note.md", "", "supported"),
        ("by 99 %", "note.md", "Revenue rose", "partly"),
        ("by 12 %", "note.md", "Revenue fell", "partly"),
        ("It rose", "note.md", "", "partly"),
        ("by 99 %", "note.md", "", "unsupported"),
        ("It fell", "note.md", "Revenue fell", "unsupported"),
        ("a row", "caps.csv", "provider: Google; cap_usd_bn: 3130", "unsupported"),
        ("x", "https://a.example/", "", "source_unknown"),
        ("x", "nowhere.md", "", "source_unknown"),
        ("x", "", "", "source_unknown"),
    ],
)
async def test_the_verdict_follows_from_quotation_and_figures(text, source, quote, verdict):
    (found,) = await list_verdicts({"text": text, "source": source, "quotation": quote})

    assert found["verdict"] == verdict
    assert found["text"].startswith(verdict)


async def test_a_missing_figure_is_named_as_derived_or_wrong():
    (found,) = await list_verdicts(
        {"text": "up 12 % and 99 %", "source": "note.md", "quotation": "rose"}
    )

    assert found["figures_missing"] == ["99 %"] and found["quote_found"] is True
    assert "derived by calculation, or wrong" in found["text"]


async def test_documents_data_files_and_several_sources_are_looked_into(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("AWS has 31 % of the market.")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sales.csv").write_text("p,usd\nAWS,107.5\n")
    settings = ToolSettings(documents=tmp_path / "docs", sql_url=str(tmp_path / "data"))

    found = await list_verdicts(
        {"text": "31 %", "source": "a.md"},
        {"text": "107.5", "source": "sales.csv"},
        {"text": "31 % and 107.5", "source": "sales.csv, a.md"},
        settings=settings,
    )

    assert [item["verdict"] for item in found] == ["supported"] * 3


async def test_no_claims_are_refused():
    with pytest.raises(ToolRefused):
        await list_verdicts()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.5", ["1234.5"]),
        ("3.13 trillion, 3130 billion and $3.13T", ["3130000000000"] * 3),
        ("1\u202f234 and 5k", ["1234", "5000"]),
        ("-5.2 % (3.1)", ["-5.2", "3.1"]),
        ("Q3 of EC2", []),
        ("2024-03-31", ["2024", "3", "31"]),
        ("AWS,2024,107.5", ["2024", "107.5"]),
    ],
)
def test_figures_are_read_in_many_notations(text, values):
    assert [figure.value for figure in find_figures(text)] == [Decimal(value) for value in values]


@given(st.integers(1, 10**15), st.sampled_from(["{:,}", "{}", "${:,}"]))
def test_separators_do_not_change_a_number(number, form):
    (found,) = find_figures(form.format(number))

    assert found.value == number


@given(st.decimals(1, 999, places=2), st.sampled_from(["thousand", "million", "billion"]))
def test_a_scale_word_and_its_digits_are_one_number(number, word):
    larger = {"thousand": "", "million": " thousand", "billion": " million"}[word]

    (claimed,) = find_figures(f"{number} {word}")

    assert is_among(claimed, find_figures(f"{number * 1000:f}{larger}"), frozenset())


@given(st.text(max_size=200))
def test_any_text_can_be_read_for_figures(text):
    assert all(figure.value.is_finite() for figure in find_figures(text))
    assert isinstance(find_scale_hints(text), frozenset)


@given(st.text("abc \u201c\u2019\u2014*_\n", min_size=1, max_size=80))
def test_a_quotation_stands_in_its_own_text(text):
    if any(sign in "abc" for sign in text):
        assert is_quote_in(text, f"before {text} after")
