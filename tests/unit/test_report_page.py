"""The report of a run: one file, small, whatever the trace holds."""

import json
import re
from typing import Any

import pytest

from graph.commands.runs import RunsHere, show_trace
from graph.pages.report import MAX_BYTES, format_report, shrink_trace, write_report
from graph.runs.trace import TraceUnreadable, build_trace, get_log_path
from nodes.errors import OutputFailed
from nodes.errors.redaction import register_secrets

PLAN = {
    "goal": "Compare.",
    "version": 1,
    "tasks": [{"id": "one", "description": "Find one.", "worker": "finder", "depends_on": []}],
}
REPORT = {"task": "one", "worker": "finder", "status": "completed", "output": "One."}


def make_event(kind, t, task="", **fields):
    return {"t": t, "kind": kind, "task": task, "worker": "finder" if task else "", **fields}


def make_trace(output="One.", request="Compare the coffees", count=1):
    report = {**REPORT, "output": output}
    return build_trace(
        [
            {"run": {"thread": "T", "team": "buyers"}},
            make_event("request", 0.0, request=request, models={}, materials=[]),
            make_event("plan_created", 0.1, plan=PLAN),
            make_event("task_started", 0.2, "one", attempt=1),
            *(make_event("tool_call", 0.3, "one", tool="search", result="r") for _ in range(count)),
            make_event("report", 0.5, "one", report=report),
        ]
    )


def read_trace(page):
    """Return the JSON that a page holds."""
    found = re.search(r'<script type="application/json" id="trace">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found.group(1))


def test_a_report_names_its_request_and_loads_nothing():
    page = format_report(make_trace())
    assert "<title>Compare the coffees · run report</title>" in page
    assert "default-src &#x27;none&#x27;" in page
    assert not re.search(r"<(?:link|img|iframe|base)\b|(?<!\.)\bsrc=|@import|url\((?!#)", page)


def test_markup_in_a_request_and_a_report_is_text():
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    page = format_report(make_trace(output=hostile, request=hostile))
    assert page.count("<script") == 2
    assert "<img" not in page
    assert read_trace(page)["tasks"][0]["report"]["output"] == hostile


def test_a_plan_and_a_report_are_held_once():
    events = shrink_trace(make_trace())["events"]
    by_kind = {event["kind"]: event for event in events}
    assert by_kind["plan_created"]["plan"] == 0
    assert "report" not in by_kind["report"]


def test_a_report_of_an_earlier_attempt_stays_in_its_event():
    trace = make_trace()
    earlier = {**REPORT, "status": "failed"}
    trace["events"].insert(4, make_event("report", 0.4, "one", report=earlier))
    kept = [event.get("report") for event in shrink_trace(trace)["events"]]
    assert earlier in kept


def test_long_texts_are_cut_and_counted():
    shrunk = shrink_trace(make_trace(output="x" * 1_000_000))
    output = shrunk["tasks"][0]["report"]["output"]
    assert output == "x" * 200_000 + " … [800,000 characters more]"
    assert shrunk["run"]["cut_texts"] == 1


def test_many_long_texts_are_cut_until_the_page_is_small():
    trace = make_trace()
    trace["tasks"] = [
        {**trace["tasks"][0], "id": f"t{n}", "report": {**REPORT, "output": "y" * 20_000}}
        for n in range(1_000)
    ]
    page = format_report(trace)
    assert len(page.encode()) < 5_000_000
    assert read_trace(page)["run"]["cut_texts"] >= 1_000


@pytest.mark.slow
def test_a_trace_of_too_many_events_keeps_those_of_the_timeline():
    shrunk = shrink_trace(make_trace(count=60_000))
    assert [event["kind"] for event in shrunk["events"]] == [
        *("request", "plan_created", "task_started", "report"),
    ]
    assert shrunk["run"]["left_out_events"] == 60_000
    assert len(json.dumps(shrunk)) < MAX_BYTES


def test_json_nested_too_deeply_is_cut():
    deep: list[Any] = ["x"]  # a list of lists of lists
    for _ in range(400):
        deep = [deep]
    trace = make_trace()
    trace["events"].append(make_event("tool_call", 0.6, "one", tool="t", args={"deep": deep}))
    assert json.dumps(shrink_trace(trace)).count("[[") < 100


@pytest.mark.parametrize("trace", [{}, {"run": None}, {"run": {}}, {"run": {"request": 3}}])
def test_a_trace_without_a_request_is_refused(trace):
    with pytest.raises(TraceUnreadable, match="no request"):
        format_report(trace)


@pytest.mark.parametrize(
    "parts",
    [
        {"tasks": None, "events": None, "plans": None},
        {"tasks": "x", "events": [1, None], "plans": 3},
        {"tasks": [1, {"team": 3}], "events": [{"kind": "report"}], "plans": [None]},
    ],
)
def test_a_foreign_trace_gives_a_page(parts):
    assert format_report({"version": 1, "run": {"request": "Compare"}, **parts})


def test_a_secret_in_a_trace_is_not_in_the_report():
    register_secrets(["secret-of-a-report"])
    page = format_report(make_trace(output="the key is secret-of-a-report"))
    assert read_trace(page)["tasks"][0]["report"]["output"] == "the key is [secret]"


def test_a_report_that_cannot_be_written_is_one_error(tmp_path):
    with pytest.raises(OutputFailed, match="cannot write"):
        write_report(make_trace(), tmp_path / "missing" / "run.html")


def write_log(settings, text):
    path = get_log_path("T", settings)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("text", ["", '{"run": {"thread": "T"}}\n', "not json\n", '{"t": 0.1, "ki'])
def test_a_log_without_a_request_is_one_error(settings, tmp_path, text):
    write_log(settings, text)
    with pytest.raises(TraceUnreadable, match="no request") as refused:
        show_trace("T", RunsHere(settings), out=tmp_path / "o", format="html")
    assert "\n" not in refused.value.format_line()


def test_a_log_that_is_cut_gives_the_report_of_what_is_left(settings, tmp_path):
    text = "\n".join(json.dumps(event) for event in make_trace()["events"])
    write_log(settings, text[: len(text) // 2])
    out = tmp_path / "run.html"
    assert show_trace("T", RunsHere(settings), out=out, format="html") == 0
    assert read_trace(out.read_text(encoding="utf-8"))["run"]["status"] == "running"
