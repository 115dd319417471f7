"""Links and tables of the documentation: each names pages, commands and tests that there are."""

import re
import shlex
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from typer.core import TyperGroup
from typer.main import get_command

import supervisor_worker
from graph.cli import app

ROOT = Path(__file__).parents[2]
MAX_LINES = 250
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "THREAT_MODEL.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
PATH = re.compile(r"`((?:graph|nodes|tests|teams|docs|bin|examples)/[\w./-]*[\w/])(?:::\w+)?`")


@cache
def read_prose(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


@cache
def list_anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub derives them."""
    titles = re.findall(r"^#+ (.+)$", read_prose(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def find_broken_links(page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(read_prose(page)):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in list_anchors(target)):
            broken.append(link)
    return broken


def test_every_relative_link_and_anchor_resolves():
    assert [(page, link) for page in PAGES for link in find_broken_links(page)] == []


def test_every_path_that_a_page_names_exists():
    named = [(page, path) for page in PAGES for path in PATH.findall(read_prose(page))]

    assert [(page, path) for page, path in named if not (ROOT / path).exists()] == []


def test_a_page_stays_within_two_hundred_and_fifty_lines():
    lines = {
        page.relative_to(ROOT).as_posix(): len(page.read_text(encoding="utf-8").splitlines())
        for page in PAGES
        if page.name != "CHANGELOG.md"  # it grows with each release
    }

    assert {name: length for name, length in lines.items() if length > MAX_LINES} == {}


def test_the_readme_is_shorter_than_a_hundred_and_twenty_lines():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_every_program_of_a_page_imports_what_is_promised_from_the_one_name():
    pages = [page for page in PAGES if page.parent.name != "decisions"]
    blocks = [block for page in pages for block in PYTHON.findall(page.read_text("utf-8"))]
    imports = re.findall(r"^from ([\w.]+) import (.+)$", "\n".join(blocks), re.MULTILINE)
    promised = {
        name
        for module, names in imports
        for name in names.split(", ")
        if module == "supervisor_worker"
    }

    assert {"build_supervisor", "run"} <= promised <= set(supervisor_worker.__all__)
    assert not {"graph", "nodes", "state"} & {module.partition(".")[0] for module, _ in imports}


def test_the_index_of_the_guide_names_every_page():
    guide = ROOT / "docs" / "guide"
    index = set(LINK.findall(read_prose(guide / "README.md")))

    assert {page.name for page in guide.glob("*.md")} - {"README.md"} <= index


TABLE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([A-Z]\d\d) \| (.+?) \| (.*) \|$", TABLE, re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def list_tests(path: str) -> frozenset[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))


def find_missing_tests(cell: str) -> list[tuple[str, str]]:
    """Return the tests that a row names and that do not exist; a row that names none is wrong."""
    named = TEST.findall(cell) or [("", "")]
    return [(path, test) for path, test in named if not path or test not in list_tests(path)]


def test_each_row_appears_once_under_its_own_part():
    ids = [name for name, _, _ in ROWS]
    parts = re.findall(r"^## ([A-Z])\. |^\| ([A-Z])\d\d \|", TABLE, re.MULTILINE)
    under = ""

    for part, letter in parts:
        under = part or under
        assert letter in ("", under)
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert len(ids) > 100


def test_every_test_that_a_row_names_exists_and_a_row_without_one_says_why():
    named = [(name, cell) for name, _, cell in ROWS if "None: " not in cell or TEST.search(cell)]

    missing = [(name, test) for name, cell in named for test in find_missing_tests(cell)]
    assert missing == []


MECHANISMS = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
MECHANISM_ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in MECHANISMS.splitlines()
    if re.match(r"\| [A-Z]\d+ \|", line)
]
PARTS = "SWRYOTE"
"""In the order of the page; a number may be left out."""
COMMANDS = sorted({each for row in MECHANISM_ROWS for each in re.findall(r"`([^`]+)`", row[3])})
FOLDERS = ("docs", "examples", "extensions", "graph", "nodes", "teams", "tests")


def find_missing_paths(words: list[str]) -> list[str]:
    """Return the words that look like a path of the checkout and are none."""
    paths = [word for word in words if word.split("/")[0] in FOLDERS and "/" in word]
    return [path for path in paths if not (ROOT / path).exists()]


def test_every_mechanism_has_one_row() -> None:
    ids = [row[0] for row in MECHANISM_ROWS]

    assert ids == sorted(set(ids), key=lambda name: (PARTS.index(name[0]), int(name[1:])))
    assert {len(row) for row in MECHANISM_ROWS} == {6}


def test_a_row_of_a_mechanism_holds_or_says_what_is_missing() -> None:
    for name, state, *_, limits in MECHANISM_ROWS:
        assert state == "x" or (state == "~" and limits), name


def test_a_row_of_a_mechanism_names_a_command_and_tests_that_exist() -> None:
    for name, _, _, see, tests, _ in MECHANISM_ROWS:
        assert "`" in see, name
        assert find_missing_tests(tests) == [], name


def test_a_command_of_the_table_can_be_run() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for command in COMMANDS:
        program, *words = shlex.split(command)
        assert find_missing_paths(words) == []
        if program == "supervise":
            with group.make_context("supervise", list(words)) as context:
                name, known, rest = group.resolve_command(context, list(words))
                assert known is not None
                known.make_context(name, rest, parent=context)
        else:
            assert program == "python" and words[0] == "-m", command
            assert find_spec(words[1]) is not None, command
