"""Recognizes a reply that is complete and runs on: a small model often does not find its end."""

from typing import Final

MAX_EXTRA_PARTS: Final = 12
"""Parts of a stream after a complete value, about a token each; a server's last ones are fewer."""
MAX_WORDS_CHARS: Final = 600
"""Of words without any JSON, where a call was asked for."""
REPEATED_CHARS: Final = 40
MAX_REPETITIONS: Final = 10
"""How often the last characters may occur among the last of a reply, which then has no end."""
TAIL_CHARS: Final = 1_200
MAX_VALUES: Final = 8
"""Limit for the values of one reply, such as calls one after another."""
_OPENINGS: Final = ("{", "[{", '["', "[[", "[]", "```", "<tool_call>", "<function=")
_THOUGHTS: Final = ("<think", "<|", "[THINK]", "<reasoning")
"""How a reply begins that shows a model's thoughts first: it may be long."""
START_CHARS: Final = 16
"""Of a reply, without spaces, by which its form is known."""


class RunOnWatch:
    """Follows the text of one reply, in linear time, and says when to stop reading it.

    Only a text that begins as JSON or as a call is followed. A value that is followed by another
    one is not the end; blank lines and prose after it are.

    Args:
        wants_call: words without any JSON are no reply; they are left after `MAX_WORDS_CHARS`.
    """

    def __init__(self, *, wants_call: bool = False) -> None:
        self._start, self._is_followed, self._wants_call = "", True, wants_call
        self._chars, self._tail = 0, ""
        self.is_repeated = False
        """It was left as it repeats itself, so its value is not complete."""
        self._depth, self._is_in_string, self._is_escaped = 0, False, False
        self._values, self._extra_parts = 0, 0

    def is_over(self, part: str) -> bool:
        """Add a part of the reply; return whether it is complete, and runs on."""
        if self._repeats(part):
            self.is_repeated = True
            return True
        if len(self._start) < START_CHARS:
            self._start = "".join((self._start + part[: 4 * START_CHARS]).split())
            self._is_followed = any(map(self._may_begin_with, _OPENINGS))
        if part and self._depth == 0 and self._values:
            self._extra_parts += 1
        self.follow(part)
        if not self._is_followed:
            return self._is_no_call(part)
        return self._values >= MAX_VALUES or self._extra_parts > MAX_EXTRA_PARTS

    def follow(self, text: str) -> None:
        """Follow the values of a text, with any words between them."""
        for character in text:
            self._read(character)

    @property
    def is_inside(self) -> bool:
        """Whether a value has begun that is not complete."""
        return self._depth > 0

    def _may_begin_with(self, opening: str) -> bool:
        return self._start.startswith(opening) or opening.startswith(self._start)

    def _repeats(self, part: str) -> bool:
        """Add a part of the reply; return whether its end is a repetition."""
        known = len(self._tail) // REPEATED_CHARS
        self._tail += part
        if len(self._tail) // REPEATED_CHARS == known:  # not at each part
            return False
        end = self._tail[-REPEATED_CHARS:]
        self._tail = self._tail[-TAIL_CHARS:]
        return bool(end.strip()) and self._tail.count(end) >= MAX_REPETITIONS

    def _is_no_call(self, part: str) -> bool:
        """Add a part of a reply in words; return whether it is too long to become a call."""
        self._chars += len(part)
        if "{" in part or any(map(self._may_begin_with, _THOUGHTS)):
            self._wants_call = False
        return self._wants_call and self._chars > MAX_WORDS_CHARS

    def _read(self, character: str) -> None:
        if self._is_in_string:
            is_end = character == '"' and not self._is_escaped
            self._is_escaped = character == "\\" and not self._is_escaped
            self._is_in_string = not is_end
        elif character == '"':
            self._is_in_string = self._depth > 0
        elif character in "{[":
            self._depth, self._extra_parts = self._depth + 1, 0
        elif character in "}]" and self._depth:
            self._depth -= 1
            self._values += self._depth == 0
