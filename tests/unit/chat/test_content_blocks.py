"""The blocks of a chat message, as clients send them."""

from base64 import b64encode
from typing import Any

import pytest

from graph.chat.content_blocks import Attachment, read_block
from nodes.text.tool_messages import flatten_content

CSV = b64encode(b"region,sales\nNorth,10\n").decode()
FILE_BLOCKS: dict[str, dict[str, Any]] = {
    "LangChain v1": {
        "type": "file",
        "base64": CSV,
        "mime_type": "text/csv",
        "extras": {"filename": "sales.csv"},
    },
    "LangChain v0": {
        "type": "file",
        "source_type": "base64",
        "data": CSV,
        "mime_type": "text/csv",
        "metadata": {"name": "sales.csv"},
    },
    "JavaScript": {
        "type": "file",
        "mimeType": "text/csv",
        "data": CSV,
        "metadata": {"filename": "sales.csv"},
    },
    "OpenAI chat": {
        "type": "file",
        "file": {"file_data": f"data:text/csv;base64,{CSV}", "filename": "sales.csv"},
    },
    "OpenAI responses": {
        "type": "input_file",
        "file_data": f"data:text/csv;base64,{CSV}",
        "filename": "sales.csv",
    },
    "Anthropic": {
        "type": "document",
        "source": {"type": "base64", "media_type": "text/csv", "data": CSV},
        "title": "sales.csv",
    },
}
REFUSED_BLOCKS: dict[str, tuple[Any, str]] = {
    "a picture": ({"type": "image", "base64": "AAAA", "mime_type": "image/png"}, "pictures"),
    "a picture as a file": (
        {"type": "file", "base64": "AAAA", "mime_type": "image/png"},
        "pictures",
    ),
    "OpenAI's picture": (
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        "pictures",
    ),
    "sound": ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, "recordings"),
    "an address": ({"type": "file", "url": "https://host/a.pdf"}, "not fetched"),
    "a file of a service": ({"type": "file", "file_id": "file-1"}, "not fetched"),
    "an unknown kind": ({"type": "hologram", "data": "AAAA"}, "'hologram'"),
    "no kind": ({"data": "AAAA"}, "cannot be read"),
    "a text of another type": ({"type": "text", "text": 5}, "cannot be read"),
    "a number": (5, "neither text nor a file"),
    "content of another type": ({"type": "file", "base64": 5, "mime_type": 7}, "no content"),
    "a table of a database": (
        {"type": "file", "base64": "AAAA", "extras": {"name": "t.parquet"}},
        "as CSV",
    ),
}


@pytest.mark.parametrize("client", FILE_BLOCKS)
def test_a_file_is_found_in_the_form_of_each_client(client: str):
    found = read_block(FILE_BLOCKS[client])

    assert found == Attachment("sales.csv", ".csv", encoded=CSV)


@pytest.mark.parametrize("what", REFUSED_BLOCKS)
def test_what_cannot_be_read_is_refused_with_its_reason(what: str):
    block, reason = REFUSED_BLOCKS[what]

    found = read_block(block)

    assert isinstance(found, Attachment) and reason in found.refusal


def test_words_are_no_file():
    assert read_block("Hello.") == "Hello."
    assert read_block({"type": "text", "text": "Hello."}) == "Hello."
    plain = read_block({"type": "text-plain", "text": "A note.", "mime_type": "text/plain"})
    assert plain == Attachment("attachment.txt", ".txt", text="A note.")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\files\\a.md", "a.md"),
        ("a\x1b[31m\u202e\nb.md", "a[31m b.md"),
    ],
)
def test_a_name_has_no_folder_and_no_control_characters(given: str, shown: str):
    found = read_block({"type": "file", "base64": "AAAA", "metadata": {"filename": given}})

    assert isinstance(found, Attachment) and found.name == shown


def test_a_name_without_a_known_suffix_is_read_by_its_media_type():
    found = read_block(
        {"type": "file", "base64": "AAAA", "mime_type": "application/pdf", "title": "Report"}
    )

    assert isinstance(found, Attachment) and (found.name, found.suffix) == ("Report", ".pdf")


@pytest.mark.parametrize(
    ("content", "text", "unread"),
    [
        ("plain", "plain", ()),
        ([], "", ()),
        (["a", {"type": "text", "text": "b"}], "a\nb", ()),
        ([{"type": "image", "base64": "A" * 4_000}], "[image, 3 kB, not read]", ("image, 3 kB",)),
        ([{"type": "image", "url": "x"}], "[image, not read]", ("image",)),
        ([{"type": "\x1b[31mred"}], "[[31mred, not read]", ("[31mred",)),
        ([3], "[part of an unknown kind, not read]", ("part of an unknown kind",)),
    ],
)
def test_what_is_no_text_is_named(content: Any, text: str, unread: tuple[str, ...]) -> None:
    assert flatten_content(content) == (text, unread)


def test_of_many_parts_that_are_no_text_the_rest_is_counted() -> None:
    text, unread = flatten_content([{"type": "image"}] * 1_000)

    assert text.endswith("[992 more parts, not read]") and len(unread) == 9
