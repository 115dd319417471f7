"""Claims against their sources."""

import pytest

from extensions.tools.check_sources import check_sources
from nodes.errors import ToolRefused
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
    ("text", "source", "quote", "verdict"),
    [
        ("Microsoft is worth $3.13 trillion", "caps.csv", "", "supported"),
        ("It grew by 12.4 percent in 2024", "CAPS", "", "supported"),
        ("a row", "caps.csv", "provider: Microsoft; cap_usd_bn: 3130", "supported"),
        ("It rose", "note.md", 'rose by "12 %" - to', "supported"),
        ("It rose", "note.md", "Revenue ... in 2024", "supported"),
        ("to 1.2345 billion", "note.md", "", "supported"),
        ("to about 1.23 billion", "note.md", "", "supported"),
        ("by 99 %", "note.md", "Revenue rose", "partly"),
        ("by 12 %", "note.md", "Revenue fell", "unsupported"),
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


async def test_a_missing_figure_is_named():
    (found,) = await list_verdicts(
        {"text": "up 12 % and 99 %", "source": "note.md", "quotation": "rose by “12 %”"}
    )

    assert found["figures_missing"] == ["99 %"] and found["quote_found"] is True
    assert "not there: 99 %" in found["text"]


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
