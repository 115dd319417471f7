"""Each command that a document names for a figure runs: the commands are read from the documents.

Each program is asked for its options; one of `tests/benchmarks` runs each night on five rows
(`--rows 5`), but for those that have `NEEDS`, or are told to use `--postgres`: they drive servers,
browsers or a real model. What is written in place of a file, such as `PATH`, is the file in
`tests/benchmarks/samples` with the program's name. Commands of one program that differ in nothing
but numbers are one: the longest is run. `test_examples_of_*.py` run the programs of `examples`.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_module

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SAMPLES = ROOT / "tests" / "benchmarks" / "samples"
PROGRAM = re.compile(r"python3? -m ((?:tests|examples)(?:\.\w+)+)([^`|#&<>\n]*)")
MAKE = re.compile(r'\bmake ([a-z-]+)((?: [A-Z]+=(?:"[^"\n]*"|[^\s`"]+))*)')
PLACEHOLDER = re.compile(r"[A-Z]+|-|[a-z_]+\.jsonl?")
TIMEOUT_S = 900

Command = tuple[str, ...]
"""A module, and its arguments."""


def read_commands(text: str, makefile: str = "") -> Iterator[Command]:
    """Yield the commands of a text, those of the targets of `make` that it names too."""
    for module, arguments in PROGRAM.findall(text):
        yield (module, *shlex.split(arguments))
    for target, given in MAKE.findall(text) if makefile else ():
        values = dict(re.findall(r"^([A-Z]+) \?= *(.*)$", makefile, re.MULTILINE))
        values |= dict(assignment.split("=", 1) for assignment in shlex.split(given))
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n?)*)", makefile, re.MULTILINE)
        lines = recipe[1] if recipe else ""
        for name, value in values.items():
            lines = lines.replace(f"$({name})", value)
        yield from read_commands(lines)


def list_commands() -> list[Command]:
    """Return the commands of all documents, without those that differ only in numbers."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    chosen: dict[Command, Command] = {}
    for document in DOCUMENTS:
        for command in read_commands(document.read_text("utf-8"), makefile):
            words = [word for word in command if not word.isdecimal()]
            key = tuple(sorted(words)) if needs_more(command) else _drop_sizes(command)
            chosen[key] = max(chosen.get(key, ()), command, key=len)
    return sorted(chosen.values())


def _drop_sizes(command: Command) -> Command:
    """Return a command without its numbers and the options that have them."""
    pairs = zip(command, (*command[1:], ""), strict=True)
    return tuple(
        word
        for word, after in pairs
        if not word.isdecimal() and not (word.startswith("--") and after.isdecimal())
    )


def needs_more(command: Command) -> bool:
    """Return whether a program needs more than Python, so that it is asked for its options only."""
    if not command[0].startswith("tests.benchmarks.") or "--postgres" in command:
        return True
    path = ROOT.joinpath(*command[0].split("."))
    source = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
    return "\nNEEDS = " in source.read_text("utf-8")


COMMANDS = list_commands()
EXAMPLES = sorted({module for module, *_ in COMMANDS if module.startswith("examples.")})
PROGRAMS = [command for command in COMMANDS if command[0] not in EXAMPLES]
RUNNING = [command for command in PROGRAMS if not needs_more(command)]


def run_program(*arguments: str, folder: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(ROOT)},
        input=given,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("command", RUNNING, ids=" ".join)
def test_a_command_that_gives_a_figure_runs_on_some_rows(command: Command, tmp_path: Path):
    module, *written = command
    sample = next(SAMPLES.glob(module.rpartition(".")[2] + "*"), None)
    arguments = [
        str(sample) if sample and word != "-" and PLACEHOLDER.fullmatch(word) else word
        for word in written
    ]
    given = sample.read_text("utf-8") if sample and sample.is_file() else ""

    done = run_program(module, *arguments, "--rows", "5", folder=tmp_path, given=given)

    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout


@pytest.mark.parametrize("command", PROGRAMS, ids=" ".join)
def test_a_command_has_the_options_that_are_written(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    module, *arguments = command
    monkeypatch.setattr(sys, "argv", [module, "--help"])

    with pytest.raises(SystemExit) as ended:
        run_module(module, run_name="__main__")

    assert not ended.value.code
    options, shown = [word for word in arguments if word.startswith("--")], capsys.readouterr().out
    assert [option for option in options if option not in shown] == []


def test_each_example_that_a_document_names_is_there():
    files = [ROOT.joinpath(*module.split(".")).with_suffix(".py") for module in EXAMPLES]

    assert [path for path in files if not path.is_file()] == []


def test_commands_are_read_from_prose_from_blocks_and_from_targets_of_make():
    makefile = "KILLS ?= 300\n\nchaos:  ## kill\n\tpython -m tests.kills --kills $(KILLS)\n"
    text = (
        "`python -m tests.a.b --plans PATH` asks.\n"
        "bin/x | .venv/bin/python -m tests.c -   # all\n`make chaos` or make chaos KILLS=5\n"
    )

    assert [*read_commands(text, makefile)] == [
        ("tests.a.b", "--plans", "PATH"),
        ("tests.c", "-"),
        ("tests.kills", "--kills", "300"),
        ("tests.kills", "--kills", "5"),
    ]


def test_the_documents_name_programs_of_each_kind():
    assert any(needs_more(command) for command in PROGRAMS)
    assert ("tests.benchmarks.vagueness", "--plans", "PATH") in PROGRAMS
    assert EXAMPLES
