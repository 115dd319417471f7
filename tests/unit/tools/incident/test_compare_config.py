"""Configurations, compared."""

import json
from itertools import pairwise

import pytest

from nodes.errors import ToolRefused
from teams.engineering_ops.tools.incident.config_report import is_secret, pair_configs
from teams.engineering_ops.tools.incident.settings_file import read_settings
from tests.unit.tools.incident.tool_calls import call_incident_tool, read_example_files

pytestmark = pytest.mark.slow

NAMED = [{"severity": "medium", "message": "it depends on `gateway.timeout_s`", "file": "a.py"}]


async def test_the_setting_that_a_finding_names_leads_with_both_values_and_a_fix() -> None:
    answer = await call_incident_tool(
        "compare_config",
        read_example_files("config/staging.yaml", "config/production.yaml"),
        findings=NAMED,
    )

    (finding,) = answer["findings"]
    assert (finding["file"], finding["line"], finding["severity"]) == ("production.yaml", 7, "high")
    assert "`2.0` in staging.yaml, `0.2` in production.yaml" in finding["message"]
    assert "Set `gateway.timeout_s` in production.yaml to `2.0`" in finding["suggestion"]


async def test_a_host_that_a_finding_names_is_not_called_the_cause() -> None:
    named = [{"message": "it depends on `gateway.url`"}]

    answer = await call_incident_tool(
        "compare_config",
        read_example_files("config/staging.yaml", "config/production.yaml"),
        findings=named,
    )

    assert "Likely cause" not in answer["summary"] and "sandbox" not in str(answer["findings"])
    assert "explains the errors" in answer["gaps"][0]


async def test_a_setting_that_is_alike_is_said_to_be() -> None:
    same = {"staging.yaml": "gateway:\n  timeout_s: 2\n"}
    same["production.yaml"] = same["staging.yaml"]

    answer = await call_incident_tool("compare_config", same, findings=NAMED)

    assert "`gateway.timeout_s`, which a finding names, is the same" in answer["summary"]
    assert answer["findings"] == []


async def test_no_secret_is_ever_shown() -> None:
    materials = {
        "staging.yaml": "db:\n  password: one-of-mine\n  dsn: postgres://me:hunter2@db/x\n"
        "cloud: AKIAIOSFODNN7EXAMPLE\nsalt: 7f3a9c1e5b8d2046f1e7\n",
        "production.yaml": "db:\n  password: ''\n  dsn: postgres://me:hunter3@db/x\n"
        "cloud: AKIAIOSFODNN7EXAMPLF\nsalt: a7f3a9c1e5b8d2046f1e\n",
    }

    told_all = json.dumps(await call_incident_tool("compare_config", materials))

    for secret in ("one-of-mine", "hunter", "AKIA", "7f3a9c1e5b8d"):
        assert secret not in told_all
    assert "`db.password` is empty" in told_all


async def test_the_name_of_a_setting_cannot_become_a_link_or_a_picture() -> None:
    materials = {
        f"{name}.json": json.dumps({"![x](http://example.net/`a`)|b": on})
        for name, on in (("test", True), ("prod", False))
    }

    answer = await call_incident_tool("compare_config", materials)

    shown = "`![x](http://example.net/'a')"
    assert f"| {shown}\\|b` | `true` |" in answer["summary"]
    assert answer["findings"][0]["message"].startswith(f"Configuration: {shown}|b` is switched off")


async def test_a_line_that_holds_a_secret_too_is_not_quoted() -> None:
    materials = {
        "test.json": '{"strict": true, "password": "one-of-mine"}',
        "prod.json": '{"strict": false, "password": "two-of-mine"}',
    }

    answer = await call_incident_tool("compare_config", materials)

    assert "`strict` is switched off" in str(answer["findings"])
    assert "of-mine" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("api_key", "abc", True),
        ("token_ttl", 3600, False),
        ("password_min_length", 12, False),
        ("endpoint", "https://a.example/v2", False),
        ("endpoint", "https://u:p@a.example/v2", True),
        ("note", "9f86d081884c7d659a2feaa0c55ad015", True),
        ("log_level", "info", False),
        ("cache", "redis://:hunter2@cache:6379/0", True),
        ("llm.max_tokens", 4096, False),
        ("MAX_TOKENS", "4096", False),
        ("API_TOKENS", "abcd,efgh", True),
        ("name", "a-long-name-of-a-service-in-words", False),
    ],
)
def test_secrets_are_recognised_by_name_or_form(key: str, value: str | int, expected: bool) -> None:
    assert is_secret(key, value) is expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "a:\n  b: 2\n  c: [x, y]\n"),
        ("a.json", '{"a": {\n  "b": 2, "c": ["x", "y"]}}'),
        ("a.toml", '[a]\nb = 2\nc = ["x", "y"]\n'),
    ],
)
def test_formats_come_to_the_same(name: str, text: str) -> None:
    read = read_settings(name, text)

    assert dict(read.values) == {"a.b": 2, "a.c[0]": "x", "a.c[1]": "y"}
    assert read.find_line("a.b") in (1, 2)


def test_the_line_of_a_setting_is_below_that_of_its_group() -> None:
    text = "db:\n  connect_timeout_s: 1\n  timeout_s: 2\nweb:\n  timeout_s: 3\n"

    read = read_settings("a.yaml", text)

    assert [read.find_line(key) for key in read.values] == [2, 3, 5]


def test_pairs_of_key_and_value_are_read_without_quotes_and_remarks() -> None:
    env = read_settings("a.env", "# all\nexport A='one # two'\nB=3 # three\nC=\n")
    ini = read_settings("a.ini", "[s]\nx = 1\n%weird = %(y)s\n")

    assert dict(env.values) == {"A": "one # two", "B": "3", "C": ""}
    assert dict(ini.values) == {"s.x": "1", "s.%weird": "%(y)s"}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["production.yaml", "staging.yaml"], [("staging.yaml", "production.yaml")]),
        (["app-2.7.env", "app-2.6.env"], [("app-2.6.env", "app-2.7.env")]),
        (["live/app.toml", "test/app.toml"], [("test/app.toml", "live/app.toml")]),
        (["config.prod.json", "good.ini"], [("good.ini", "config.prod.json")]),
        (["api-prod.yaml", "web-prod.yaml", "api-dev.yaml"], [("api-dev.yaml", "api-prod.yaml")]),
    ],
)
def test_files_are_paired_by_name_the_reference_first(
    names: list[str], expected: list[tuple[str, str]]
) -> None:
    assert pair_configs(names)[0] == expected


async def test_what_is_missing_misspelt_switched_and_of_another_kind_is_named() -> None:
    materials = {
        "staging.yaml": "retry_limit: 5\nstrict: true\nport: 80\nhost: db.staging.example\n",
        "production.yaml": "retry_limti: 5\nstrict: false\nport: http\nhost: db1.staging.example\n",
    }

    answer = await call_incident_tool("compare_config", materials)

    text = " ".join(finding["message"] for finding in answer["findings"])
    assert (
        "`retry_limit` is missing in production.yaml (perhaps misspelt: it has `retry_limti`)"
        in text
    )
    assert "`strict` is switched off" in text and "`host` names staging" in text


@pytest.mark.parametrize(
    ("materials", "words"),
    [
        ({}, "there is none"),
        ({"production.yaml": "a: 1"}, "only production.yaml is there"),
        ({"production.yaml": "a: 1", "staging.yaml": "a: ["}, "cannot be read as YAML"),
        ({"production.yaml": "a: 1", "staging.yaml": "# nothing"}, "holds no settings"),
        ({"prod.json": '{"a": 1}', "test.json": '{"a": }'}, "test.json cannot be read"),
        ({"prod.yaml": "a: 1", "test.yaml": "!!python/object/apply:os.system ['id']"}, "as YAML"),
    ],
    ids=["none", "one", "broken", "empty", "json", "code"],
)
async def test_what_cannot_be_compared_is_refused_in_one_line(
    materials: dict[str, str], words: str
) -> None:
    with pytest.raises(ToolRefused, match=words) as refusal:
        await call_incident_tool("compare_config", materials)

    assert "\n" not in str(refusal.value)


async def test_a_bomb_of_aliases_is_refused() -> None:
    names = "abcdefghij"
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{now}: &{now} [{', '.join([f'*{before}'] * 9)}]\n" for before, now in pairwise(names)
    )

    with pytest.raises(ToolRefused, match="more than"):
        await call_incident_tool("compare_config", {"prod.yaml": bomb, "test.yaml": "a: 1"})
