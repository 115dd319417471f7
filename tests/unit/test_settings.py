"""What the environment may say, and how it is refused."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from graph.settings import OPENAI_MODELS, Settings
from nodes.errors import SettingsInvalid
from nodes.errors.redaction import redact_text
from nodes.models.settings import TierSettings
from tests.trusted_files import write_trusted_env


def test_nothing_configured_means_the_embedded_model_for_every_tier():
    models = Settings().build_model_settings()

    assert {models.fast, models.standard, models.strong} == {"embedded"}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_key_or_an_address_turns_open_tiers_to_the_documented_models(name, monkeypatch):
    monkeypatch.setenv(name, "http://localhost:1/v1")
    monkeypatch.setenv("SUPERVISE_MODEL_FAST", "embedded")

    models = Settings().build_model_settings()

    assert models.fast == "embedded"
    assert models.standard == OPENAI_MODELS["standard"]
    assert models.strong == OPENAI_MODELS["strong"]


def test_the_environment_outranks_the_env_file(monkeypatch):
    write_trusted_env("SUPERVISE_MAX_CONCURRENCY=3\nSUPERVISE_RPM=60\n")
    monkeypatch.setenv("SUPERVISE_MAX_CONCURRENCY", "5")

    settings = Settings()

    assert settings.max_concurrency == 5
    assert settings.requests_per_minute == 60


@pytest.mark.parametrize(
    ("name", "value"),
    [("DATABASE_URL", "postgresql://h/x"), ("RUN_CODE", "true"), ("OTEL", "true")],
)
def test_a_variable_of_another_program_is_not_a_setting(name, value, monkeypatch):
    usual = Settings()
    monkeypatch.setenv(name, value)
    write_trusted_env(f"{name}={value}\n")

    assert Settings() == usual


BLANK = ["", " ", "\t \t", "\n"]
ALIASES = [field.validation_alias for field in Settings.model_fields.values()]
NAMES = [*(name for name in ALIASES if isinstance(name, str)), "LANGSMITH_API_KEY"]
NAMES += ["LANGSMITH_TRACING"]


@pytest.mark.parametrize("blank", BLANK)
def test_blank_names_are_not_set_in_the_environment_or_in_the_env_file(blank, monkeypatch):
    unset = Settings()
    write_trusted_env("".join(f"{name}='{blank}'\n" for name in NAMES))
    in_file = Settings()
    for name in NAMES:
        monkeypatch.setenv(name, blank)

    assert Settings() == in_file == unset == Settings(openai_api_key=SecretStr(blank))


def test_what_is_blank_in_the_environment_is_taken_from_the_env_file(monkeypatch):
    write_trusted_env(
        "OPENAI_API_KEY=sk-file\nLANGSMITH_TRACING=true\nLANGSMITH_API_KEY=lsv2-file\n"
    )
    for name in ("OPENAI_API_KEY", "LANGSMITH_TRACING", "LANGSMITH_API_KEY"):
        monkeypatch.setenv(name, " ")

    settings = Settings()
    settings.export_tracing()

    assert settings.build_model_settings().api_key == "sk-file"
    assert os.environ["LANGSMITH_API_KEY"] == "lsv2-file"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("OPENAI_API_KEY", "sk-hidden\nsk-hidden", "line break"),
        ("OPENAI_BASE_URL", "localhost:11434/v1", "http://"),
        ("OPENAI_BASE_URL", "file:///etc/passwd", "http://"),
        ("OPENAI_BASE_URL", "http:///v1", "no host"),
        ("OPENAI_BASE_URL", "http://host:99999/v1", "not an address"),
        ("OPENAI_BASE_URL", "http://host/v1/v1", "/v1 twice"),
        ("OPENAI_BASE_URL", "http://me:sk-hidden@host/v1", "password"),
        ("OPENAI_BASE_URL", "http://host/v1/chat/completions", "must end"),
        ("OPENAI_BASE_URL", "http://host/v1?key=sk-hidden", "'?'"),
        ("SUPERVISE_MODEL_STRONG", "gpt-6", "provider:model"),
        ("SUPERVISE_MAX_CONCURRENCY", "-3", "'-3'; allowed: a whole number from 1 to 1000"),
        ("SUPERVISE_MAX_CONCURRENCY", "many", "a whole number"),
        ("SUPERVISE_RPM", "0", "above 0"),
        ("SUPERVISE_TPM", "inf", "above 0"),
        ("SUPERVISE_INSTANCES", "0", "'0'; allowed: a whole number from 1 to 1000"),
        ("SUPERVISE_SERVER_TRACE", "perhaps", "'perhaps'; allowed: true or false"),
        ("SUPERVISE_USER_RUNS_PER_MINUTE", "0", "'0'; allowed: a whole number above 0"),
        ("SUPERVISE_USER_MODELS", "openai:a,gpt", "'gpt'; allowed: provider:model, several"),
        ("SUPERVISE_REDIS_URL", "http://:sk-hidden@host", "not the address of a Redis"),
        ("SUPERVISE_REDIS_URL", "redis://:sk-hidden@host/runs", "not a number"),
        ("SUPERVISE_REDIS_URL", "redis://host?password=sk-hidden", "unknown option"),
        ("SUPERVISE_PRICES", "gpt-6=1/2", "'gpt-6=1/2'; allowed: provider:model"),
        ("SUPERVISE_PRICES", "openai:gpt-6=1", "openai:gpt-6=1"),
        ("SUPERVISE_PRICES", "openai:gpt-6=-1/2", "openai:gpt-6=-1/2"),
        ("SUPERVISE_MAX_OUTPUT_TOKENS", "plan=0", "'plan=0'; allowed: a number, or plan=N"),
        ("SUPERVISE_MAX_OUTPUT_TOKENS", "-5", "'-5'"),
        ("SUPERVISE_MAX_OUTPUT_TOKENS", "essay=5", "'essay=5'"),
        ("SUPERVISE_CALL_TIMEOUT_S", "nan", "seconds"),
        ("SUPERVISE_STREAM", "perhaps", "true or false"),
        ("SUPERVISE_DATABASE_URL", "sqlite:///:memory:", "no file"),
        ("SUPERVISE_DATABASE_URL", "mysql://me:sk-hidden@host/runs", "no file"),
        ("SUPERVISE_SQL_URL", "mysql://me:sk-hidden@host/sales", "'mysql'"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_what_is_allowed(
    name, value, message, monkeypatch
):
    monkeypatch.setenv(name, value)

    with pytest.raises(SettingsInvalid) as raised:
        Settings()

    line = raised.value.format_line()
    assert line.startswith("error[SETTINGS_INVALID]")
    assert name in line
    assert message in line
    assert "sk-hidden" not in line


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_whatever_is_given_as_an_address_is_taken_or_refused(text):
    try:
        settings = Settings(openai_base_url=text)
    except SettingsInvalid:
        return

    assert settings.openai_base_url is None or settings.openai_base_url.startswith("http")


def test_secrets_do_not_show_in_the_settings():
    settings = Settings(openai_api_key="sk-hidden", tavily_api_key="tvly-hidden")

    assert "hidden" not in repr(settings) + repr(settings.build_model_settings()) + repr(
        settings.build_tool_settings()
    )
    assert settings.list_secrets() == ("sk-hidden", "tvly-hidden")


def test_the_password_of_a_redis_is_a_secret():
    settings = Settings(redis_url="redis://me:redis-hidden%2F1@host:6379/0")

    assert "hidden" not in repr(settings) + repr(settings.build_model_settings())
    assert settings.list_secrets() == ("redis-hidden%2F1", "redis-hidden/1")


def test_runs_are_kept_under_the_current_folder_unless_the_url_says_otherwise(tmp_path):
    assert Settings().resolve_database_path() == tmp_path / ".supervise" / "runs.sqlite"
    assert (
        Settings(database_url="sqlite:///kept/r.db").resolve_database_path()
        == tmp_path / "kept/r.db"
    )
    assert Settings(database_url="sqlite:////abs/r.db").resolve_database_path() == Path("/abs/r.db")
    assert Settings(database_url="sqlite:////abs/r.db").home == Path("/abs")


def test_runs_stay_where_they_were_when_the_current_folder_changes(tmp_path, monkeypatch):
    settings = Settings(repository=Path("."))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")

    assert settings.home == tmp_path / ".supervise"
    assert settings.build_tool_settings().repository == tmp_path


def test_documents_must_be_a_folder():
    with pytest.raises(SettingsInvalid, match="SUPERVISE_DOCUMENTS"):
        Settings(documents=Path("nowhere")).build_tool_settings()


def test_the_repository_must_be_a_folder_and_is_known_by_its_whole_path(tmp_path, monkeypatch):
    with pytest.raises(SettingsInvalid, match="SUPERVISE_REPOSITORY"):
        Settings(repository=Path("nowhere")).build_tool_settings()
    monkeypatch.chdir(tmp_path)

    assert Settings(repository=Path(".")).build_tool_settings().repository == tmp_path


def test_team_folders_are_separated_as_in_a_path(monkeypatch):
    monkeypatch.setenv("SUPERVISE_TEAMS", f"one{os.pathsep}{os.pathsep}two")

    assert Settings().team_folders == (Path("one"), Path("two"))


@pytest.mark.parametrize(
    ("name", "value", "on"),
    [
        ("LANGSMITH_TRACING", "true", True),
        ("LANGCHAIN_TRACING_V2", "true", True),
        ("LANGSMITH_TRACING", "1", False),
        ("LANGSMITH_TRACING", "false", False),
        ("LANGSMITH_API_KEY", "lsv2-hidden", False),
        ("LANGSMITH_TRACING_V2", "true", False),
    ],
)
def test_only_the_switch_sends_anything_to_langsmith(name, value, on, monkeypatch):
    monkeypatch.delenv("LANGSMITH_TRACING")
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("LANGSMITH_TRACING_V2", os.environ.get("LANGSMITH_TRACING_V2", ""))

    Settings().export_tracing()

    assert os.environ["LANGSMITH_TRACING_V2"] == ("true" if on else "false")


def test_what_the_env_file_says_of_langsmith_reaches_its_client(monkeypatch):
    for name in ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGSMITH_PROJECT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    write_trusted_env("LANGSMITH_TRACING=true\nLANGSMITH_PROJECT=mine\n")

    Settings().export_tracing()

    assert os.environ["LANGSMITH_PROJECT"] == "mine"


def test_prices_of_ones_own_are_read_by_model(monkeypatch):
    monkeypatch.setenv("SUPERVISE_PRICES", "openai:one=0.15/0.6, openai:two=0/0")

    assert Settings().build_model_settings().prices == {
        "openai:one": (0.15, 0.6),
        "openai:two": (0.0, 0.0),
    }


def test_a_tier_has_an_endpoint_and_parameters_of_its_own(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common-0123456789")
    monkeypatch.setenv("SUPERVISE_FAST_BASE_URL", "http://localhost:8080/v1/")
    monkeypatch.setenv("SUPERVISE_FAST_PARAMETERS", '{"temperature": 0.2, "seed": 7}')
    monkeypatch.setenv("SUPERVISE_STRONG_API_KEY", "sk-strong-0123456789")
    monkeypatch.setenv("SUPERVISE_STRONG_HEADERS", '{"X-Team": "blue-0123456789"}')

    models = Settings().build_model_settings()

    assert models.get_tier("fast") == TierSettings(
        base_url="http://localhost:8080/v1", parameters={"temperature": 0.2, "seed": 7}
    )
    assert models.get_tier("standard") == TierSettings(api_key="sk-common-0123456789")
    assert models.get_tier("strong") == TierSettings(
        api_key="sk-strong-0123456789", headers={"X-Team": "blue-0123456789"}
    )


@pytest.mark.parametrize("name", ["SUPERVISE_FAST_BASE_URL", "SUPERVISE_FAST_API_KEY"])
def test_an_endpoint_of_one_tier_leaves_the_others_embedded(name, monkeypatch):
    monkeypatch.setenv(name, "http://localhost:1/v1")

    models = Settings().build_model_settings()

    assert (models.fast, models.strong) == (OPENAI_MODELS["fast"], "embedded")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("BASE_URL", "localhost:8080", "http://"),
        ("BASE_URL", "http://me:sk-hidden@host/v1", "password"),
        ("API_KEY", "sk-hidden sk-hidden", "a space"),
        (
            "HEADERS",
            "X-Team: sk-hidden",
            'is not JSON; allowed: a JSON object of texts such as {"X',
        ),
        ("HEADERS", '["sk-hidden"]', "not an object"),
        ("HEADERS", '{"X Team": "sk-hidden"}', "'X Team', which is not the name of a header"),
        ("HEADERS", '{"X-Team": "sk-hidden\\nX-Other: 1"}', "'X-Team', whose value"),
        ("HEADERS", '{"X-Team": 7}', "'X-Team', whose value"),
        ("PARAMETERS", "temperature=0.2", "is not JSON"),
        ("PARAMETERS", '{"temperature": NaN}', "NaN"),
        ("PARAMETERS", '{"model": "gpt-6"}', "'model', which the application sets itself"),
    ],
)
def test_a_bad_value_of_a_tier_is_refused_in_one_line(name, value, message, monkeypatch):
    monkeypatch.setenv(f"SUPERVISE_STANDARD_{name}", value)

    with pytest.raises(SettingsInvalid) as raised:
        Settings()

    line = raised.value.format_line()
    assert line.startswith(f"error[SETTINGS_INVALID] SUPERVISE_STANDARD_{name} ")
    assert message in line
    assert "sk-hidden" not in line and "\n" not in line


def test_keys_of_tiers_and_of_other_providers_are_redacted(monkeypatch):
    write_trusted_env("MISTRAL_API_KEY=mistral-hidden-1\nSUPERVISE_FAST_API_KEY=hidden-2\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-hidden-3")
    monkeypatch.setenv("SUPERVISE_STRONG_HEADERS", '{"X-Key": "gateway-hidden-4"}')

    settings = Settings()

    assert "hidden" not in repr(settings) + repr(settings.build_model_settings())
    said = redact_text("mistral-hidden-1 hidden-2 sk-ant-hidden-3 gateway-hidden-4")
    assert said == " ".join(["[secret]"] * 4)


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        ("2000", {"plan": 2000, "turn": 2000, "report": 2000, "answer": 2000}),
        ("plan=4000, report=1500", {"plan": 4000, "report": 1500}),
    ],
)
def test_output_tokens_are_limited_for_all_purposes_or_by_purpose(value, limits, monkeypatch):
    monkeypatch.setenv("SUPERVISE_MAX_OUTPUT_TOKENS", value)

    assert Settings().build_model_settings().max_output_tokens == limits


def test_opentelemetry_is_configured_from_the_file_only_where_it_is_switched_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS")
    for name in (*names, "LANGSMITH_TRACING_V2"):
        monkeypatch.setenv(name, "")  # restored after the test
    given = "OTEL_EXPORTER_OTLP_ENDPOINT=http://me:hidden-1@localhost:6006\n"
    given += "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer hidden-2\n"

    write_trusted_env(given)
    Settings().export_tracing()
    assert [os.environ[name] for name in names] == ["", ""]

    write_trusted_env(f"{given}SUPERVISE_OTEL=true\n")
    settings = Settings()
    settings.export_tracing()
    assert os.environ[names[1]] == "authorization=Bearer hidden-2"
    assert {"hidden-1", "hidden-2"} <= set(settings.list_secrets())
    assert "hidden-2" not in repr(settings)
