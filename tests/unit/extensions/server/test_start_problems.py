"""What keeps a server from starting, and what it only warns about; without a server."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from extensions.server.aegra_settings import (
    APP,
    InstanceSettings,
    find_start_problems,
    read_passwords,
)
from extensions.server.doctor import check_users
from extensions.server.users_file import add_user
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from state import Context

SAFE = InstanceSettings(
    is_strict_msgpack=True,
    has_broker=True,
    lease_s=30,
    heartbeat_s=10,
    jobs=10,
    app=APP,
    traces_to_langsmith=False,
    own_trace_targets="",
    unknown_variables={},
)


def test_right_settings_have_no_problem():
    assert list(find_start_problems(SAFE)) == []


@pytest.mark.parametrize(
    ("change", "named", "is_fatal"),
    [
        ({"is_strict_msgpack": False}, "LANGGRAPH_STRICT_MSGPACK", True),
        ({"lease_s": 20}, "LEASE_DURATION_SECONDS (20)", True),
        ({"has_example_password": True}, "the password of deploy/secrets.env.example", True),
        ({"has_broker": False}, "REDIS_BROKER_ENABLED", False),
        ({"has_broker": False, "jobs": 0}, "REDIS_BROKER_ENABLED", False),
        ({"jobs": 0}, "WORKER_COUNT is 0", False),
        ({"app": ""}, "`http.app`", False),
        ({"traces_to_langsmith": True}, "LANGSMITH_TRACING", False),
        ({"own_trace_targets": "PHOENIX"}, "OTEL_TARGETS is 'PHOENIX'", False),
        ({"unknown_variables": {"SUPERVISE_X": ""}}, "SUPERVISE_X is not a setting", False),
    ],
)
def test_each_problem_is_named_once_with_what_to_do(
    change: dict[str, Any], named: str, is_fatal: bool
):
    [problem] = find_start_problems(replace(SAFE, **change))

    assert named in problem.text and problem.next
    assert problem.is_fatal is is_fatal


def test_a_name_with_a_typing_error_is_answered_with_the_right_one():
    [problem] = find_start_problems(replace(SAFE, unknown_variables={"SUPERVISE_A": "SUPERVISE_B"}))

    assert str(problem) == "SUPERVISE_A is not a setting; did you mean SUPERVISE_B?"


def test_what_forbids_a_start_comes_first():
    doubtful = replace(SAFE, has_broker=False, is_strict_msgpack=False, traces_to_langsmith=True)

    assert [problem.is_fatal for problem in find_start_problems(doubtful)] == [True, False, False]


@pytest.mark.parametrize(
    ("address", "passwords"),
    [
        ("postgresql://u:secret@db:5432/x", ("secret",)),
        ("postgresql://u:s%40cret@db/x", ("s%40cret", "s@cret")),
        ("postgresql://u:secret@one:5432,two:5433/x", ("secret",)),
        ("postgresql:///x?host=/run/postgresql&password=secret", ("secret",)),
        ("redis://:secret@[::1]:6379/0", ("secret",)),
        ("redis://127.0.0.1:6379/0", ()),
        ("unix:///run/redis.sock?db=0", ()),
    ],
)
def test_the_passwords_of_an_address_are_found(address: str, passwords: tuple[str, ...]):
    assert read_passwords("DATABASE_URL", address) == passwords


@pytest.mark.parametrize("odd", ["@", "/", "?", "#", "["])
@pytest.mark.parametrize("scheme", ["postgresql", "redis"])
def test_a_password_that_could_be_taken_for_a_host_or_port_is_refused_unseen(scheme: str, odd: str):
    with pytest.raises(SettingsInvalid) as refused:
        read_passwords("DATABASE_URL", f"{scheme}://u:first{odd}second@db:5432/x")

    shown = refused.value.format_line()
    assert "DATABASE_URL is not an address" in shown
    assert "first" not in shown and "second" not in shown


@pytest.mark.parametrize("address", ["", "u secret", "postgresql://u:secret@db:many/x"])
def test_what_is_no_address_is_refused_unseen(address: str):
    with pytest.raises(SettingsInvalid) as refused:
        read_passwords("REDIS_URL", address)

    assert "secret" not in refused.value.format_line()


def test_without_a_file_nothing_is_checked():
    assert list(check_users(Settings())) == []


def test_the_users_of_a_file_are_counted(tmp_path: Path):
    path = tmp_path / "users.json"
    add_user(path, "anna@example.org")

    [check] = check_users(Settings(users_file=path))

    assert (check.level, check.text) == ("ok", f"{path}: 1 user")


def test_a_missing_file_is_broken_and_the_line_says_how_to_write_one(tmp_path: Path):
    [check] = check_users(Settings(users_file=tmp_path / "none.json"))

    assert check.level == "broken"
    assert check.text.endswith("which cannot be used: No such file or directory")
    assert "add-user" in check.fix


@pytest.fixture
def catalog(tmp_path: Path) -> ModelCatalog:
    path = tmp_path / "users.json"
    add_user(path, "bob")
    settings = Settings(
        users_file=path,
        model_fast="openai:small",
        model_strong="openai:large",
        user_models="openai:other, anthropic:claude",
    )
    return ModelCatalog(settings.build_model_settings())


@pytest.mark.parametrize(
    "name", ["openai:small", "openai:large", "openai:other", "anthropic:claude", "embedded"]
)
def test_a_run_chooses_among_the_models_of_the_server(catalog: ModelCatalog, name: str) -> None:
    assert catalog.get_name("strong", Context(model_strong=name)) == name


@pytest.mark.parametrize("name", ["anthropic:other", "ollama:small", "openai:small@evil", "x"])
def test_no_other_model_is_chosen_for_any_tier(catalog: ModelCatalog, name: str) -> None:
    with pytest.raises(SettingsInvalid, match="not one of this server's models"):
        catalog.get_name("fast", Context(model_strong=name))


def test_without_users_a_run_chooses_freely() -> None:
    catalog = ModelCatalog(Settings().build_model_settings())

    assert catalog.get_name("fast", Context(model_fast="ollama:any")) == "ollama:any"
