"""Which file of settings counts, as a whole or in part, and what a bad one leads to."""

import os
import stat
from pathlib import Path

import pytest

from graph.commands.settings_loading import MAX_NAMES
from graph.setting_sources import MAX_BYTES
from graph.settings import Settings
from graph.user_state import get_user_env_file, is_signed, sign_text
from nodes.errors import SettingsInvalid
from tests.screen import run_supervise
from tests.trusted_files import write_trusted_env

USED = "openai:gpt-6-luna"


def write_user_env(text: str) -> None:
    path = get_user_env_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_sources_have_an_order(tmp_path, monkeypatch):
    def name(where: str) -> str:
        return f"SUPERVISE_TEAMS={where}\n"

    write_user_env(name("own") + "SUPERVISE_SQL_URL=own.sqlite\n")
    assert Settings().team_folders == (Path("own"),)
    write_trusted_env(name("folder"))
    assert Settings().team_folders == (Path("folder"),)
    named = tmp_path / "named.env"
    named.write_text(name("named"))
    assert Settings(_env_file=named).team_folders == (Path("named"),)
    monkeypatch.setenv("SUPERVISE_TEAMS", "environment")
    settings = Settings(_env_file=named)
    assert settings.team_folders == (Path("environment"),)
    assert settings.sql_url == "own.sqlite"
    assert settings.sources.list_files()[:2] == ["named.env", ".env"]


@pytest.mark.parametrize(
    "line",
    [
        f"SUPERVISE_MODEL_FAST={USED}-2",
        *("SUPERVISE_MAX_CONCURRENCY=3", "SUPERVISE_RPM=60", "SUPERVISE_TPM=1000"),
        *("SUPERVISE_CALL_TIMEOUT_S=20", "SUPERVISE_DEADLINE_S=300"),
        *("SUPERVISE_MAX_OUTPUT_TOKENS=1000", "SUPERVISE_STREAM=false"),
        *("SUPERVISE_SPECULATE=false", "SUPERVISE_DOCUMENTS=documents"),
    ],
)
def test_an_untrusted_file_may_set_what_only_tightens(line, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    Path("documents").mkdir()
    usual = Settings()
    Path(".env").write_text(f"{line}\n")

    settings = Settings()

    assert settings != usual
    assert settings.sources.ignored == ()
    assert settings.sources.list_files() == ["part of .env"]


@pytest.mark.parametrize(
    "line",
    [
        *("SUPERVISE_MODEL_FAST=anthropic:claude", "SUPERVISE_MODEL_FAST=openai:vendor/model"),
        *("SUPERVISE_MODEL_FAST=embedded", "SUPERVISE_MODEL_FAST=none"),
        *("SUPERVISE_MAX_CONCURRENCY=17", "SUPERVISE_CALL_TIMEOUT_S=3600"),
        *("SUPERVISE_DEADLINE_S=0", "SUPERVISE_MAX_OUTPUT_TOKENS=5000"),
        *("SUPERVISE_SPECULATE=perhaps", "SUPERVISE_DOCUMENTS=..", "SUPERVISE_DOCUMENTS=/"),
        *("SUPERVISE_DOCUMENTS=~", "SUPERVISE_DOCUMENTS=link", "SUPERVISE_DOCUMENTS=loop"),
        "SUPERVISE_REPOSITORY=.",
        f"SUPERVISE_DOCUMENTS={'x' * 5000}",
        "SUPERVISE_PRICES=openai:gpt-6-luna=0/0",
        "SUPERVISE_INSTANCES=1000",
        "SUPERVISE_FAST_HEADERS={}x",
        "SUPERVISE_FAST_PARAMETERS={}x",
        "SUPERVISE_TRACE_CONTENT=true",
        "SUPERVISE_DATABASE_URL=sqlite:///inside.sqlite",
        "SUPERVISE_SQL_URL=/etc/passwd.sqlite",
        "SUPERVISE_RUN_CODE=true",
        "SUPERVISE_USERS=users.json",
        "SUPERVISE_MCP_TOKEN=0123456789",
        "SUPERVISE_REDIS_URL=redis://h",
        "SUPERVISE_STUDIO_ORIGINS=http://h",
        "SUPERVISE_ENV_FILE=other.env",
        "TAVILY_API_KEY=0123456789",
        "LANGSMITH_TRACING=true",
        "LANGCHAIN_TRACING_V2=true",
        "OTEL_EXPORTER_OTLP_HEADERS=a=b",
    ],
)
def test_an_untrusted_file_sets_nothing_else(line, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    Path("link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    Path("loop").symlink_to("loop")
    monkeypatch.delenv("LANGSMITH_TRACING")
    usual = Settings()
    Path(".env").write_text(f"{line}\n")

    settings = Settings()

    assert settings == usual
    assert settings.sources.ignored == (line.partition("=")[0],)


def test_every_setting_is_allowed_by_name_or_ignored():
    names = {
        field.validation_alias
        for field in Settings.model_fields.values()
        if isinstance(field.validation_alias, str) and not field.exclude
    }
    usual = Settings()
    Path("7").mkdir()
    Path(".env").write_text("".join(f"{name}=7\n" for name in names))

    ignored = set(Settings().sources.ignored)

    assert Settings().home == usual.home
    assert names - ignored == {
        *("SUPERVISE_MAX_CONCURRENCY", "SUPERVISE_RPM", "SUPERVISE_TPM"),
        *("SUPERVISE_CALL_TIMEOUT_S", "SUPERVISE_DEADLINE_S", "SUPERVISE_MAX_OUTPUT_TOKENS"),
        "SUPERVISE_DOCUMENTS",
    }


def test_an_untrusted_file_reads_no_variable(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    Path(".env").write_text("SUPERVISE_MODEL_FAST=openai:${OPENAI_API_KEY}\n")

    assert Settings().resolve_model("fast") == "openai:${OPENAI_API_KEY}"


@pytest.mark.parametrize("model", ["openai:gpt-6-luna", "embedded"])
def test_an_untrusted_file_switches_no_model_on(model):
    Path(".env").write_text(f"SUPERVISE_MODEL_FAST={model}\n")

    assert Settings().resolve_model("fast") == "embedded"


def test_limits_of_the_user_are_not_raised_by_what_leaves_them_out():
    write_user_env("SUPERVISE_MAX_OUTPUT_TOKENS=plan=100,turn=50\n")
    Path(".env").write_text("SUPERVISE_MAX_OUTPUT_TOKENS=plan=90\n")

    assert Settings().max_output_tokens == {"plan": 100, "turn": 50}


def test_variables_of_an_untrusted_file_are_no_variables_of_teams():
    Path(".env").write_text("PATH=.\nWEB_TOKEN=x\nSUPERVISE_RPM=5\n")

    variables = Settings().build_tool_settings().variables

    assert variables["PATH"] == os.environ["PATH"]
    assert "WEB_TOKEN" not in variables and variables["SUPERVISE_RPM"] == "5"


def test_words_of_an_untrusted_file_are_not_masked(capsys):
    Path(".env").write_text("OTHER_API_KEY=market_analysis\n")

    assert run_supervise("teams") == 0

    assert "market_analysis" in capsys.readouterr().out


def test_a_trusted_file_that_changed_is_untrusted_until_it_is_trusted_again(capsys):
    path = write_trusted_env("SUPERVISE_RUN_CODE=true\n")
    assert Settings().run_code
    path.write_text("SUPERVISE_RUN_CODE=true\nSUPERVISE_TEAMS=x\n")

    assert run_supervise("runs") == 0
    assert (
        "has changed since you trusted it; ignored: SUPERVISE_RUN_CODE" in capsys.readouterr().err
    )
    assert run_supervise("trust") == 0
    assert Settings().run_code
    assert run_supervise("trust", "--remove") == 0
    assert not Settings().run_code


def test_trust_shows_names_hosts_and_folders_and_no_values(capsys):
    Path(".env").write_text(
        "OPENAI_API_KEY=sk-hidden-0123\nOPENAI_BASE_URL=http://me:hidden@host:81/v1\n"
        "SUPERVISE_TEAMS=x\n'\x1b]0;name'=1\n"
    )

    assert run_supervise("trust") == 0

    shown = capsys.readouterr().out
    assert "  OPENAI_API_KEY\n  OPENAI_BASE_URL: host:81\n  SUPERVISE_TEAMS: x\n" in shown
    assert "hidden" not in shown and "\x1b" not in shown


def test_trust_shows_settings_and_addresses_before_many_other_names(capsys):
    filling = "".join(f"APP_{n}=1\nsupervise_rpm=1\nSupervise_Rpm={n}\n" for n in range(300))
    Path(".env").write_text(
        f"{filling}HOST_URL=http://other/\nA=http:/\nOPENAI_BASE_URL=x:y@${{A}}/host\n"
    )

    assert run_supervise("trust") == 0

    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines[:3] == ["  SUPERVISE_RPM", "  OPENAI_BASE_URL: ${A}/host", "  HOST_URL: other"]
    assert len(lines) == MAX_NAMES + 1 and lines[-1].endswith(" more")


@pytest.mark.parametrize("is_unknown", [True, False], ids=["unknown", "relative"])
def test_a_home_that_is_unknown_is_not_the_current_folder(is_unknown, monkeypatch):
    def find(*_, **__):
        if is_unknown:
            raise RuntimeError("no home")
        return Path("here")

    monkeypatch.setattr("graph.user_state.user_config_path", find)
    monkeypatch.setattr("graph.user_state.user_state_path", find)
    Path("here").mkdir()
    Path("here/.env").write_text("SUPERVISE_RUN_CODE=true\n")
    Path(".env").write_text("SUPERVISE_RUN_CODE=true\n")

    assert not Settings().run_code
    assert run_supervise("trust") == 2
    assert is_signed("a run", sign_text("a run"))


def test_the_record_of_trust_is_readable_by_the_user_alone(user_folder):
    write_trusted_env("SUPERVISE_RPM=5\n")
    signature = sign_text("a run")

    (folder,) = (user_folder / "xdg_state_home").iterdir()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert (stat.S_IMODE(folder.stat().st_mode), modes) == (0o700, {0o600})
    assert is_signed("a run", signature) and not is_signed("another", signature)


def test_without_a_writable_home_trust_says_why_and_a_run_goes_on(monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nothing")
    Path(".env").write_text("SUPERVISE_RUN_CODE=true\n")

    assert run_supervise("trust") == 2
    assert "next: make your home folder writable" in capsys.readouterr().err
    assert run_supervise("runs") == 0
    assert is_signed("a run", sign_text("a run"))


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: os.mkfifo(path), "it is not a regular file"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.symlink_to("/etc/passwd"), "it is a link to another folder"),
        (lambda path: path.symlink_to(path), "level"),
        (lambda path: path.write_bytes(b"A=\xff\n"), "it is not UTF-8"),
        (lambda path: path.write_bytes(b"A=\0\n"), "it holds a NUL byte"),
        (lambda path: path.write_bytes(b"A" * (MAX_BYTES + 1)), "it has more than 100,000 bytes"),
    ],
    ids=["fifo", "folder", "link", "loop", "bytes", "nul", "huge"],
)
def test_a_bad_file_of_the_folder_is_ignored_in_one_line(make, problem, capsys):
    make(Path(".env"))

    assert run_supervise("runs") == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert ".env of this folder is ignored: " in warning and problem in warning
    assert run_supervise("trust") == 2
    assert "error[FILE_UNREADABLE]" in capsys.readouterr().err


def test_a_bad_or_missing_file_that_the_user_named_is_an_error(capsys):
    Path("bad.env").write_bytes(b"A=\xff\n")

    assert run_supervise("runs", "--env-file", "bad.env") == 2
    assert "bad.env cannot be used: it is not UTF-8" in capsys.readouterr().err
    assert run_supervise("runs", "--env-file", "missing.env") == 2
    assert "there is no file" in capsys.readouterr().err
    with pytest.raises(SettingsInvalid, match="missing"):
        Settings(_env_file="missing.env")


def test_a_home_without_a_folder_of_settings_is_no_error(monkeypatch):
    Path("file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("file").absolute()))

    assert Settings().sources.list_files() == []


def test_a_bad_value_is_changed_in_a_file_that_counts_as_a_whole(monkeypatch):
    monkeypatch.setenv("SUPERVISE_RPM", "0")
    write_user_env("SUPERVISE_TPM=5\n")
    Path(".env").write_text("SUPERVISE_MAX_CONCURRENCY=2\n")

    with pytest.raises(SettingsInvalid) as raised:
        Settings()

    assert "part of" not in raised.value.next and "the environment or in " in raised.value.next


def test_what_is_ignored_is_logged_once_in_python(caplog):
    Path(".env").write_text("SUPERVISE_USER_RUNS=3\n")

    Settings()
    Settings()

    (record,) = [each for each in caplog.records if "SUPERVISE_USER_RUNS" in each.message]
    assert "is not trusted" in record.message


def test_a_trusted_file_of_a_link_inside_the_folder_counts():
    Path("settings").mkdir()
    Path("settings/own.env").write_text("SUPERVISE_RUN_CODE=true\n")
    Path(".env").symlink_to("settings/own.env")

    assert run_supervise("trust") == 0

    assert Settings().run_code


@pytest.mark.parametrize("text", ["=", "A='", "export", "\ufeffSUPERVISE_RPM=5", "A=${A}${A}"])
def test_odd_lines_of_a_file_are_skipped(text):
    Path(".env").write_text(f"{text}\n", encoding="utf-8")

    assert Settings().sources.problem == ""
