"""Files attached to chat messages become materials."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from graph.chat.attachments import MAX_ATTACHMENTS, add_attachments
from nodes.planning.request import list_read_attachments, list_unread_attachments
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
        "broken.txt",
        "image.txt",
        "wide.txt",
        "empty.md",
    ]
    assert "not base64" in unread[0] and "binary" in unread[1] and "5 MB" in unread[2]


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
