"""Figures of logs, held against other ways to compute them."""

import json
import random
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from nodes.errors import ToolRefused
from teams.engineering_ops.tools.incident.metrics import TrafficWindow, find_error_rise
from tests.unit.tools.incident.tool_calls import EXAMPLES, call_incident_tool, read_example_files

pytestmark = pytest.mark.slow


async def test_the_figures_are_those_that_duckdb_computes() -> None:
    (row,) = duckdb.execute(
        f"""SELECT count(*), count(*) FILTER (status >= 500),
        count(*) FILTER (time < '2026-03-02T14:02:10Z'),
        round(quantile_cont(duration_ms, 0.5)), round(quantile_cont(duration_ms, 0.95)),
        round(quantile_cont(duration_ms, 0.99))
        FROM read_json('{EXAMPLES / "bug" / "requests.jsonl"}', format='newline_delimited')"""
    ).fetchall()

    answer = await call_incident_tool(
        "log_metrics", read_example_files("bug/requests.jsonl", "bug/changes.csv")
    )

    count, errors, before, p50, p95, p99 = row
    assert f"{count} requests from 2026-03-02 13:40:00 UTC" in answer["summary"]
    assert f"{errors} of them errors ({100 * errors / count:.2f} percent)" in answer["summary"]
    assert f"0 errors in {before} requests" in answer["summary"]
    assert f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms" in answer["summary"]


async def test_the_table_by_minute_is_a_count_of_the_lines() -> None:
    text = read_example_files("bug/requests.jsonl")["requests.jsonl"]
    rows = [json.loads(line) for line in text.splitlines()]
    minute = [row for row in rows if row["time"].startswith("2026-03-02T14:06")]

    answer = await call_incident_tool("log_metrics", {"requests.jsonl": text})

    failed = sum(row["status"] >= 500 for row in minute)
    rate = f"{100 * failed / len(minute):.2f} percent"
    assert f"| 14:06 | {len(minute)} | {failed} | {rate} |" in answer["summary"]


async def test_every_quotation_stands_in_its_source() -> None:
    materials = read_example_files("bug/requests.jsonl", "bug/changes.csv")

    answer = await call_incident_tool("log_metrics", materials)

    assert all(claim["quotation"] in materials[claim["source"]] for claim in answer["claims"]
               if claim["quotation"])  # fmt: skip
    assert {claim["source"] for claim in answer["claims"]} == set(materials)


async def test_lines_that_cannot_be_read_are_counted_and_named() -> None:
    good = '{"time": "2026-03-02T14:00:00Z", "status": 200}'
    deep = "[" * 100_000

    answer = await call_incident_tool("log_metrics", {"a.jsonl": f"{good}\n{{half\n{deep}\n"})

    assert "a.jsonl: 2 lines could not be read, the first is line 2." in answer["gaps"]
    assert "1 request from" in answer["summary"]


async def test_rows_after_one_that_cannot_be_read_are_counted() -> None:
    rows = ["time,status,message", "2026-03-02T14:00:00Z,200,a"]
    rows += [f"2026-03-02T14:00:01Z,200,{'x' * 140_000}", "2026-03-02T14:00:02Z,500,b"]

    answer = await call_incident_tool("log_metrics", {"a.csv": "\n".join(rows)})

    assert "a.csv: 1 line could not be read, the first is line 3." in answer["gaps"]
    assert "2 requests from" in answer["summary"] and "1 of them errors" in answer["summary"]


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (0.5, "in the minute from 00:29:"),
        (30, "in the hour from 2026-03-03 05:00:"),
        (24 * 9, "in the 6 hours from 2026-03-10 18:00:"),
        (24 * 40, "in the day from 2026-04-10:"),
        (24 * 200, "in the week from 2026-09-10:"),
    ],
)
async def test_a_stretch_of_time_is_named_with_its_date_unless_all_is_of_one_day(
    hours: float, words: str
) -> None:
    begin = datetime(2026, 3, 2, tzinfo=UTC)
    times = [begin + timedelta(hours=hours * n / 60) for n in range(60)]
    lines = [f"{time:%Y-%m-%d %H:%M:%S} INFO x" for time in times[:-1]]
    lines.append(f"{times[-1]:%Y-%m-%d %H:%M:%S} ERROR x")

    answer = await call_incident_tool("log_metrics", {"a.log": "\n".join(lines)})

    assert f"The error rate was highest {words}" in answer["summary"]


async def test_a_password_in_a_log_line_is_neither_reported_nor_quoted() -> None:
    text = "2026-03-02 14:00:00 ERROR login failed: password=gull77 of redis://:tern88@db\n"

    answer = await call_incident_tool("log_metrics", {"a.log": text})

    assert "gull77" not in str(answer) and "tern88" not in str(answer)
    assert "login failed: password=[hidden]" in answer["summary"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.log", "started\nfailed\n"), ("a.csv", "name,age\nIda,4\n"), ("a.jsonl", "{}\n")],
)
async def test_a_log_without_times_is_refused(name: str, text: str) -> None:
    with pytest.raises(ToolRefused, match="no log with times"):
        await call_incident_tool("log_metrics", {name: text})


async def test_seconds_are_reported_as_milliseconds() -> None:
    text = "time,status,duration_s\n2026-03-02T14:00:00Z,200,0.25\n"

    answer = await call_incident_tool("log_metrics", {"a.csv": text})

    assert "p50 250 ms" in answer["summary"]


async def test_errors_that_differ_in_numbers_are_counted_together() -> None:
    lines = [f"2026-03-02 14:00:0{n} ERROR pump {n} of dock=d{n} stopped" for n in range(9)]

    answer = await call_incident_tool("log_metrics", {"a.log": "\n".join(lines)})

    assert "9 errors logged: `pump 0 of dock=d0 stopped`" in answer["summary"]


async def test_a_huge_log_gives_an_answer_of_limited_size() -> None:
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        f"{(begins + timedelta(seconds=40 * n)).isoformat()},200,{n % 90}" for n in range(40_000)
    ]
    text = "\n".join(["time,status,duration_ms", *rows])

    answer = await call_incident_tool("log_metrics", {"a.csv": text})

    assert "40,000 requests" in answer["summary"] and len(json.dumps(answer)) < 20_000


def test_a_rise_is_found_where_it_was_put_and_none_in_noise() -> None:
    draw = random.Random(7)
    begins = datetime(2026, 1, 1, tzinfo=UTC)

    def minute(number: int, rate: float) -> TrafficWindow:
        failed = sum(draw.random() < rate for _ in range(50))
        return TrafficWindow(begins + timedelta(minutes=number), 50, failed)

    quiet = [[minute(n, 0.02) for n in range(40)] for _ in range(50)]
    loud = [[minute(n, 0.02 if n < 25 else 0.2) for n in range(40)] for _ in range(50)]

    found = [find_error_rise(parts) for parts in loud]
    assert (
        sum(one is not None and one.started_at == begins + timedelta(minutes=25) for one in found)
        > 40
    )
    assert sum(find_error_rise(parts) is not None for parts in quiet) < 5


async def test_words_of_a_log_cannot_become_links_or_pictures() -> None:
    text = "2026-03-02 14:00:00 ERROR ![x](http://example.net/`a`)\n"

    answer = await call_incident_tool("log_metrics", {"a.log": text})

    assert "`![x](http://example.net/'a')`" in answer["summary"]


async def test_a_lock_that_is_released_is_no_release() -> None:
    text = "".join(
        f"2026-03-02 14:{n:02}:00 {'ERROR' if n > 9 else 'INFO'} lock released\n" for n in range(30)
    )

    answer = await call_incident_tool("log_metrics", {"a.log": text})

    assert any("none is reported in the files" in gap for gap in answer["gaps"])


async def test_sql_reads_logs_of_any_format() -> None:
    materials = read_example_files("bug/requests.jsonl", "bug/changes.csv")
    sql = "SELECT version, count(*) AS n FROM requests WHERE status = 500 GROUP BY version"

    listed = await call_incident_tool("query_logs", materials)
    answer = await call_incident_tool("query_logs", materials, select=sql)

    assert {table["table"] for table in listed["tables"]} == {"requests", "changes"}
    assert answer["rows"] == [["2.7.0", 33]]


@pytest.mark.parametrize(
    "sql", ["DROP TABLE requests", "SELECT * FROM read_text('/etc/passwd')", "SELEC 1"]
)
async def test_sql_that_does_more_than_read_the_logs_is_refused(sql: str) -> None:
    with pytest.raises(ToolRefused):
        await call_incident_tool("query_logs", read_example_files("bug/requests.jsonl"), select=sql)
