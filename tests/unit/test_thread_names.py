"""A thread is named by its id, by its first characters, or as the last one."""

import json
import os

import pytest

from graph.commands.runs import ThreadAmbiguous, choose_thread
from graph.runs.trace import ThreadUnknown
from graph.settings import Settings
from tests.unit.test_cli_draw import EVENTS, write_log

THREADS = ["abcdef999999", "abcdef111111", "123456789abc", "last-but-one"]


@pytest.mark.parametrize(
    ("name", "thread"),
    [
        ("last", "abcdef999999"),
        ("123456", "123456789abc"),
        ("abcdef1", "abcdef111111"),
        ("abcdef111111", "abcdef111111"),
        ("last-but", "last-but-one"),
        ("654321", "654321"),
    ],
)
def test_a_name_means_a_thread(name, thread):
    assert choose_thread(name, THREADS) == thread


def test_a_whole_id_is_meant_where_others_begin_with_it():
    assert choose_thread("report", ["report-2", "report"]) == "report"


def test_last_is_the_newest_thread_also_where_one_has_that_name():
    assert choose_thread("last", ["newer", "last"]) == "newer"


def test_a_beginning_of_several_is_refused_with_their_list():
    with pytest.raises(ThreadAmbiguous) as refused:
        choose_thread("abcdef", THREADS)

    assert refused.value.format_line() == (
        "error[THREAD_AMBIGUOUS] 2 threads begin with 'abcdef'. "
        "next: name one of abcdef999999, abcdef111111"
    )


def test_without_a_run_there_is_no_last_one():
    with pytest.raises(ThreadUnknown, match="there is no last run"):
        choose_thread("last", [])


@pytest.mark.parametrize("name", ["last", "abcdef", "abcdef123456"])
def test_commands_take_each_way_to_name_a_thread(supervise, name):
    for number, thread in enumerate(["older0123456", "abcdef123456"]):
        write_log(thread, {"run": {"thread": thread, "team": "coffee"}}, *EVENTS)
        os.utime(Settings().home / "traces" / f"{thread}.jsonl", (number, number))

    assert supervise("trace", name) == 0
    assert json.loads(supervise.out)["run"]["thread"] == "abcdef123456"
    assert supervise("show", name) == 0
    assert "thread abcdef123456" in supervise.err
    assert supervise("draw", name) == 0
    assert supervise.out.startswith("flowchart LR\n")


def test_a_beginning_of_few_characters_is_no_name(supervise):
    write_log("abcdef123456", {"run": {"thread": "abcdef123456", "team": "coffee"}}, *EVENTS)

    assert supervise("show", "abcde") == 2

    assert supervise.err.startswith("error[THREAD_UNKNOWN] no thread 'abcde'")
