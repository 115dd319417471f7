"""`supervise` whose output nobody reads, or whose surroundings know no Unicode (X08)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trusted_files import list_user_folders

ROOT = Path(__file__).resolve().parents[2]
REQUEST = "What is the total revenue \u2013 by region?"
SALES = "region,quarter,revenue\nNorth,Q1,120\nNorth,Q2,150\nSüd,Q1,95\nSüd,Q2,99\n"
RUN = ("run", REQUEST, "--file", "sales.csv")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="pipes are those of Unix"),
]


@pytest.fixture(autouse=True)
def sales() -> None:
    Path("sales.csv").write_text(SALES, encoding="utf-8")


def build_environment(**more: str) -> dict[str, str]:
    path = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
    return {**path, **list_user_folders(), **more}


@pytest.mark.parametrize(("arguments", "is_all"), [(("--help",), False), (RUN, False), (RUN, True)])
def test_x08_a_reader_that_goes_away_is_no_error(arguments: tuple[str, ...], is_all: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "graph.cli", *arguments],
        env=build_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if is_all else subprocess.PIPE,
    )
    assert process.stdout is not None

    process.stdout.read(1)
    process.stdout.close()
    text = process.stderr.read() if process.stderr else b""

    assert process.wait() == 0
    assert b"Traceback" not in text and b"error[" not in text


def test_x08_a_locale_without_unicode_gets_what_it_can_show() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graph.cli", *RUN],
        env=build_environment(LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
    assert b"North" in done.stdout
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_x08_progress_that_cannot_be_written_ends_no_run() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "graph.cli", *RUN],
            env=build_environment(),
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )

    assert done.returncode == 0
    assert b"North" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [("teams",), (*RUN, "--thread", "t1")], ids=lambda a: a[0])
def test_x08_output_that_cannot_be_written_is_one_clear_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "graph.cli", *arguments],
            env=build_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    error = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert error.startswith("error[OUTPUT_FAILED] cannot write to stdout: No space left on device")
    assert ("kept: thread t1, done" in error) == ("t1" in arguments)
    assert not list(Path(".supervise").glob("errors/*"))


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb", "FORCE_COLOR": "1"}])
def test_o06_a_pipe_gets_plain_text_whatever_the_terminal_is_called(more: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graph.cli", "runs"],
        env=build_environment(**more),
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
    assert b"no runs" in done.stderr and b"\x1b" not in done.stdout + done.stderr
