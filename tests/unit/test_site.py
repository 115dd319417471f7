"""The site of the documentation: its pages, their links, and what its navigation names."""

import re
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "site"
LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")


def load_build() -> Any:
    spec = spec_from_file_location("site_build", FOLDER / "build.py")
    assert spec and spec.loader
    build = module_from_spec(spec)
    spec.loader.exec_module(build)
    return build


BUILD = load_build()
PAGES = BUILD.list_pages()


def list_places(entry: Any) -> list[str]:
    """Return the pages that a part of the navigation names."""
    if isinstance(entry, str):
        return [entry]
    return [
        place
        for each in (entry.values() if isinstance(entry, dict) else entry)
        for place in list_places(each)
    ]


def test_the_navigation_names_pages_that_there_are_and_every_guide_page() -> None:
    text = BUILD.FOLDER.sub(BUILD.list_folder, (FOLDER / "zensical.toml").read_text("utf-8"))
    named = set(list_places(tomllib.loads(text)["project"]["nav"]))

    assert named - {"api.md"} - set(PAGES.values()) == set()
    assert {place for place in PAGES.values() if place.startswith(("guide/", "how-do-i/"))} <= named


def test_a_link_leads_to_a_page_of_the_site_or_is_plain_words() -> None:
    for page, place in PAGES.items():
        text = BUILD.FENCE.sub("", BUILD.move_links(page.read_text("utf-8"), page, PAGES))
        links = [link.partition("#")[0] for link in LINK.findall(text) if "://" not in link]
        around = Path("/") / Path(place).parent
        targets = {(around / link).resolve().as_posix()[1:] for link in links if link}

        pages = {target for target in targets if not target.startswith("images/")}
        assert pages <= set(PAGES.values()), page


def test_a_link_to_a_file_of_the_code_becomes_its_words() -> None:
    page = BUILD.ROOT / "docs" / "models.md"
    text = (
        "See [settings](../.env.example), [plans](guide/planning-and-strategies.md#a) and `[a](b)`"
    )

    moved = BUILD.move_links(text.removesuffix(" and `[a](b)`"), page, PAGES)

    assert moved == "See settings, [plans](guide/planning-and-strategies.md#a)"
