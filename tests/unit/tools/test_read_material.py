"""The tool that reads on in a material."""

from typing import Any

import pytest

from nodes.errors import ToolRefused
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.read_material import MAX_READ_CHARS
from tests.shipped_tools import load_shipped_tools

POEM = {"poems/long.txt": "".join(f"verse {number}\n" for number in range(1, 5_001))}


async def read(materials: dict[str, str] | None = None, **args: Any) -> str:
    (tool,) = load_shipped_tools(["read_material"], ToolSettings())
    return str(await tool.ainvoke({**args, "materials": materials or POEM}))


async def test_the_lines_come_under_a_heading_that_counts_them():
    text = await read(name="poems/long.txt", first_line=3, last_line=4)

    assert text == ("poems/long.txt, lines 3-4 of 5000; read on from line 5\n\nverse 3\nverse 4")


async def test_the_end_of_a_path_is_enough_and_the_end_of_the_text_is_named():
    assert "lines 4999-5000 of 5000; this is its end" in await read(
        name="long.txt", first_line=4999, last_line=9_999
    )


async def test_one_reading_is_limited_and_the_next_continues_it():
    first = await read(name="long.txt", first_line=1)

    heading, _, body = first.partition("\n\n")
    following = int(heading.rpartition(" ")[2])
    assert len(body) <= MAX_READ_CHARS
    assert body.endswith(f"\nverse {following - 1}")


async def test_a_line_of_any_length_can_be_read_in_parts():
    materials = {"a.json": "x" * 50_000}

    texts = [await read(materials, name="a.json", first_line=at) for at in (1, 5, 9)]

    assert sum(text.partition("\n\n")[2].count("x") for text in texts) == 50_000


async def test_in_a_diff_the_place_of_the_first_line_is_named():
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1,3 @@\n one\n+two\n+three\n"

    text = await read({"a.diff": diff}, name="a.diff", first_line=6)

    assert "Line 6 is in a.py, where the next added line is line 3 of the new file." in text


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"name": "other.txt", "first_line": 1}, "materials of this task: poems/long.txt"),
        ({"name": "long.txt", "first_line": 5001}, "has 5,000 lines, none is 5,001"),
        ({"name": "long.txt", "first_line": 9, "last_line": 8}, "last_line 8 is before"),
        ({"name": "long.txt", "first_line": 0}, "greater than or equal to 1"),
        ({"name": "long.txt", "first_line": "the first"}, "valid integer"),
        ({"name": "long.txt"}, "first_line: Field required"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_what_could_be(args: dict[str, Any], reason: str):
    with pytest.raises(ToolRefused, match=reason):
        await read(**args)


async def test_invisible_characters_of_a_material_are_not_shown():
    assert "\u200b" not in await read({"a.txt": "a\u200bb"}, name="a.txt", first_line=1)
