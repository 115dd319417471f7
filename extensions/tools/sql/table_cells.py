"""Look up the cells of a table that the words of a question may name."""

from collections.abc import Sequence
from typing import Final

from extensions.tools.sql.table_columns import Query
from extensions.tools.sql.table_profile import Profile
from extensions.tools.sql.tables import quote_name, write_literal
from extensions.tools.tables.question_words import OTHER_NAMES, Token, list_lemmas

MAX_CELL_WORDS: Final = 6
MAX_SPANS: Final = 150
MAX_SEARCHED_COLUMNS: Final = 40
MIN_WORD_CHARS: Final = 4
MAX_KINDS: Final = 20
"""Different cells of a label, of which each may be meant by another word."""
_MARKS: Final = " -./,'*()&+"
"""Marks in cells that a question may write in another way."""


def list_kinds(profile: Profile, query: Query) -> list[str]:
    """Return the cells of labels that have few different ones."""
    few = [name for name in profile.labels if 1 < profile.distinct.get(name, 0) <= MAX_KINDS]
    selects = (
        f"SELECT DISTINCT CAST({quote_name(name)} AS VARCHAR(100)) AS cell FROM {profile.rows_of} "
        f"WHERE {quote_name(name)} IS NOT NULL"
        for name in few[:MAX_SEARCHED_COLUMNS]
    )
    return [str(cell) for (cell,) in query(" UNION ".join(selects))["rows"]] if few else []


def find_cell_by_first_word(profile: Profile, word: str, query: Query) -> str:
    """Return the only cell of a label that begins with a word and continues; empty for none.

    Args:
        word: letters alone.
    """
    selects = (
        f"SELECT DISTINCT CAST({quote_name(name)} AS VARCHAR(100)) AS cell FROM {profile.rows_of} "
        f"WHERE LOWER(CAST({quote_name(name)} AS VARCHAR(400))) LIKE '{word.lower()} %'"
        for name in profile.labels[:MAX_SEARCHED_COLUMNS]
    )
    found = query(" UNION ".join(selects))["rows"] if profile.labels else []
    return str(found[0][0]) if len(found) == 1 else ""


def find_words_in_cells(
    profile: Profile, words: Sequence[str], query: Query
) -> dict[str, tuple[str, str]]:
    """Return for words that are in cells, beside others, the column and SQL for its rows.

    Args:
        words: others than letters alone are left out, as are those of several columns.
    """
    texts = {
        (word, name): f"' ' || LOWER(CAST({quote_name(name)} AS VARCHAR(400))) || ' ' LIKE "
        f"{write_literal(f'% {word.lower()} %')}"
        for word in words
        if word.isalpha() and len(word) >= MIN_WORD_CHARS
        for name in profile.labels[:MAX_SEARCHED_COLUMNS]
    }
    counts = ", ".join(f"SUM(CASE WHEN {sql} THEN 1 ELSE 0 END)" for sql in texts.values())
    held = query(f"SELECT {counts} FROM {profile.rows_of}")["rows"][0] if texts else []
    found = [key for key, count in zip(texts, held, strict=True) if count]
    once = [word for word, _ in found if sum(word == other for other, _ in found) == 1]
    return {word: (name, texts[word, name]) for word, name in found if word in once}


def count_beside(profile: Profile, column: str, cell: str, query: Query) -> int:
    """Return how many rows have a cell's words in a list of several: celery; mustard."""
    plain = cell.strip().lower()
    if {"%", "_", ";", ","} & {*plain} or not plain:
        return 0
    text = f"LOWER(TRIM(CAST({quote_name(column)} AS VARCHAR(400))))"
    listed = f"';' || REPLACE(REPLACE(REPLACE({text}, ',', ';'), '; ', ';'), ' ;', ';') || ';'"
    sql = (
        f"SELECT COUNT(*) FROM {profile.rows_of} WHERE {listed} LIKE "
        f"{write_literal(f'%;{plain};%')} AND {text} <> {write_literal(plain)}"
    )
    return int(query(sql)["rows"][0][0])


def find_cells(profile: Profile, tokens: Sequence[Token], query: Query) -> list[tuple[str, str]]:
    """Return the columns of labels with those of their cells that may be in a question."""
    words = [token.word for token in tokens]
    spans = {
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_CELL_WORDS, len(words)) + 1)
        if all(word[0].isalnum() for word in words[start:end])
    }
    spans |= {OTHER_NAMES.get(word, word) for word in words}
    spans |= {
        "".join([*words[start:at], lemma])
        for at in range(len(words))
        for start in range(max(0, at + 1 - MAX_CELL_WORDS), at + 1)
        for lemma in list_lemmas(words[at])
    }
    bare = {"".join(character for character in span if character not in _MARKS) for span in spans}
    wanted = ", ".join(f"({write_literal(span)})" for span in sorted(bare, key=len)[:MAX_SPANS])
    if not words or not profile.labels:
        return []
    selects = []
    for name in profile.labels[:MAX_SEARCHED_COLUMNS]:
        text = plain = f"CAST({quote_name(name)} AS VARCHAR(400))"
        for mark in _MARKS:
            plain = f"REPLACE({plain}, {write_literal(mark)}, '')"
        selects.append(
            f"SELECT DISTINCT {write_literal(name)} AS named, {text} AS cell "
            f"FROM {profile.rows_of} WHERE LOWER({plain}) IN (SELECT word FROM asked)"
        )
    sql = f"WITH asked(word) AS (VALUES {wanted}) {' UNION ALL '.join(selects)}"
    return [(str(name), str(cell)) for name, cell in query(sql)["rows"]]
