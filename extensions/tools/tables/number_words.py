"""Read numbers in a question, and the words that compare with them."""

from collections.abc import Sequence

from extensions.tools.tables.question_words import LISTS, SIGNS, Token


def read_sign(tokens: Sequence[Token], at: int, end: int) -> tuple[str, int, int]:
    """Return the comparison with a number, and the span of its words."""
    words = [token.word for token in tokens]
    before, earlier = (words[n] if n >= 0 else "" for n in (at - 1, at - 2))
    link, more = (*words[end : end + 2], "", "")[:2]
    if before in ("than", "als"):
        return (">" if earlier in LISTS["above"] else "<"), at - 2, end
    if earlier == "at" and before in ("least", "most"):
        return (">=" if before == "least" else "<="), at - 2, end
    if link in ("or", "oder") and more in LISTS["above"] | LISTS["below"]:
        return (">=" if more in LISTS["above"] else "<="), at, end + 2
    if before in SIGNS:
        return SIGNS[before], at - 1, end
    is_compared = before in LISTS["above"] | LISTS["below"]
    return (">" if before in LISTS["above"] else "<" if is_compared else "="), at - is_compared, end


def parse_number_word(word: str) -> float | None:
    """Return the number that a word writes in digits; None for another word."""
    try:
        number = float(word.replace(",", "")) if word[:1].isdigit() else None
    except ValueError:
        return None
    return int(number) if number is not None and number == int(number) else number
