"""What is in `graph/pages/built` was built from `web/` as it is now, and is safe to hand on."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from graph.pages.built_page import BUILT, format_json_for_script, load_built_page
from nodes.errors.redaction import redact_text

WEB = Path(__file__).parents[2] / "web"
BUILT_FILES = sorted(path for path in BUILT.iterdir() if path.suffix in (".js", ".css"))
ADDRESS = re.compile(r"""https?://[^\s"'`)<>\\]+""")
# Names of markup languages, what the SDK names in errors and as defaults, and the beginning that
# the reader of Markdown gives to an address without one; none is loaded.
NAMED_ADDRESSES = (
    *("http://www.w3.org/", "https://docs.langchain.com", "https://github.com/"),
    *("http://localhost:8123", "http://127.0.0.1:8080/v1", "http://${"),
)


def list_sources() -> list[str]:
    sources = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    return sorted(
        [*(path.relative_to(WEB).as_posix() for path in sources), "build.mjs", "package-lock.json"]
    )


def test_the_built_files_are_of_the_present_sources():
    digest = sha256()
    for name in list_sources():
        digest.update(f"{name}\0".encode())
        digest.update((WEB / name).read_bytes())
        digest.update(b"\0")
    built = (BUILT / "source.sha256").read_text(encoding="utf-8").strip()
    assert digest.hexdigest() == built, "web/ has changed: run `make pages`"


def test_the_lock_of_packages_names_no_registry():
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert "registry" not in lock


@pytest.mark.parametrize("path", BUILT_FILES, ids=lambda path: path.name)
def test_a_built_file_can_be_put_inside_a_page(path):
    text = path.read_text(encoding="utf-8")
    assert "</script" not in text.lower()
    assert "</style" not in text.lower()
    assert "<!--" not in text
    assert "\r" not in text
    assert redact_text(text) == text, "a secret that is no secret would break the content policy"


@pytest.mark.parametrize("path", BUILT_FILES, ids=lambda path: path.name)
def test_a_built_file_names_no_registry_and_no_path_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    found = {address for address in ADDRESS.findall(text)}
    assert {each for each in found if not each.startswith(NAMED_ADDRESSES)} == set()
    assert "node_modules" not in text
    assert str(WEB.parent) not in text


def test_the_licences_of_the_packages_are_listed():
    licences = (BUILT / "licences.txt").read_text(encoding="utf-8")
    assert licences.startswith(("@", "preact "))
    assert "MIT" in licences


def test_json_of_a_page_cannot_end_its_element():
    embedded = format_json_for_script({"text": "</script><!-- \u2028 & \ud800"})
    assert "<" not in embedded
    assert embedded == '{"text":"\\u003c/script\\u003e\\u003c!-- \\u2028 \\u0026 ?"}'


def test_a_built_page_has_a_script_and_a_style():
    page = load_built_page("report")
    assert page.script
    assert page.style
