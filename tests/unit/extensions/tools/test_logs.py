"""Logs of any usual format, read as entries with time, level and message."""

import json

import pytest

from extensions.tools.logs.entries import format_duration, format_time, parse_time
from extensions.tools.logs.reader import is_log, read_log


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T14:02:10Z", "2026-03-02T14:02:10+00:00"),
        ("2026-03-02 14:02:10,5", "2026-03-02T14:02:10.500000+00:00"),
        ("2026/03/02 14:02:10", "2026-03-02T14:02:10+00:00"),
        ("2026-03-02T14:02:10+02:00", "2026-03-02T12:02:10+00:00"),
        ("1772460130", "2026-03-02T14:02:10+00:00"),
        ("1772460130000", "2026-03-02T14:02:10+00:00"),
        ("[02/Mar/2026:14:02:10 +0000]", "2026-03-02T14:02:10+00:00"),
        ("260302 140210", "2026-03-02T14:02:10+00:00"),
        ("26/03/02 14:02:10", "2026-03-02T14:02:10+00:00"),
        ("Mar  2 14:02:10 2026", "2026-03-02T14:02:10+00:00"),
        ("yesterday", None),
        ("12", None),
        ("999999 999999", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_times_are_read_as_logs_write_them(text, expected):
    found = parse_time(text)

    assert (found.isoformat() if found else None) == expected


def test_a_time_without_a_year_gets_none():
    found = parse_time("Feb 29 04:05:06")

    assert found is not None and format_time(found) == "Feb 29 04:05:06"


@pytest.mark.parametrize(
    ("seconds", "said"), [(3662, "1 h 1 min 2 s"), (0.4, "under 1 s"), (7, "7 s")]
)
def test_durations_are_formatted_in_hours_minutes_and_seconds(seconds, said):
    assert format_duration(seconds) == said


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("260302 140210 7 WARN dock.Gate: slow", "warning"),
        ("260302 140210 48213 WARN dock.Gate: slow", "warning"),
        ("260302 140210 9999999 ERROR dock.Gate: stuck", "error"),
        ("17 4711 99 [main-3] WARN slow", "warning"),
        ("api-1  | 2026-03-02 14:02:10 [error] it stopped", "error"),
        ('time="2026-03-02T14:02:10Z" level=warning msg="slow"', "warning"),
        ("Mar  2 14:02:10 host app[7]: CRITICAL disk", "critical"),
        ("FATAL out of memory", "critical"),
        ("2026-03-02 14:02:10 DEBUG x", "debug"),
    ],
)
def test_the_level_is_found_behind_times_threads_and_prefixes(line, level):
    (entry,) = read_log("a.log", line).entries

    assert entry.level == level


def test_a_level_within_prose_is_not_a_level():
    assert not read_log("a.txt", "When you see the word ERROR, call us.").entries


def test_of_a_log_without_levels_lines_that_report_a_failure_are_errors():
    lines = [
        "Mar  2 14:02:10 host sshd[9]: Failed password for root",
        "Mar  2 14:02:11 host sshd[9]: authentication failure; user=root",
        "Mar  2 14:02:12 host backup[3]: done, no errors",
        "Mar  2 14:02:13 host sshd[9]: session opened",
    ]

    log = read_log("auth.log", "\n".join(lines))
    named = read_log("app.log", "2026-03-02 14:02:10 INFO retry of the failed job")

    assert [entry.level for entry in log.entries] == ["error", "error", "info", "info"]
    assert log.is_level_inferred and "names no levels" in log.describe_limits()[0][0]
    assert named.entries[0].level == "info" and not named.is_level_inferred


def test_the_status_of_an_access_log_decides_and_not_the_words_of_its_path():
    line = '10.0.0.1 - - [02/Mar/2026:14:02:10 +0000] "GET /failed HTTP/1.1" {} 512'

    log = read_log("access.log", "\n".join(line.format(status) for status in (200, 503)))

    assert [entry.is_failing for entry in log.entries] == [False, True]


def test_rows_objects_and_lists_of_objects_come_to_the_same():
    row = {"time": "2026-03-02T14:02:10Z", "status": 503, "latency_s": 0.25, "message": "gone"}
    table = f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"

    read = [
        read_log("a.csv", table),
        read_log("a.jsonl", json.dumps(row)),
        read_log("a.json", json.dumps([row])),
    ]

    assert {(e.time, e.status, e.duration_ms, e.message) for log in read for e in log.entries} == {
        (parse_time(row["time"]), 503, 250.0, "gone")
    }


def test_lines_without_a_time_or_a_level_are_not_entries_of_their_own():
    log = read_log("a.log", "2026-03-02 14:02:10 INFO up\n  more of it\nWARN low\n")

    assert [(entry.line, entry.level) for entry in log.entries] == [(1, "info"), (3, "warning")]
    assert log.find_stamp(3) == "2026-03-02 14:02:10"


@pytest.mark.parametrize("name", ["a.log", "a.jsonl", "a.ndjson"])
def test_a_file_with_the_name_of_a_log_is_a_log(name):
    assert is_log(name, "up\n")
