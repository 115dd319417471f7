"""Packages that are not installed: the one command that installs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graph.commands.extras import describe_unused_key, install
from graph.settings import Settings
from nodes.errors import UsageError
from nodes.models.settings import PROVIDERS, find_extra
from tests.trusted_files import write_trusted_env

ROOT = Path(__file__).parents[2]
HIDE = """
import sys
import importlib.metadata as metadata
hidden, find = sys.argv.pop(1), metadata.version

def find_unless_hidden(name):
    if name == hidden:
        raise metadata.PackageNotFoundError(name)
    return find(name)

metadata.version = find_unless_hidden
"""
"""Makes a package look as if it were not installed."""
COMMAND_LINE = "from graph.cli import main; main()"
PROGRAM = "from graph import run; run('Sum up the page.', team='tech_support')"


def run_without(
    package: str, *command: str, folder: Path, code: str = COMMAND_LINE
) -> subprocess.CompletedProcess[str]:
    """Run a command, or a program, in a process that does not see a package."""
    return subprocess.run(
        [sys.executable, "-c", HIDE + code, package, *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["html", "md"])
def test_a_run_names_the_command_before_it_reads_files(tmp_path: Path, kind: str) -> None:
    page = tmp_path / f"page.{kind}"
    page.write_text("<p>A page.</p>")

    done = run_without(
        "trafilatura",
        "run",
        "Sum up",
        "--team",
        "tech_support",
        "--file",
        page.name,
        folder=tmp_path,
    )

    assert done.returncode == 2
    assert "next: supervise install tech-support" in done.stderr
    assert "cannot read" not in done.stderr and "kept: thread" not in done.stderr


@pytest.mark.slow
def test_a_traceback_of_a_program_ends_with_the_command(tmp_path: Path) -> None:
    done = run_without("trafilatura", folder=tmp_path, code=PROGRAM)

    error, advice = done.stderr.strip().splitlines()[-2:]
    assert error.endswith("need packages that are not installed: trafilatura")
    assert advice.startswith("next: ") and advice.endswith("supervise install tech-support")


@pytest.mark.slow
def test_opentelemetry_that_is_switched_on_names_its_command(tmp_path: Path) -> None:
    write_trusted_env("SUPERVISE_OTEL=true\n", tmp_path)

    done = run_without("opentelemetry-sdk", "run", "Sum up the page.", folder=tmp_path)

    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "SUPERVISE_OTEL is on, but packages are not installed: opentelemetry-sdk" in line
    assert "next: supervise install otel" in line


def test_an_unknown_extra_is_one_line_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match="there is no extra 'antropic'") as refused:
        install("antropic")

    assert {*PROVIDERS} <= {*refused.value.next.removeprefix("use one of ").split(", ")}


@pytest.mark.parametrize(
    ("key", "extra"), [("ANTHROPIC_API_KEY", "anthropic"), ("GEMINI_API_KEY", "google")]
)
def test_a_key_without_a_model_is_named_with_a_model(
    key: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(key, "sk-x")

    said = describe_unused_key(Settings())

    assert said.startswith(f"{key} is set, but no model is.")
    assert said.endswith(f"such as {extra}:{PROVIDERS[extra].example}")
    assert "sk-x" not in said


def test_a_key_beside_a_model_and_no_key_need_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert describe_unused_key(Settings()) == ""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")

    assert describe_unused_key(Settings(model_strong="anthropic:claude-x")) == ""


def test_a_provider_is_found_by_the_name_of_its_extra_and_by_langchains() -> None:
    assert find_extra("google") == find_extra("google_genai") == "google"
    assert find_extra("openai") == ""
