"""The words of a part of a question, each with the role in a table that it has so far."""

from collections.abc import Sequence

from extensions.tools.sql.table_profile import Profile
from extensions.tools.tables.question_words import (
    LISTS,
    OPERATIONS,
    Token,
    is_same_word,
    split_name,
)
from extensions.tools.tables.reading import Reading


class MarkedWords:
    """Words, and what has been read from them."""

    def __init__(self, profile: Profile, tokens: list[Token]) -> None:
        self.profile, self.tokens, self.found = profile, tokens, Reading()
        for token in tokens:
            token.role = "mark" if token.text in "?;,()" else ""

    def word(self, at: int) -> str:
        """Return the word at a place in lower case; empty outside the question."""
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    def role(self, at: int) -> str:
        """Return the role of the word at a place; empty for none."""
        return self.tokens[at].role if 0 <= at < len(self.tokens) else ""

    def operation(self, at: int) -> str:
        """Return the operation that the word at a place asks for; empty for none."""
        return OPERATIONS.get(self.word(at), "")

    def take(self, places: Sequence[int], role: str) -> None:
        """Set the role of the words at these places that have none."""
        for at in places:
            self.tokens[at].role = self.tokens[at].role or role

    def has_both(self, at: int, name: str) -> bool:
        """Return whether a word and the one beside it name a column: atomic mass."""
        parts = [part for part in split_name(name) if part not in LISTS["units"]]
        near = [self.word(at), self.word(at + 1)], [self.word(at - 1), self.word(at)]
        return len(parts) > 1 and any(
            all(word and any(is_same_word(word, part) for part in parts) for word in pair)
            for pair in near
        )

    def take_negation(self, at: int, distance: int) -> bool:
        """Return whether a word before a place denies what is there."""
        denials = ("not", "none") if distance < 3 else ("not",)
        places = [n for n in range(max(0, at - distance), at) if self.operation(n) in denials]
        self.take(places, "condition")
        return bool(places)
