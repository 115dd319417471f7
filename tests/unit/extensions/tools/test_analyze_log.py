"""Logs and tracebacks, held against what Python itself and a plain count say of them."""

import json
import re
import traceback
from pathlib import Path

import pytest

from extensions.tools.logs.failures import HEADER, StackFrame
from extensions.tools.logs.reader import MAX_LINES, is_log, read_log
from nodes.errors import NothingToRead, ToolRefused
from teams.tech_support.tools.analyze_log import analyze_log

EXAMPLE = Path(__file__).parents[4] / "teams" / "tech_support" / "sample"
WORKER = (EXAMPLE / "worker.log").read_text()


async def call_tool(pasted="", **materials):
    named = {name.replace("_", "."): text for name, text in materials.items()}
    return await analyze_log.ainvoke({"pasted": pasted, "materials": named})


def raise_chain():
    """Give a chain of two real exceptions, the second raised from the first."""
    try:
        try:
            json.loads("{")
        except ValueError as error:
            raise RuntimeError("settings cannot be read") from error
    except RuntimeError as error:
        return error


def test_a_chain_of_python_is_read_as_python_knows_it():
    error = raise_chain()
    text = "".join(traceback.format_exception(error))

    (failure,) = read_log("a.log", text).failures

    assert (failure.error, failure.message) == ("RuntimeError", "settings cannot be read")
    assert failure.link == "caused by"
    root = failure.chain[-1]
    assert root.error == "json.decoder.JSONDecodeError"
    known = traceback.extract_tb(error.__cause__.__traceback__)
    read = [(frame.file, frame.line, frame.function) for frame in reversed(root.frames)]
    assert read == [(frame.filename, frame.lineno, frame.name) for frame in known]
    own = failure.own_frame
    assert own is not None and (own.file, own.function) == (__file__, "raise_chain")
    lines = text.splitlines()
    assert lines[root.error_line - 1].startswith("json.decoder.JSONDecodeError")
    assert lines[failure.error_line - 1] == "RuntimeError: settings cannot be read"


def test_an_error_while_another_was_handled_is_no_cause():
    try:
        try:
            int("x")
        except ValueError:
            _ = dict[str, int]()["y"]
    except KeyError as error:
        text = "".join(traceback.format_exception(error))

    (failure,) = read_log("a.log", text).failures

    assert failure.error == "KeyError" and failure.link == "raised while handling"
    assert failure.chain[-1].error == "ValueError"


def test_a_deep_recursion_and_a_prefix_of_containers_are_read():
    def deeper(n):
        return deeper(n + 1)

    try:
        deeper(0)
    except RecursionError as error:
        text = "".join(traceback.format_exception(error))
    prefixed = "".join(f"worker-1  | {line}\n" for line in text.splitlines())

    for log in (text, prefixed):
        (failure,) = read_log("a.log", log).failures
        assert failure.error == "RecursionError"
        assert failure.message.startswith("maximum recursion depth")
        assert failure.own_frame is not None and failure.own_frame.function == "deeper"


def test_an_exception_group_is_one_failure_or_more_and_never_none():
    try:
        raise ExceptionGroup("two", [ValueError("a"), KeyError("b")])
    except ExceptionGroup as error:
        text = "".join(traceback.format_exception(error))

    failures = read_log("a.log", text).failures

    assert failures and failures[0].error == "ExceptionGroup"


@pytest.mark.parametrize(
    ("name", "chain", "own"),
    [
        (
            "gateway.log",
            [
                "java.lang.IllegalStateException",
                "java.io.UncheckedIOException",
                "java.net.ConnectException",
            ],
            "Gateway.java:4 in com.harbourlist.gateway.Gateway.connect",
        ),
        (
            "startup.log",
            ["sqlalchemy.exc.OperationalError", "sqlite3.OperationalError"],
            "/opt/harbourlist/app/harbourlist/worker.py:19 in check",
        ),
    ],
)
def test_chains_of_java_and_of_libraries_lead_to_the_call_of_the_product(name, chain, own):
    text = (EXAMPLE / "exam" / name).read_text()

    (failure,) = read_log(name, text).failures

    assert [each.error for each in failure.chain] == chain
    assert str(failure.own_frame) == own
    lines = text.splitlines()
    assert all(each.error in lines[each.error_line - 1] for each in failure.chain)


def test_errors_of_node_are_found_behind_a_log_line_and_with_their_cause():
    text = (
        "Error: page failed\n    at main (/srv/a.js:7:118)\n"
        "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {\n"
        "  [cause]: TypeError: x is undefined\n      at load (/srv/b.js:3:55)\n}\n"
        "Error: Cannot find module './nope'\nRequire stack:\n- /srv/a.js\n"
        "    at Module._load (node:internal/modules/cjs/loader:1038:27)\n"
        "    at main (/srv/a.js:8:9)\n"
    )

    page, module = read_log("a.log", text).failures

    assert page.chain[-1].title == "TypeError: x is undefined"
    assert str(page.own_frame) == "/srv/b.js:3 in load"
    assert module.title == "Error: Cannot find module './nope'" and str(module.own_frame).endswith(
        "a.js:8 in main"
    )
    assert (
        read_log("d", (EXAMPLE / "exam/dashboard.log").read_text())
        .failures[0]
        .message.startswith("listen EADDRINUSE")
    )


def test_what_is_suppressed_and_what_is_cut_off_misleads_nobody():
    java = (
        "x.y.OuterException: out\n\tat x.y.A.a(A.java:1)\n\tSuppressed: x.y.AsideException: no\n"
        "\t\tat x.y.B.b(B.java:2)\nCaused by: x.y.RootException: in\n"
        "\tat x.y.C.c(C.java:3)\n\t... 4 more\n"
    )
    cut = f'{HEADER}\n  File "a.py", line 3, in f\n2026-01-02 10:00:00 INFO on\n'

    (failure,) = read_log("a.log", java).failures
    (headless,) = read_log("b.log", cut).failures

    assert [each.message for each in failure.chain] == ["out", "in"]
    assert not headless.error and headless.frames[0].line == 3


async def test_the_example_is_counted_as_a_plain_search_counts_it():
    told = await call_tool(worker_log=WORKER)

    lines = WORKER.splitlines()
    stated = [
        n for n, line in enumerate(lines, 1) if line.startswith("sqlalchemy.exc.TimeoutError")
    ]
    stamps = [line[:23] for line in lines if "ERROR harbourlist.worker" in line]
    assert (
        f"| {len(stated)} | {stamps[0]} | {stamps[-1]} | {stated[0]} | `calendars.py:11` |"
        in told["summary"]
    )
    errors = sum(bool(re.match(r".{23} (ERROR|CRITICAL)", line)) for line in lines)
    warnings = sum(" WARNING " in line for line in lines)
    assert f"{len(lines)} lines" in told["summary"]
    assert f"{errors} errors of 3 kinds, 3 with a traceback, {warnings} warnings" in told["summary"]
    assert "(14 min 38 s)" in told["summary"]
    assert "line 6: `harbourlist.database: 15 of 15 connections" in told["summary"]
    assert [(f["severity"], f["line"]) for f in told["findings"]] == [
        ("high", stated[0]),
        ("medium", lines.index(next(x for x in lines if "refused the greeting" in x)) + 1),
        ("critical", lines.index(next(x for x in lines if "CRITICAL" in x)) + 1),
    ]
    assert all(claim["quotation"] in WORKER for claim in told["claims"])


async def test_a_log_without_errors_shows_its_most_frequent_warnings():
    lines = [
        "2026-01-01 10:00:00 INFO disk: 12 percent free",
        "2026-01-01 10:00:01 WARNING mail: no answer to message 7 from 10.0.0.1:25",
        *(f"2026-01-01 10:00:0{n} WARN disk: blk_{(-1) ** n * n} not served" for n in range(2, 6)),
    ]

    told = await call_tool(disk_log="\n".join(lines))

    assert "no error, 5 warnings" in told["summary"] and "The most frequent warn" in told["summary"]
    first, second = told["summary"].rstrip().splitlines()[-2:]
    assert first.endswith("| 4 | 2026-01-01 10:00:02 | 2026-01-01 10:00:05 | 3 |")
    assert "mail: no answer to message 7" in second
    assert [(f["severity"], f["line"]) for f in told["findings"]] == [("low", 3), ("low", 2)]
    assert [claim["quotation"] for claim in told["claims"]] == [lines[2], lines[1]]
    assert any("whether a warning is the cause is open" in gap for gap in told["gaps"])


async def test_a_pasted_traceback_needs_no_file_and_is_no_source():
    text = "".join(traceback.format_exception(raise_chain()))

    told = await call_tool(f"We get this since noon:\n{text}")

    assert "caused by `json.decoder.JSONDecodeError" in told["summary"]
    assert not told["claims"] and not told["findings"][0]["file"]


async def test_a_log_of_json_lines_is_read_by_its_fields():
    trace = "".join(traceback.format_exception(raise_chain()))
    rows = [
        {"timestamp": "2026-01-02T10:00:00Z", "level": "info", "message": "up"},
        {
            "timestamp": "2026-01-02T10:00:05Z",
            "level": "error",
            "message": "boom",
            "exc_info": trace,
        },
        {"timestamp": "2026-01-02T10:00:09Z", "level": "error", "message": "disk 7 is full"},
    ]

    told = await call_tool(app_log="\n".join(map(json.dumps, rows)))

    assert "2 errors, 1 with a traceback" in told["summary"]
    assert [(f["line"], f["message"]) for f in told["findings"]] == [
        (2, "RuntimeError: settings cannot be read"),
        (3, "disk 7 is full"),
    ]


def test_pages_are_distinguished_from_logs():
    page = f'# Errors\n\nThis may happen:\n\n    {HEADER}\n      File "a.py", line 1\n'
    prose = "\n".join(f"A sentence on how the {n}th thing is set up." for n in range(20))

    assert not is_log("errors.md", page + prose)
    assert (
        not is_log("notes.txt", prose) and is_log("notes.txt", WORKER) and is_log("a.log", "up\n")
    )


async def test_secrets_of_a_log_are_hidden_and_not_quoted():
    text = (EXAMPLE / "exam" / "hostile.log").read_text()

    told = await call_tool(
        hostile_log=text + "2026-11-20 10:00:10 ERROR db: postgres://me:gull77@db/x\n"
    )

    assert "tern-and-gull" not in json.dumps(told) and "gull77" not in json.dumps(told)
    assert "password=[hidden]" in told["summary"]


async def test_words_of_a_log_cannot_become_links_or_pictures():
    picture = "![x](http://example.net/a)"
    line = {"time": f"{picture} 10:00:00", "level": "error", "message": f"bad {picture}"}
    plain = f"2026-01-02 10:00:00 ERROR {picture} failed\n"

    told = await call_tool(a_log=json.dumps(line) + "\n", b_log=plain)

    assert f"| `bad {picture}` |" in told["summary"] and f"`{picture} failed`" in told["summary"]
    assert f" {picture}" not in told["summary"].replace(f"`bad {picture}`", "")


async def test_a_log_without_errors_and_a_file_that_is_not_a_log_are_reported():
    told = await call_tool(a_log="2026-01-02 10:00:00 INFO up\n2026-01-02 10:00:01 INFO down\n")

    assert "no error" in told["summary"] and "a log of the moment when it failed" in told["gaps"][0]
    with pytest.raises(ToolRefused, match="is not a log"):
        await analyze_log.ainvoke(
            {"pasted": "", "log": "a.txt", "materials": {"a.txt": "Lunch is at noon."}}
        )


@pytest.mark.parametrize("materials", [{}, {"page_md": "# Help\n"}])
async def test_without_a_log_there_is_nothing_to_read(materials):
    with pytest.raises(NothingToRead, match="no log or traceback in the task or its files"):
        await call_tool("Why does it crash?", **materials)


@pytest.mark.parametrize(
    "text",
    [
        "Error: x\n" + ("    at " + "a(b " * 400 + "\n") * 500,
        ("com." * 480 + "X\n\tat a.b(C.java:1)\n") * 500,
        f"{HEADER}\n" * 5000,
        f"  {HEADER}\n" * 30_000,
        ("Error: x\n    at" + " " * 1900 + "\n") * 500,
        ("Error: x\n    at a" + " " * 1900 + "(b\n") * 500,
        json.dumps({"level": "error", "stack": "Error: x\n    at" + " " * 49_000}),
        "{" + '"a":' * 3 + "[" * 60_000,
        "\n".join(
            f"Caused by: java.lang.RuntimeException: a{i}\n\tat a.B.c(B.java:{i})"
            for i in range(3000)
        ),
        "".join(f"2026-01-01 00:00:00 ERROR {'ab' * n} failed\n" for n in range(900)),
    ],
)
async def test_hostile_logs_end_in_an_answer_of_limited_size_or_are_no_logs(text):
    try:
        told = await call_tool(app_log=text)
    except NothingToRead as refusal:
        told = str(refusal)

    assert len(json.dumps(told)) < 20_000


@pytest.mark.slow
async def test_a_log_without_an_error_says_how_much_of_it_was_read():
    told = await call_tool(app_log="2026-01-01 00:00:00 INFO ok\n" * (MAX_LINES + 1))

    assert told["findings"] == [] and "holds no error" in told["gaps"][0]
    assert told["failures"] == ["only the first 200,000 lines of app.log were read"]


async def test_as_many_logs_are_reported_as_fit():
    told = await call_tool(**{f"worker{n}_log": WORKER for n in range(9)})

    assert len(json.dumps(told)) < 20_000
    assert "5 more logs were not read" in told["failures"][-1]


@pytest.mark.parametrize(
    ("file", "is_own"),
    [
        ("/opt/app/main.py", True),
        ("main.py", True),
        (r"C:\\venv\\Lib\\site-packages\\x.py", False),
        (r"C:\\app\\main.py", True),
        ("/usr/lib/python3.11/json/decoder.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", True),
        ("/srv/node_modules/express/lib/router.js", False),
        ("node:net", False),
    ],
)
def test_the_product_is_distinguished_from_its_libraries(file, is_own):
    assert StackFrame(file, 1, "f", 1).is_own_code is is_own
