"""The report in Chromium: it is drawn, and no text of a run becomes a script or an element."""

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from examples.mechanisms import contradiction, replan, split
from graph.pages.report import format_report
from graph.runs.trace import build_trace
from tests.report_page.traces import ATTACKS, make_hostile_trace, make_wide_trace

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
# Elements of the page itself; whatever else is there came from a text.
OWN_ELEMENTS = """
    a article aside bdi blockquote body br button caption code dd del details div dl dt em
    figcaption figure footer foreignobject form g h1 h2 h3 h4 head header hr html input ins label
    legend li main mark marker meta nav ol option p path pre rect script section select small span
    strong style summary svg defs table tbody td text tfoot th thead time title tr tspan ul
"""


class DrawnPage(HTMLParser):
    """The elements and the text of a page, as a browser has drawn it."""

    def __init__(self, dump: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts = 0
        self.body: dict[str, str | None] = {}
        self.text = ""
        self.feed(dump)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.scripts += tag == "script"
        self.body = dict(attrs) if tag == "body" else self.body

    def handle_data(self, data):
        if not self.cdata_elem:
            self.text += data


def draw(page: str, tmp_path: Path) -> DrawnPage:
    assert CHROMIUM is not None
    path = tmp_path / "run.html"
    path.write_text(page, encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", profile)
    dump = subprocess.run(
        [CHROMIUM, *options, "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return DrawnPage(dump.stdout)


def test_no_text_of_a_run_becomes_an_element_or_runs(tmp_path):
    drawn = draw(format_report(make_hostile_trace()), tmp_path)
    assert "data-hacked" not in drawn.body
    assert drawn.elements - set(OWN_ELEMENTS.split()) == set()
    assert drawn.scripts == 2
    assert {name for name in drawn.attributes if name.startswith("on")} == set()
    assert "src" not in drawn.attributes
    assert ATTACKS[0][:20] in drawn.text
    assert "202E" in drawn.text
    assert "001B" in drawn.text
    assert "\u202e" not in drawn.text


@pytest.mark.parametrize("has_policy", [True, False])
def test_the_content_policy_stops_a_script_that_is_put_into_a_page(tmp_path, has_policy):
    page = format_report(make_wide_trace(5))
    if not has_policy:
        page = page.replace("Content-Security-Policy", "No-Policy")
    script = "<script>document.body.dataset.hacked='yes'</script>"
    drawn = draw(page.replace("</body>", f"{script}<p>put in</p></body>"), tmp_path)
    assert "put in" in drawn.text
    assert ("data-hacked" in drawn.body) is not has_policy


def test_a_wide_plan_is_drawn_as_groups(tmp_path):
    drawn = draw(format_report(make_wide_trace(1_000)), tmp_path)
    assert "Compare 1000 coffees" in drawn.text
    assert "worker_3: " in drawn.text
    assert "slowest chain" in drawn.text


def test_a_trace_that_is_none_is_said_in_one_line(tmp_path):
    page = format_report(make_wide_trace(3)).replace('"version":1,"run"', '"version":9,"run"')
    assert "This file holds no trace of a run." in draw(page, tmp_path).text


SHOWN = {
    contradiction: (
        *("Huila cost 24 EUR per kilogram in 2025.", "✕ does not hold", "✓ holds"),
        *("An invoice is what was paid.", "Not decided:", "Neither names a harvest."),
    ),
    replan: (
        *("There is no bug to write about; a setting.", "+ added ops"),
        *("\N{MINUS SIGN} removed comms", "as before: code, figures"),
    ),
    split: ("new words for a task", "10 model calls"),
}
"""Both sides of a contradiction with its decision, what a new plan changes, costs by purpose."""


@pytest.mark.parametrize("played", SHOWN, ids=lambda example: example.__name__.rpartition(".")[2])
async def test_what_a_mechanism_did_is_shown(tmp_path: Path, played: ModuleType):
    events = (await played.run_example()).events

    drawn = draw(format_report(build_trace(events)), tmp_path)

    assert [words for words in SHOWN[played] if words not in drawn.text] == []
