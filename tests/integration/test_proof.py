"""What a model invents is found by program, sent back once, and marked in the answer."""

from typing import Any

from graph import build_supervisor
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.teams import make_team

MILL = (
    "# The mill\n\nWork on the mill wheel can begin in March 2027, once the eel has spawned. "
    "The state pays 59,200 EUR of the 148,000 EUR; the parish pays the rest.\n"
)
REQUEST = "When can work on the mill wheel begin, and what does the parish pay?"
BEGINS = "Work on the mill wheel can begin in March 2027"
FALSE_CLAIMS = [
    {
        "text": "Work on the wheel can begin in March 2026.",
        "source": "mill.md",
        "quotation": BEGINS,
    },
    {
        "text": "The parish pays 59,200 EUR.",
        "source": "mill.md",
        "quotation": "the parish pays the rest",
    },
    {
        "text": "There is a reserve of 75,000 EUR.",
        "source": "mill.md",
        "quotation": "a reserve of 75,000 EUR",
    },
]
TRUE_CLAIMS = [
    {"text": f"{BEGINS}.", "source": "mill.md", "quotation": BEGINS},
    {
        "text": "The parish pays 88,800 EUR.",
        "source": "mill.md",
        "quotation": "The state pays 59,200 EUR of the 148,000 EUR; the parish pays the rest.",
    },
]


def make_report(claims: list[dict[str, str]]) -> dict[str, Any]:
    return {"output": "\n".join(claim["text"] for claim in claims), "claims": claims,
            "confidence": 95}  # fmt: skip


async def answer(
    reports: list[dict[str, Any]], text: str, sources: tuple[str, ...] = ("mill.md",)
) -> tuple[dict[str, Any], Endpoint]:
    task = ScriptedTask(
        id="mill",
        description="Find when work on the mill wheel can begin, and what the parish pays.",
        report=reports,
        materials=("mill.md",),
    )
    replies = {"Answer": {"text": text, "confidence": 95, "sources": list(sources)}}
    async with Endpoint(Scenario(tasks=(task,), answers=replies)) as endpoint:
        settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test")
        graph = build_supervisor(make_team(), settings=settings)
        state = await graph.ainvoke({"request": REQUEST, "materials": {"mill.md": MILL}})
    return state, endpoint


async def test_invented_claims_are_marked_and_named_as_gaps():
    false = make_report(FALSE_CLAIMS)
    text = (
        "Work on the wheel can begin in March 2026 and takes 14 months. The parish pays 59,200 EUR."
        " There is a reserve of 75,000 EUR."
    )

    state, endpoint = await answer([false, false], text, ("mill.md", "parish_accounts.pdf"))

    found = state["answer"]
    assert state["status"] == "partial" and found.confidence <= 50
    assert len(found.gaps) == 4 and "14 months" in found.gaps[-1] + found.gaps[0]
    assert [claim.proof for claim in state["results"]["mill"].claims] == ["unproved"] * 3
    assert found.text.count("(not supported by a source)") == 3
    assert found.sources == ("mill.md",)
    assert len(endpoint.select_calls(schema="Report")) == 2


async def test_a_report_is_sent_back_once_and_corrected():
    state, endpoint = await answer(
        [make_report(FALSE_CLAIMS), make_report(TRUE_CLAIMS)],
        "Work on the mill wheel can begin in March 2027. The parish pays 88,800 EUR.",
    )

    assert state["status"] == "done" and state["answer"].gaps == ()
    assert [claim.proof for claim in state["answer"].claims] == ["quoted", "computed"]
    asked = endpoint.select_calls(schema="Report")
    assert len(asked) == 2 and "75,000 EUR" in str(asked[1].body)


async def test_a_proved_report_costs_no_call():
    state, endpoint = await answer(
        [make_report(TRUE_CLAIMS)],
        "Work on the mill wheel can begin in March 2027. The parish pays 88,800 EUR.",
    )

    assert state["status"] == "done" and state["answer"].confidence == 95
    assert len(endpoint.select_calls()) == 3
