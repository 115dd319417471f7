"""A misspelt setting is reported, and what else reads a variable with our prefix is known."""

from pathlib import Path

import pytest

from graph.setting_sources import CHECKOUT_VARIABLES, find_unknown_names, list_variables
from graph.settings import Settings
from nodes.limits.patterns import Pattern

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bin", "deploy", "examples", "extensions", "graph", "nodes", "tests", ".ci")
SUFFIXES = ("", ".py", ".sh", ".yml", ".yaml", ".env", ".toml")
READ = Pattern(
    r"(?:environ(?:\.get\(|\[)|getenv\(|VARIABLE\b[^=\n]*= |validation_alias=)"
    r"\"(SUPERVISE_[A-Z_]+)\"|\$\{?(SUPERVISE_[A-Z_]+)"
)


def list_names_that_are_read() -> set[str]:
    files = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in SUFFIXES
    ]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    return {name for text in texts for found in READ.findall(text) for name in found if name}


def test_every_variable_that_something_reads_is_known():
    read = list_names_that_are_read()

    assert read > CHECKOUT_VARIABLES
    assert find_unknown_names(read, list_variables(Settings.model_fields)) == {}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SUPERVISE_MODEL_FATS", "SUPERVISE_MODEL_FAST"),
        ("SUPERVISE_TEAM", "SUPERVISE_TEAMS"),
        ("SUPERVISE_QQQ", ""),
    ],
)
def test_an_unknown_name_has_the_nearest_setting(name, near):
    assert find_unknown_names([name, "HOME"], list_variables(Settings.model_fields)) == {name: near}


def test_a_command_warns_once_of_a_misspelt_setting_of_the_environment_and_of_the_file(
    supervise, monkeypatch
):
    monkeypatch.setenv("SUPERVISE_MODEL_FATS", "embedded")
    Path(".env").write_text("SUPERVISE_STREEM=true\nSUPERVISE_STREAM=true\nOTHER_PROGRAM=1\n")

    assert supervise("runs") == 0

    meant = "is not a setting and is ignored; did you mean SUPERVISE_"
    assert supervise.err.count(f"SUPERVISE_MODEL_FATS {meant}MODEL_FAST?") == 1
    assert supervise.err.count(f"SUPERVISE_STREEM {meant}STREAM?") == 1
    assert supervise.err.count("warning:") == 2
