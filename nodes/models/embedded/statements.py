"""Chooses the sentences of passages that say most on a subject."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.models.embedded.prompt_reading import Passage
from nodes.models.embedded.text_similarity import (
    extract_numbers,
    extract_words,
    split_sentences,
    weigh_words,
)

MAX_STATEMENTS = 9
MIN_PER_SOURCE = 3
MIN_STATEMENT_CHARS = 20
"""A shorter line must be a sentence, or name what its figure measures."""
MAX_STATEMENT_CHARS = 400
MAX_LIST_CHARS = 1600
"""Of a statement that a list follows."""
_GLUE = "\ue000"
"""Written for the spaces of a list until its text is split into sentences."""
_ITEM = Pattern(r"[ \t]{0,8}(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(.+)$")
MIN_SHARE_OF_BEST = 0.15
MIN_SHARED_WORDS = 2
MIN_COMMON, MAX_COMMON_SHARE = 6, 0.25
"""Words that more statements have together, or a larger share of them, say too little."""
ANSWER_SENTENCES = 2
"""Sentences after a question that are quoted with it."""
_THOUSANDS = Pattern(r"(?<=\d),(?=\d{3}\b)")
_NAME = Pattern(
    r"(?<=[\w,;] )(?!(?:EUR|USD|GBP|CHF|JPY)\b)[A-Z][\w\-]+"
    r"|^(?!(?:EUR|USD|GBP|CHF|JPY)\b)[A-Z]{2,}\b"
)
_TAG = Pattern(r"\\?</?[a-zA-Z][^<>]{0,200}>")
_NAMED_FIGURE = Pattern(r"[^\W\d]\)?(?::| [-=\u2013\u2014])\s.*\d")


def choose_statements(
    subject: str, passages: list[Passage], *, is_question: bool = False
) -> list[dict[str, Any]]:
    """Return the sentences that share most words with the subject, preferably with figures.

    A word counts less when a chosen sentence of the same source already contains it.
    """
    weights = weigh_words([subject, *(passage.text for passage in passages)])
    wanted = set(extract_words(subject))
    # A task in other words than the user's also says how to work: one word may be its matter.
    needed = MIN_SHARED_WORDS if is_question and len(wanted) > MIN_SHARED_WORDS else 1
    left = _list_candidates(wanted, passages, needed)
    cap = max(MIN_PER_SOURCE, MAX_STATEMENTS // max(1, len({one.source for one in left})))
    covered: set[tuple[str, str]] = set()
    kept: list[_Candidate] = []
    least = 0.0
    while left and len(kept) < MAX_STATEMENTS:
        best = max(
            left, key=lambda candidate: (candidate.score_gain(weights, covered), -candidate.place)
        )
        gain = best.score_gain(weights, covered)
        if gain < least:
            break
        least = least or MIN_SHARE_OF_BEST * gain
        kept.append(best)
        covered |= {(best.source, word) for word in best.shared_words}
        full = sum(one.source == best.source for one in kept) == cap
        left = [one for one in left if one is not best and not (full and one.source == best.source)]
    return [
        {
            "text": _name_subject(one).replace(_GLUE, " "),
            "source": one.source,
            # Between a question and its answer, the source may have marks that are left out here.
            "quote": _choose_quote(one.text),
            "confidence": 70,
        }
        for one in sorted(kept, key=lambda one: one.place)
        if not any(one.text in other.text for other in kept if other is not one)
    ]


def _choose_quote(text: str) -> str:
    """Return the longest part of a statement that is in its source word for word.

    Marks between a question and its answer, and those of a list, are left out of statements.
    """
    plain = text.replace(f":{_GLUE}", f";{_GLUE}")
    parts = [part for sentence in plain.split("? ") for part in sentence.split(f";{_GLUE}")]
    return max(parts, key=len).replace(_GLUE, " ").strip()


def _name_subject(statement: "_Candidate") -> str:
    """Return a statement, after the heading of its part if it has no name of its own."""
    if not statement.heading or _NAME.search(statement.text) or "?" in statement.text:
        return statement.text
    return f"{statement.heading}: {statement.text}"


@dataclass(frozen=True)
class _Candidate:
    text: str
    source: str
    place: int
    shared_words: frozenset[str]
    heading: str

    def score_gain(self, weights: Mapping[str, float], covered: Set[tuple[str, str]]) -> float:
        known = {word for word in self.shared_words if (self.source, word) in covered}
        new = sum(weights.get(word, 1.0) for word in self.shared_words - known)
        repeated = sum(weights.get(word, 1.0) for word in known)
        return (new + 0.5 * repeated) * (0.5 + 0.4 * min(4, len(extract_numbers(self.text))))


def _list_candidates(wanted: set[str], passages: list[Passage], needed: int) -> list[_Candidate]:
    """Return the statements that share enough words with the subject, together not too common.

    Each of "AWS", "revenue" and "2024" may be in most statements: all three are in few.
    """
    statements: dict[str, tuple[Passage, set[str]]] = {}
    for passage in passages:
        for text in _list_statements(passage.text):
            statements.setdefault(text, (passage, wanted & set(extract_words(text))))
    combinations = Counter(frozenset(shared) for _, shared in statements.values() if shared)
    counts = {
        words: sum(count for other, count in combinations.items() if words <= other)
        for words in combinations
    }
    common = max(MIN_COMMON, MAX_COMMON_SHARE * len(statements))
    found = [
        (text, passage, frozenset(shared))
        for text, (passage, shared) in statements.items()
        if len(shared) >= needed
        and counts.get(frozenset(shared), common + 1) <= common
        and _is_statement(text)
    ]
    return [
        _Candidate(text, passage.source, place, shared, passage.heading)
        for place, (text, passage, shared) in enumerate(found)
    ]


def _list_statements(text: str) -> Iterator[str]:
    """Yield the sentences of a passage; a question, which may be a heading, with its answer."""
    sentences = [each for each in split_sentences(_join_lists(text)) if not _TAG.fullmatch(each)]
    for index, sentence in enumerate(sentences):
        end = index + 1
        if sentence.endswith("?"):
            after = sentences[end : end + 2 * ANSWER_SENTENCES]
            answer = list(takewhile(lambda each: not each.endswith("?"), after))
            lists = [place for place, each in enumerate(answer) if _GLUE in each]
            end += max(min(len(answer), ANSWER_SENTENCES), *(place + 1 for place in lists[:1]), 0)
        found = " ".join(sentences[index:end])
        yield found[: MAX_LIST_CHARS if _GLUE in found else MAX_STATEMENT_CHARS]


def _join_lists(text: str) -> str:
    """Return a text with each list that a colon announces joined to that sentence."""
    lines, joined = text.splitlines(), list[str]()
    while lines:
        line = lines.pop(0)
        if line.rstrip().endswith(":") and (items := _take_items(lines)):
            listed = _GLUE.join("; ".join(each.removesuffix(".") for each in items).split())
            line = f"{line.rstrip()}{_GLUE}{listed}."
        joined.append(line)
    return "\n".join(joined)


def _take_items(lines: list[str]) -> list[str]:
    """Remove the items of a list at the start of some lines, and return them."""
    items = list[str]()
    while lines:
        line = next((each for each in lines if each.strip()), "")
        is_blank = not lines[0].strip()
        if found := _ITEM.match(line):
            items.append(found[1].strip())
        elif items and line and not is_blank and (line[0].isspace() or line[0].islower()):
            items[-1] = f"{items[-1]} {line.strip()}"
        else:
            break
        del lines[: lines.index(line) + 1]
    return items


def _is_statement(sentence: str) -> bool:
    """Return whether a line is a statement, not a heading, table row or source line."""
    commas = _THOUSANDS.sub("", sentence)
    is_row = commas.count(",") > commas.count(", ") + 2 or sentence.count("|") > 2
    is_heading = sentence[-1] not in ".!?" and not extract_numbers(sentence)
    is_link = sentence.startswith("[") and sentence.endswith(")")
    is_short = len(sentence) < MIN_STATEMENT_CHARS and not _is_short_fact(sentence)
    return not (
        is_short or is_row or is_heading or is_link or sentence.lower().startswith("source")
    )


def _is_short_fact(line: str) -> bool:
    is_sentence = line[-1] in ".!" and len(line.split()) > 2
    return is_sentence or bool(_NAMED_FIGURE.search(line))
