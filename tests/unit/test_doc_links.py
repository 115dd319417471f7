"""Every link of the documentation leads to a file and a heading, and no page is long."""

import re
from functools import cache
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_and_anchor_resolves(page):
    assert find_broken_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_path_that_a_page_names_exists(page):
    assert [path for path in PATH.findall(read_prose(page)) if not (ROOT / path).exists()] == []


def test_a_page_stays_within_two_hundred_and_fifty_lines():
    lines = {
        page.relative_to(ROOT).as_posix(): len(page.read_text(encoding="utf-8").splitlines())
        for page in PAGES
        if page.name != "CHANGELOG.md"  # it grows with each release
    }

    assert {name: length for name, length in lines.items() if length > MAX_LINES} == {}


def test_the_index_of_the_guide_names_every_page():
    guide = ROOT / "docs" / "guide"
    index = set(LINK.findall(read_prose(guide / "README.md")))

    assert {page.name for page in guide.glob("*.md")} - {"README.md"} <= index
