"""The text of answers that consist of content blocks."""

from typing import Any

import pytest

from nodes.text.tool_messages import flatten_content


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
