"""From a logged exception to the line, and from the line to a bug or a setting."""

import json
from pathlib import Path
from typing import Any

import pytest
from dulwich import porcelain

from nodes.errors import ToolRefused
from tests.unit.tools.incident.tool_calls import call_incident_tool, read_example_files

pytestmark = pytest.mark.slow


def write_trace(kind: str, message: str, *frames: tuple[str, int, str, str]) -> str:
    """Write a log with one traceback."""
    lines = ["2026-03-09 06:00:00 ERROR it failed", "Traceback (most recent call last):"]
    for file, line, function, code in frames:
        lines += [f'  File "/srv/{file}", line {line}, in {function}', f"    {code}"]
    return "\n".join([*lines, f"{kind}: {message}", ""])


async def explain_line(
    code: str, kind: str, message: str, line: int, **more: str
) -> dict[str, Any]:
    """Explain what one line of a file raised."""
    shown = code.splitlines()[line - 1].strip()
    log = write_trace(kind, message, ("app.py", line, "work", shown))
    return await call_incident_tool("explain_error", {"app.py": code, "app.log": log, **more})


async def test_the_bug_of_the_example_is_named_with_line_cause_and_fix() -> None:
    answer = await call_incident_tool(
        "explain_error",
        read_example_files("bug/pricing.py", "bug/coupons.py", "bug/requests.jsonl"),
    )

    (finding,) = answer["findings"]
    assert (finding["file"], finding["line"], finding["severity"]) == ("pricing.py", 22, "high")
    assert "`find_coupon` gives None at coupons.py:29" in finding["message"]
    assert "`if coupon is None:`" in finding["suggestion"]
    assert "found_as_expected" not in answer


async def test_a_setting_behind_the_failing_call_is_no_bug_and_upsets_the_plan() -> None:
    answer = await call_incident_tool(
        "explain_error",
        read_example_files("config/gateway.py", "config/app.py", "config/payments.log"),
    )

    assert answer["found_as_expected"] is False
    assert "`gateway.timeout_s`" in answer["findings"][0]["message"]
    assert answer["findings"][0]["severity"] == "medium"


@pytest.mark.parametrize(
    ("code", "kind", "message", "line", "words"),
    [
        ("def work(a):\n    return 1 / len(a)\n", "ZeroDivisionError", "division by zero", 2,
         "`len(a)`, which is 0"),
        ("def work(a):\n    return a['b']\n", "KeyError", "'b'", 2,
         "a key that is not always there: `'b'`"),
        ("def work(a):\n    return a[3]\n", "IndexError", "list index out of range", 2,
         "an element of what is too short"),
        ("def work(a):\n    return totl\n", "NameError", "name 'totl' is not defined", 2,
         "uses a name that has no value"),
        ("def work(a):\n    b = a.get(1)\n    return b.c\n", "AttributeError",
         "'NoneType' object has no attribute 'c'", 3, "`a.get(1)` gives None"),
        ("def work(a):\n    return a.b.c\n", "AttributeError",
         "'NoneType' object has no attribute 'c'", 2, "`a.b` is None"),
    ],
)  # fmt: skip
async def test_bugs_are_recognised_by_their_exception(
    code: str, kind: str, message: str, line: int, words: str
) -> None:
    answer = await explain_line(code, kind, message, line)

    (finding,) = [each for each in answer["findings"] if each["message"].startswith("Bug")]
    assert words in finding["message"] and finding["line"] == line
    assert "found_as_expected" not in answer


@pytest.mark.parametrize(
    ("code", "kind", "message", "line", "key"),
    [
        ("import os\ndef work(a):\n    return os.environ['RATE']\n", "KeyError", "'RATE'", 3,
         "RATE"),
        ("def work(settings):\n    return settings['a']['b']\n", "KeyError", "'b'", 2, "a.b"),
        ("import os\nN = int(os.environ.get('N', 0))\ndef work(a):\n    return a / N\n",
         "ZeroDivisionError", "division by zero", 4, "N"),
        ("def work(a, config):\n    if a > config.limit:\n        raise ValueError('too much')\n",
         "ValueError", "too much", 3, "limit"),
        ("def work(cfg):\n    call(cfg.get('url'))\n", "ConnectionRefusedError", "refused", 2,
         "url"),
        ("class A:\n    def __init__(self, wait):\n        self.wait = wait\n    def work(self):\n"
         "        call(self.wait)\n\n\na = A(wait=settings['net']['wait'])\n", "TimeoutError",
         "timed out", 5, "net.wait"),
    ],
)  # fmt: skip
async def test_settings_are_followed_through_names_attributes_and_calls(
    code: str, kind: str, message: str, line: int, key: str
) -> None:
    answer = await explain_line(code, kind, message, line)

    assert answer["found_as_expected"] is False and f"`{key}`" in answer["summary"]
    assert "No bug in the code" in answer["findings"][0]["message"]


async def test_statements_over_several_lines_and_repeated_calls_are_followed() -> None:
    code = "def work(a):\n    return (\n        1\n        / len(a)\n    )\n"
    log = (
        "Traceback (most recent call last):\n"
        '  File "/srv/main.py", line 9, in main\n    main()\n'
        "  [Previous line repeated 3 more times]\n"
        '  File "/srv/app.py", line 3, in work\n    1\n    ~\n    / len(a)\n    ^^^^^^^^\n'
        "ZeroDivisionError: division by zero\n"
    )

    answer = await call_incident_tool("explain_error", {"app.py": code, "note.txt": log})

    assert "`len(a)`, which is 0" in answer["findings"][0]["message"]


async def test_a_bug_beside_a_setting_leaves_the_plan_alone() -> None:
    code = "import os\ndef work(a):\n    os.environ['RATE']\n    return 1 / len(a)\n"
    first = write_trace("KeyError", "'RATE'", ("app.py", 3, "work", "os.environ['RATE']"))
    second = write_trace("ZeroDivisionError", "by zero", ("app.py", 4, "work", "return 1 / len(a)"))

    answer = await call_incident_tool("explain_error", {"app.py": code, "app.log": first + second})

    assert len(answer["findings"]) == 2 and "found_as_expected" not in answer


async def test_a_file_that_is_not_what_ran_is_not_judged() -> None:
    answer = await call_incident_tool(
        "explain_error", read_example_files("exam/newsletter.py", "exam/stale.log")
    )

    assert answer["findings"] == []
    assert any("newsletter.py is not what ran" in gap for gap in answer["gaps"])


async def test_the_code_is_read_from_the_repository_as_it_was_committed(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name, text in read_example_files("bug/pricing.py", "bug/coupons.py").items():
        (tmp_path / "shop" / name).write_text(text)
    porcelain.init(str(tmp_path))
    porcelain.add(str(tmp_path), [str(path) for path in (tmp_path / "shop").iterdir()])
    porcelain.commit(str(tmp_path), b"Begin", author=b"a <a@b>", committer=b"a <a@b>")
    (tmp_path / "shop" / "pricing.py").write_text("changed since\n")

    answer = await call_incident_tool(
        "explain_error",
        read_example_files("bug/requests.jsonl"),
        repository=tmp_path,
    )

    assert answer["findings"][0]["file"] == "shop/pricing.py"


async def test_without_code_the_place_is_named_and_the_code_requested() -> None:
    answer = await call_incident_tool("explain_error", read_example_files("exam/progress.log"))

    assert "newsletter.py, line 15" in answer["summary"]
    assert any("SUPERVISE_REPOSITORY" in gap for gap in answer["gaps"])


async def test_with_nothing_to_go_by_it_refuses() -> None:
    with pytest.raises(ToolRefused, match="neither a traceback nor a source file"):
        await call_incident_tool("explain_error", {})


@pytest.mark.parametrize(
    "code",
    ["def work(:\n", "(" * 5_000, "x = " + "-" * 50_000 + "1\n", "work = 1\x00\n", "# é\n'"],
    ids=["half", "brackets", "minuses", "nul", "quotation"],
)
async def test_code_that_cannot_be_parsed_is_a_gap_and_no_crash(code: str) -> None:
    log = write_trace("ValueError", "no", ("app.py", 1, "work", ""))

    answer = await call_incident_tool("explain_error", {"app.py": code, "app.log": log})

    assert answer["gaps"] and not answer["findings"]


async def test_each_of_several_tracebacks_in_one_text_is_reported() -> None:
    one = write_trace("ValueError", "one", ("a.py", 1, "f", "x")).split("\n", 1)[1]
    two = write_trace("KeyError", "two", ("b.py", 2, "g", "y")).split("\n", 1)[1]
    log = {"app.log": f"it started\n{one}{two}{one}"}

    answer = await call_incident_tool(
        "explain_error", {"mail.txt": f"First\n{one}then\n{two}", **log}
    )

    assert "`ValueError: one` is logged 3 times" in answer["summary"]
    assert "`KeyError: two` is logged 2 times" in answer["summary"]


async def test_of_an_exception_chain_the_one_that_propagated_is_reported() -> None:
    first = write_trace("KeyError", "'a'", ("a.py", 1, "f", "x"))
    then = write_trace("RuntimeError", "no", ("b.py", 2, "g", "y")).split("\n", 1)[1]
    link = "\nThe above exception was the direct cause of the following exception:\n\n"

    answer = await call_incident_tool("explain_error", {"app.log": f"{first}{link}{then}"})

    assert "`RuntimeError: no` is logged once" in answer["summary"]
    assert "KeyError" not in answer["summary"]


async def test_a_password_in_a_message_is_neither_reported_nor_quoted() -> None:
    log = write_trace("OSError", "cannot reach redis://:gull77@db/0", ("a.py", 1, "f", "x"))

    answer = await call_incident_tool("explain_error", {"app.log": log})

    assert "cannot reach redis://:[hidden]@db/0" in answer["summary"]
    assert "gull77" not in json.dumps(answer)


async def test_mistakes_that_make_python_fail_are_named() -> None:
    answer = await call_incident_tool(
        "explain_error", {"app.py": "def work():\n    return wrok()  # noqa\n"}
    )

    assert ["F821" in each["message"] and each["line"] for each in answer["findings"]] == [2]


async def test_definitions_and_uses_are_found_by_name() -> None:
    materials = read_example_files("bug/pricing.py", "bug/coupons.py")

    answer = await call_incident_tool("find_symbol", materials, names=["find_coupon"])
    unknown = await call_incident_tool("find_symbol", materials, names=["total_of_errors"])
    matches = await call_incident_tool("search_code", materials, query="percent coupon")

    assert "defined in coupons.py, lines 25 to 30" in answer["summary"]
    assert "pricing.py:21 `coupon = find_coupon(code)`" in answer["summary"]
    assert not unknown["claims"] and "find_coupon" in unknown["gaps"][0]
    assert matches["matches"][0]["text"] in materials[matches["matches"][0]["file"]]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("explain_error", {}),
        ("find_symbol", {"names": ["f"]}),
        ("search_code", {"query": "batter"}),
        ("search_code", {"query": "a b"}),
        ("log_metrics", {}),
        ("query_logs", {}),
        ("compare_config", {}),
        ("compare_config", {"files": ["pancakes.md"]}),
        ("compare_config", {"files": ["pancakes.md", "nowhere.yaml"]}),
    ],
)
async def test_files_of_the_wrong_kind_are_refused_in_one_line(
    name: str, given: dict[str, Any]
) -> None:
    with pytest.raises(ToolRefused) as refused:
        await call_incident_tool(name, read_example_files("exam/pancakes.md"), **given)

    assert "\n" not in str(refused.value)
