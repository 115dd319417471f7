"""Build the documentation as a site that loads nothing from elsewhere: `make site`.

Pages are copied beside each other first: those of `docs/`, the README as the start page, and what
stands at the top of the checkout. A link to a file that is no page becomes its name alone. The site
of a version is in a folder of its name; an older one beside it stays, and the selector lists both.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"
HERE: Final = Path(__file__).parent
UNRELEASED: Final = "next"
ABOVE: Final[Mapping[str, str]] = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "THREAT_MODEL.md": "threat-model.md",
    "teams/README.md": "teams.md",
}
"""Pages outside of `docs/`, and what they are called on the site."""
LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s]+)\)")
SOURCE: Final = re.compile(r'(src|srcset)="(docs/[^"]+)"')
FOLDER: Final = re.compile(r'"@([a-z-]+)@"')
FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def list_pages() -> Mapping[Path, str]:
    """Return each page of the checkout, and its place on the site."""
    inside = {page: page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))}
    return inside | {ROOT / name: place for name, place in ABOVE.items()}


def move_links(text: str, page: Path, pages: Mapping[Path, str]) -> str:
    """Return a page's text with its links as they are on the site."""

    def move(found: re.Match[str]) -> str:
        mark, words, link = found.groups()
        name, _, anchor = link.partition("#")
        if "://" in link or not name:
            return found[0]
        target = (page.parent / name).resolve()
        if target.is_dir() and target / "README.md" in pages:
            target /= "README.md"
        if target.is_relative_to(DOCS / "images"):
            place = target.relative_to(DOCS).as_posix()
        elif target in pages:
            place = pages[target]
        else:
            return words
        here = os.path.relpath(place, Path(pages[page]).parent)
        return f"{mark}[{words}]({here}{'#' * bool(anchor)}{anchor})"

    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(move, part) for part in parts[::2]]
    return SOURCE.sub(
        lambda found: f'{found[1]}="{found[2].removeprefix("docs/")}"', "".join(parts)
    )


API: Final = """# API

Each name is imported from `supervisor_worker`; in a checkout from the module below it, too.

::: supervisor_worker
    options:
      show_root_heading: false
      show_root_toc_entry: false
"""


def list_folder(found: re.Match[str]) -> str:
    """Return the pages of a folder for the navigation, in the order of its index."""
    folder = DOCS / found[1]
    named = dict.fromkeys(
        link[2] for link in LINK.findall((folder / "README.md").read_text("utf-8"))
    )
    pages = [name for name in named if "/" not in name and (folder / name).is_file()]
    return ", ".join(f'"{found[1]}/{name}"' for name in ("README.md", *pages))


def build(out: Path, version: str, mermaid: Path) -> Path:
    """Build the site of a version into a folder of its name, and list all versions beside it.

    Args:
        mermaid: the file `mermaid.min.js`, which draws the diagrams.
    """
    pages, site = list_pages(), out / version
    shutil.rmtree(site, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for page, place in pages.items():
            target = work / "pages" / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(move_links(page.read_text("utf-8"), page, pages), "utf-8")
        (work / "pages" / "api.md").write_text(API, "utf-8")
        shutil.copytree(DOCS / "images", work / "pages" / "images")
        (work / "pages" / "assets").mkdir()
        shutil.copy(mermaid, work / "pages" / "assets" / "mermaid.min.js")
        settings = (HERE / "zensical.toml").read_text("utf-8")
        settings = settings.replace("@SITE@", "site").replace("@ROOT@", ROOT.as_posix())
        settings = FOLDER.sub(list_folder, settings)
        (work / "zensical.toml").write_text(settings, "utf-8")
        subprocess.run([sys.executable, "-m", "zensical", "build"], cwd=work, check=True)
        out.mkdir(parents=True, exist_ok=True)
        shutil.move(work / "site", site)
    _list_versions(out, version)
    return site


def _order(name: str) -> tuple[int, ...]:
    """Return what sorts versions as numbers, and what is not released first."""
    return (10**9,) if name == UNRELEASED else tuple(map(int, re.findall(r"\d+", name)))


def _list_versions(out: Path, newest: str) -> None:
    names = sorted((each.name for each in out.iterdir() if each.is_dir()), key=_order, reverse=True)
    released = [name for name in names if name != UNRELEASED]
    newest = released[0] if released else newest
    listed = [{"version": name, "title": name, "aliases": []} for name in names]
    (out / "versions.json").write_text(json.dumps(listed), "utf-8")
    way = f'<meta http-equiv="refresh" content="0; url={newest}/">'
    to = f'<!doctype html>{way}<a href="{newest}/">{newest}</a>'
    (out / "index.html").write_text(to, "utf-8")


def main() -> None:
    """Build the site, and print where it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--out", type=Path, default=ROOT / "site", help="the folder of all versions"
    )
    parser.add_argument("--version", default=UNRELEASED)
    parser.add_argument("--mermaid", type=Path, required=True, help="mermaid.min.js")
    options = parser.parse_args()
    if not re.fullmatch(r"\w[\w.-]*", options.version):
        parser.error(f"{options.version!r} is no name of a version")
    print(build(options.out.resolve(), options.version, options.mermaid) / "index.html")


if __name__ == "__main__":
    main()
