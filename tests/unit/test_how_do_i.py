"""The pages of `docs/how-do-i`: one screen each, and their commands are those of the program."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

from graph.cli import app

FOLDER = Path(__file__).parents[2] / "docs" / "how-do-i"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.name != "README.md")
ONE_SCREEN = 45
"""Lines."""
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|\s)bin/supervise (.*)$")


def list_commands(page: Path) -> Iterator[str]:
    """Yield what follows `bin/supervise` in the blocks of a page."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if found := COMMAND.search(line):
                yield found[1]


def test_there_is_a_page_for_each_of_twenty_questions_and_the_index_names_them_all() -> None:
    index = (FOLDER / "README.md").read_text(encoding="utf-8")

    assert len(PAGES) >= 20
    assert [page.name for page in PAGES if f"({page.name})" not in index] == []


def test_a_page_fits_one_screen() -> None:
    lines = {page.stem: len(page.read_text(encoding="utf-8").splitlines()) for page in PAGES}

    assert {page: count for page, count in lines.items() if count > ONE_SCREEN} == {}


def test_the_program_knows_each_command_and_its_options() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)

    for line in sorted({each for page in PAGES for each in list_commands(page)}):
        words = shlex.split(line, comments=True)
        with group.make_context("supervise", list(words)) as context:
            name, command, rest = group.resolve_command(context, list(words))
            assert command is not None, line
            command.make_context(name, rest, parent=context)


def test_a_page_makes_the_folder_into_which_it_copies() -> None:
    root = FOLDER.parents[1]
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    copied = {Path(line.split()[-1]).parent for line in lines if line.startswith("cp ")}

    missing = {folder for folder in copied if not (root / folder).is_dir()}
    assert missing and all(f"mkdir -p {folder}" in lines for folder in missing)
