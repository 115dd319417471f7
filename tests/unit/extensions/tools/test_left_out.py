"""What tools leave out, could not read or did not check, they say; it is never an empty result."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from teams.curriculum.tools.learning.course_plan import plan_course
from teams.curriculum.tools.learning.objectives import check_objectives
from tests.shipped_tools import load_shipped_tools
from tests.unit.tools.review.changes import call_review_tool as reviewed
from tests.unit.tools.review.changes import make_diff

TABLE = "topic,prerequisites,hours\nDecimals,Fractions,2\nFractions,Division,3\n"
QUOTED = {"text": "Term", "source": "a.txt", "quotation": "These words stand nowhere at all."}


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


@pytest.mark.slow
async def test_a_long_line_is_searched_for_secrets_to_its_end() -> None:
    token = "ghp_" + "x7Kq2LmN9pRs4TuV6wYz8AbC1dEf3GhJ5kLm"
    diff = make_diff(deep__js=("", f"var b = '{'x ' * 1500}'; var token = '{token}';\n"))

    answer = await reviewed("scan_security", {"change.diff": diff})

    assert [finding["line"] for finding in answer["findings"]] == [1]


@pytest.mark.slow
async def test_guidelines_that_cannot_be_read_were_not_checked() -> None:
    diff = make_diff(app__py=("", "x = 1\n"))

    answer = await reviewed("check_style", {"change.diff": diff, "pyproject.toml": "[tool.ruff"})

    assert answer["failures"] == [
        "pyproject.toml cannot be read as TOML, so its rules were not checked"
    ]


@pytest.mark.slow
async def test_files_that_the_linter_did_not_look_at_are_named() -> None:
    code = {f"m{n:02}.py": "x = 1\n" for n in range(21)}

    answer = await call_tool("explain_error", materials=code)

    assert answer["failures"] == ["ruff did not look at m20.py"]


@pytest.mark.slow
async def test_lines_of_a_log_that_no_query_can_see_are_counted() -> None:
    log = '{"time": "2026-03-09T06:00:00Z", "status": 200}\nnot json\n'

    answer = await call_tool(
        "query_logs", select="SELECT count(*) FROM app", materials={"app.jsonl": log}
    )

    assert answer["rows"] == [[1]]
    assert answer["gaps"] == ["app.jsonl: 1 line could not be read, the first is line 2."]


@pytest.mark.slow
async def test_entries_whose_time_cannot_be_read_are_counted_as_left_out() -> None:
    log = "time,status\n2026-03-09 06:00:00,200\n2026-03-09 06:00:01,200\nyesterday,500\n"

    answer = await call_tool("log_metrics", materials={"r.csv": log})

    assert "2 requests" in answer["summary"]
    assert "Not counted, as their time cannot be read: 1 entry." in answer["gaps"]


@pytest.mark.slow
async def test_a_list_of_entries_that_cannot_be_read_hides_behind_no_other_log() -> None:
    good = '{"time": "2026-03-09T06:00:00Z", "status": 200}\n'
    logs = {"a.jsonl": good, "b.jsonl": '[{"status": 500},'}

    answer = await call_tool("log_metrics", materials=logs)

    assert "b.jsonl: 1 line could not be read, the first is line 1." in answer["gaps"]


@pytest.mark.slow
async def test_a_search_for_no_word_is_refused_and_finds_nothing_absent() -> None:
    with pytest.raises(ToolRefused, match="no word of three letters"):
        await call_tool("search_code", query="db", materials={"a.py": "db = 1\n"})


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


async def test_a_draft_that_is_too_long_was_checked_in_part() -> None:
    text = "## SMS\nNordlys is here. Reply STOP\n" + "x" * 60_000

    answer = await call_tool("check_copy", materials={"copy.md": text})

    assert answer["failures"] == ["only the first 60,000 characters of copy.md were read"]


async def test_too_many_forbidden_words_are_refused() -> None:
    words = "forbidden,reason\n" + "".join(f"word{n},no\n" for n in range(201))
    texts = [{"channel": "sms", "text": "Nordlys is here."}]

    with pytest.raises(ToolRefused, match="201 forbidden words, of at most 200"):
        await call_tool("check_copy", texts=texts, materials={"w.csv": words})


async def test_a_long_text_was_read_for_prices_in_part() -> None:
    text = "The lamp costs 20 EUR.\n\n" + "Light is good for you. " * 20_000

    answer = await call_tool("price_points", materials={"a.md": text})

    assert answer["failures"] == ["only the first 400,000 characters of a.md were read"]


@pytest.mark.slow
async def test_a_document_that_could_not_be_read_is_no_unknown_source(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    claim = {"text": "It grew", "source": "broken.pdf", "quotation": "grew"}

    answer = await call_tool(
        "check_sources", ToolSettings(documents=tmp_path), claims=[claim], materials=None
    )

    (found,) = answer["results"]
    assert found["verdict"] == "source_unknown" and "could not be read" in found["text"]


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


@pytest.mark.slow
async def test_quotations_that_do_not_hold_are_counted_where_they_are_too_many():
    contract = "THIS AGREEMENT is made between A and B. 1. Term. 2. Termination."

    answer = await call_tool(
        "verify_quotations", claims=[QUOTED] * 50, materials={"a.txt": contract}
    )

    assert "50 not" in answer["summary"]
    assert "10 more do not hold" in answer["gaps"]


async def test_more_claims_than_a_matrix_takes_are_refused():
    claims = [{"text": f"P{n % 2} \N{EM DASH} f{n}: 1", "source": "a"} for n in range(601)]

    with pytest.raises(ToolRefused, match="601 claims, of at most 600"):
        await call_tool("feature_matrix", claims=claims)


async def test_rows_that_do_not_fit_into_a_matrix_are_counted():
    claims = [
        {"text": f"P{n % 5} \N{EM DASH} f{n // 5}: {'v' * 150}", "source": f"{n % 5}.md"}
        for n in range(400)
    ]

    answer = await call_tool("feature_matrix", claims=claims)

    assert any(gap.endswith("of 80 features are not shown in the table") for gap in answer["gaps"])
    assert answer["summary"].rstrip().endswith(".md.")


async def test_a_ticket_counts_the_errors_it_does_not_show() -> None:
    kinds = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
    log = "".join(f"2026-03-09 06:00:00 ERROR {kind} broke\n" for kind in kinds)

    answer = await call_tool("draft_ticket", asked="The sync fails", materials={"app.log": log})

    assert "2 more kinds of errors are in the logs" in answer["gaps"]


@pytest.mark.slow
async def test_help_that_cannot_be_read_is_no_help_that_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    request = "How do I raise the number of connections of the server?"

    with pytest.raises(ToolFailed, match=r"no help document could be read: broken\.pdf"):
        await call_tool(
            "search_help", ToolSettings(documents=tmp_path), query=request, materials={}
        )


@pytest.mark.slow
async def test_references_that_hold_nothing_name_the_documents_that_were_not_read(tmp_path: Path):
    (tmp_path / "broken.pdf").write_bytes(b"no pdf")
    question = "How many zorbs does a quxnarf have in Blefuscu?"

    answer = await call_tool(
        "technical_reference", ToolSettings(documents=tmp_path), query=question, materials=None
    )

    assert "not read: broken.pdf" in answer["escalation"]["message"]


async def test_more_texts_than_are_checked_are_refused() -> None:
    texts = {f"{n}.md": "This is a whole sentence of words.\n" for n in range(13)}

    with pytest.raises(ToolRefused, match="13 texts, of at most 12"):
        await call_tool("check_prose", materials=texts)


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


@pytest.mark.parametrize(
    ("status", "error"), [(404, ToolRefused), (429, ToolFailed), (503, ToolFailed)]
)
async def test_a_server_that_is_busy_has_failed_and_a_page_that_is_not_there_is_refused(
    status, error
):
    from extensions.tools.fetch_page import fetch_page
    from tests.unit.extensions.tools.test_fetch_page import make_policy

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status)

    app = web.Application()
    app.router.add_get("/page", answer)
    async with TestServer(app) as server:
        tool = fetch_page(ToolSettings(), policy=make_policy(server))
        with pytest.raises(error, match=f"status {status}"):
            await tool.ainvoke({"url": f"http://a.example:{server.port}/page"})
