"""What tools leave out, could not read or did not check, they say; it is never an empty result."""

import json
from pathlib import Path
from typing import Any

import pytest

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from teams.curriculum.tools.learning.course_plan import plan_course
from teams.curriculum.tools.learning.objectives import check_objectives
from tests.shipped_tools import load_shipped_tools
from tests.unit.tools.review.changes import call_review_tool as reviewed
from tests.unit.tools.review.changes import make_diff

TABLE = "topic,prerequisites,hours\nDecimals,Fractions,2\nFractions,Division,3\n"


async def call_tool(
    name: str, settings: ToolSettings | None = None, **arguments: Any
) -> dict[str, Any]:
    (tool,) = load_shipped_tools([name], settings or ToolSettings())
    answer: dict[str, Any] = await tool.ainvoke(arguments)
    assert len(json.dumps(answer)) < 24_000
    return answer


@pytest.mark.slow
@pytest.mark.parametrize("deep", ["-" * 1500 + "1", " + ".join(["1"] * 1500)])
async def test_a_file_that_the_scanner_gives_up_on_is_not_clean(deep: str) -> None:
    code = f"import pickle\nx = {deep}\npickle.loads(x)\n"

    answer = await reviewed("scan_security", {"change.diff": make_diff(deep__py=("", code))})

    assert answer["findings"] == []
    assert answer["failures"] == ["bandit could not scan `deep.py`"]


DIFF = make_diff(app__py=("", "x = 1\n"))
CONTRACT = "THIS AGREEMENT is made between A and B. 1. Term. 2. Termination."
QUOTED = {"text": "Term", "source": "a.txt", "quotation": "These words stand nowhere at all."}
KINDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
GOOD_ENTRY = '{"time": "2026-03-09T06:00:00Z", "status": 200}\n'
LEFT_OUT: list[tuple[str, dict[str, Any], str]] = [
    (
        "check_style",
        {"materials": {"change.diff": DIFF, "pyproject.toml": "[tool.ruff"}},
        "pyproject.toml cannot be read as TOML, so its rules were not checked",
    ),
    (
        "explain_error",
        {"materials": {f"m{n:02}.py": "x = 1\n" for n in range(21)}},
        "ruff did not look at m20.py",
    ),
    (
        "query_logs",
        {
            "select": "SELECT count(*) FROM app",
            "materials": {"app.jsonl": f"{GOOD_ENTRY}not json\n"},
        },
        "app.jsonl: 1 line could not be read, the first is line 2.",
    ),
    (
        "log_metrics",
        {"materials": {"r.csv": "time,status\n2026-03-09 06:00:00,200\nyesterday,500\n"}},
        "Not counted, as their time cannot be read: 1 entry.",
    ),
    (
        "log_metrics",
        {"materials": {"a.jsonl": GOOD_ENTRY, "b.jsonl": '[{"status": 500},'}},
        "b.jsonl: 1 line could not be read, the first is line 1.",
    ),
    (
        "verify_quotations",
        {"claims": [QUOTED] * 50, "materials": {"a.txt": CONTRACT}},
        "10 more do not hold",
    ),
    (
        "draft_ticket",
        {
            "asked": "The sync fails",
            "materials": {
                "app.log": "".join(f"2026-03-09 06:00:00 ERROR {kind} broke\n" for kind in KINDS)
            },
        },
        "2 more kinds of errors are in the logs",
    ),
    (
        "check_copy",
        {"materials": {"copy.md": "## SMS\nNordlys is here. Reply STOP\n" + "x" * 60_000}},
        "only the first 60,000 characters of copy.md were read",
    ),
    (
        "price_points",
        {"materials": {"a.md": "A lamp costs 20 EUR.\n\n" + "Light is good for you. " * 20_000}},
        "only the first 400,000 characters of a.md were read",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments", "said"), LEFT_OUT)
async def test_what_was_not_read_or_not_checked_is_a_gap_or_a_failure(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    answer = await call_tool(name, **arguments)

    assert said in (*answer.get("failures", ()), *answer.get("gaps", ()))


TOO_MUCH: list[tuple[str, dict[str, Any], str]] = [
    ("search_code", {"query": "db", "materials": {"a.py": "db = 1\n"}}, "no word of three letters"),
    (
        "check_copy",
        {
            "texts": [{"channel": "sms", "text": "Nordlys is here."}],
            "materials": {
                "w.csv": "forbidden,reason\n" + "".join(f"word{n},no\n" for n in range(201))
            },
        },
        "201 forbidden words, of at most 200",
    ),
    (
        "feature_matrix",
        {"claims": [{"text": f"P{n % 2} \N{EM DASH} f{n}: 1", "source": "a"} for n in range(601)]},
        "601 claims, of at most 600",
    ),
    (
        "check_prose",
        {"materials": {f"{n}.md": "This is a whole sentence of words.\n" for n in range(13)}},
        "13 texts, of at most 12",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments", "said"), TOO_MUCH)
async def test_what_cannot_be_done_whole_is_refused(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ToolRefused, match=said):
        await call_tool(name, **arguments)


@pytest.mark.slow
async def test_a_document_that_cannot_be_read_is_not_one_that_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    stored = ToolSettings(documents=tmp_path)
    claim = {"text": "It grew", "source": "broken.pdf", "quotation": "grew"}
    question = "How many zorbs does a quxnarf have in Blefuscu?"
    request = "How do I raise the number of connections of the server?"

    checked = await call_tool("check_sources", stored, claims=[claim], materials=None)
    looked_up = await call_tool("technical_reference", stored, query=question, materials=None)

    (found,) = checked["results"]
    assert found["verdict"] == "source_unknown" and "could not be read" in found["text"]
    assert "not read: broken.pdf" in looked_up["escalation"]["message"]
    with pytest.raises(ToolFailed, match=r"no help document could be read: broken\.pdf"):
        await call_tool("search_help", stored, query=request, materials={})


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("more.csv", "topic,needs\nA,B,C\n", "more.csv was not read: more.csv line 2 has 3 cells"),
        (
            "more.csv",
            'topic,needs\n"a\n' + "x" * 140_000,
            "more.csv was not read: more.csv line 3 cannot be read: field larger",
        ),
    ],
)
def test_a_list_of_topics_that_cannot_be_read_is_not_left_out_in_silence(name, text, reason):
    answer = plan_course({"t.csv": TABLE, name: text})

    assert answer["summary"].startswith("3 topics") or answer["summary"].startswith("2 topics")
    assert answer["failures"][0].startswith(reason)


def test_objectives_that_cannot_be_read_or_are_too_many_are_counted():
    many = "# Objectives\n" + "".join(f"- Explain part {n}\n" for n in range(203))

    answer = check_objectives({"a.md": many, "b.csv": 'objective\n"x'})

    broken, cut = answer["failures"]
    assert broken.startswith("b.csv was not read: b.csv line 2 cannot be read")
    assert cut == "only the first 200 of 203 objectives were checked"


async def test_many_claims_are_checked_and_those_that_hold_are_counted_where_they_do_not_fit():
    text = (
        "AWS had net sales of 107,556 million USD in 2024, after 90,757 million USD in 2023. " * 3
    )
    good, bad = (
        {"text": text, "source": "a.md", "quotation": text},
        {"text": "It fell", "source": "a.md"},
    )
    claims = [good] * 99 + [{**bad, "quotation": "fell"}] + [good] * 20

    answer = await call_tool("check_sources", claims=claims, materials={"a.md": text})

    assert answer["checked"] == 100
    assert answer["failures"] == ["only the first 100 of 120 claims were checked"]
    assert [each["verdict"] for each in answer["results"]].count("unsupported") == 1
    assert len(answer["results"]) + answer["supported_and_not_listed"] == 100


async def test_rows_that_do_not_fit_into_a_matrix_are_counted():
    claims = [
        {"text": f"P{n % 5} \N{EM DASH} f{n // 5}: {'v' * 150}", "source": f"{n % 5}.md"}
        for n in range(400)
    ]

    answer = await call_tool("feature_matrix", claims=claims)

    assert any(gap.endswith("of 80 features are not shown in the table") for gap in answer["gaps"])
    assert answer["summary"].rstrip().endswith(".md.")


async def test_a_draft_is_returned_although_its_file_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    notes = {"a.md": "The fair begins on 3 May. A stand costs 40 EUR. Power is extra there.\n"}

    answer = await call_tool(
        "compose_document",
        ToolSettings(output=tmp_path / "file"),
        draft=True,
        query="costs of a stand",
        format="markdown",
        materials=notes,
    )

    assert "A stand costs 40 EUR." in answer["summary"]
    assert answer["failures"][0].startswith("the document cannot be saved")


async def test_code_that_could_not_be_run_has_not_ended_without_a_word() -> None:
    code = {"a.py": f"x = '{'y' * 3_000_000}'\n"}

    with pytest.raises(ToolRefused, match="has 3000007 characters"):
        await call_tool("run_code", ToolSettings(run_code=True), materials=code)
    with pytest.raises(ToolFailed, match=r"a\.py was not run: the files have"):
        await call_tool(
            "run_code",
            ToolSettings(run_code=True),
            materials={"a.py": "print(1)\n", "big.csv": "x" * 60_000_000},
        )
