"""The blocks of a chat message, and files attached to it, which become materials."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.chat.attachments import MAX_ATTACHMENTS, Attachment, add_attachments, read_block
from nodes.planning.request import list_read_attachments, list_unread_attachments
from nodes.text.tool_messages import flatten_content
from tests.unit.tools.workbook_samples import Rows, write_xlsx


def attach(name: str, content: str | bytes) -> dict[str, Any]:
    raw = content.encode() if isinstance(content, str) else content
    encoded = b64encode(raw).decode()
    return {"type": "file", "base64": encoded, "extras": {"filename": name}}


async def read_message(*blocks: Any, kept: Mapping[str, str] | None = None) -> Any:
    async def read_kept() -> Mapping[str, str]:
        return kept or {}

    return await add_attachments({"messages": [HumanMessage(list(blocks))]}, read_kept)


async def test_a_file_becomes_a_material_and_leaves_the_message():
    read = await read_message({"type": "text", "text": "Sum it."}, attach("a.csv", "n\n1\n"))

    assert read["materials"] == {"a.csv": "n\n1\n"}
    assert read["messages"][0].content == "Sum it."
    assert list_read_attachments(read) == ["a.csv"]


async def test_two_files_of_one_name_are_both_kept():
    read = await read_message(attach("a.md", "one"), attach("a.md", "two"))

    assert read["materials"] == {"a.md": "one", "a (2).md": "two"}


async def test_a_further_message_keeps_the_files_of_the_thread_and_replaces_one_by_name():
    read = await read_message(attach("b.md", "new"), kept={"a.md": "one", "b.md": "old"})

    assert read["materials"] == {"a.md": "one", "b.md": "new"}


async def test_broken_binary_and_huge_files_are_named_with_their_reasons():
    read = await read_message(
        {"type": "file", "base64": "%%%", "extras": {"name": "broken.txt"}},
        attach("image.txt", b"\x89PNG\0\0"),
        attach("huge.txt", "word " * 1_200_000),
        attach("wide.txt", "\u4e2d" * 1_900_000),
        attach("empty.md", " "),
        attach("fine.md", "fine"),
    )

    unread = list_unread_attachments(read)
    assert list(read["materials"]) == ["huge.txt", "fine.md"]
    assert [line.split()[2] for line in unread] == [
        *("broken.txt", "image.txt", "wide.txt", "empty.md"),
    ]
    assert "not base64" in unread[0] and "binary" in unread[1] and "5 MB" in unread[2]


@pytest.mark.slow
async def test_each_sheet_of_a_workbook_becomes_a_material(tmp_path):
    rows: Rows = [["n", "m"], [1, 2]]
    book = write_xlsx(tmp_path / "a.xlsx", {"One": rows, "Two": rows}).read_bytes()

    read = await read_message(attach("a.xlsx", book), attach("a.xlsx", book))

    assert list(read["materials"]) == [
        *("a.xlsx#One", "a.xlsx#Two", "a (2).xlsx#One", "a (2).xlsx#Two"),
    ]
    assert read["materials"]["a.xlsx#Two"] == "n,m\n1,2\n"


async def test_more_files_than_may_be_read_are_named():
    files = [attach(f"{number}.md", "x") for number in range(MAX_ATTACHMENTS + 900)]

    read = await read_message(*files)

    unread = list_unread_attachments(read)
    assert len(read["materials"]) == MAX_ATTACHMENTS
    assert unread[0] == "not read: 200.md (only 200 files are read)"
    assert unread[-1] == "not read: 880 more files (only 200 files are read)" and len(unread) == 21


async def test_messages_of_others_and_of_words_alone_are_unchanged():
    async def read_kept() -> Mapping[str, str]:
        raise AssertionError("nothing is attached")

    for messages in ("Hi.", [("user", "Hi.")], [AIMessage("Yes.")], [5], None, [{"role": "x"}]):
        given = {"messages": messages}
        assert await add_attachments(given, read_kept) is given
    assert await add_attachments(None, read_kept) is None


async def test_an_earlier_answer_ends_what_is_said_of_attachments():
    read = await read_message({"type": "image", "url": "https://host/a.png"})
    state: Any = {"messages": [*read["messages"], AIMessage("An answer."), HumanMessage("More.")]}

    assert list_unread_attachments(read) and not list_unread_attachments(state)


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
