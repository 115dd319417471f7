"""Parts of a request that no task of a plan covers, whoever made the plan."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from nodes.limits.patterns import Pattern
from nodes.schemas.team import Team
from nodes.text.phrases import detect_language
from nodes.text.request_parts import (
    MAX_FRAGMENT_WORDS,
    MAX_READ_CHARS,
    begins_with_verb,
    is_question,
    list_parts,
)
from nodes.text.similarity import pair_words
from nodes.text.word_lists import (
    EMPTY_WORDS,
    GERMAN_FUNCTION_WORDS,
    OPENINGS,
    ORDERS,
    POINTERS,
    POLITE_WORDS,
    RESULTS,
    SYNONYMS,
    fold_word,
)
from state import Plan, Task

MAX_UNCOVERED = 8
"""Of the parts that are named."""
MAX_PART_CHARS = 300
STEM_CHARS = 6
"""Words that begin alike in so many letters, or hold the other's beginning, are taken for one."""
MIN_STEM_CHARS = 4
"""Of a word that another one may hold, as a compound does."""
MIN_WORDS = 2
"""Of a request that none of its tasks shares a word with, to be sure that they miss it."""
MIN_SPAN_CHARS, MAX_SOUGHT_CHARS = 3, 200

_JOINT = Pattern(r"[-_/]")
_FILE = Pattern(r"\b[\w-]{1,80}\.[A-Za-z]{1,4}\b")
_EDGES = " \t\r\n.,;:!?…\"'“”„"
_FORM = Pattern(
    r"\b(?:(?:no|not) (?:more|longer) than|at most|at least|up to|under|within|in|on|as|höchstens|"
    r"maximal|mindestens|auf|als|mit|with|without|ohne) (?:[\w-]+ ){0,3}(?:pages?|words?|"
    r"sentences?|paragraphs?|lines?|sources?|bullets?|bullet points|tables?|"
    r"markdown|english|german|deutsch|englisch|headings?|numbers?|citations?|tone|"
    r"seiten?|w[oö]rter|worten|sätzen?|absätzen?|"
    r"quellen|tabelle|stichpunkten|überschriften|zeilen)\b",
    re.IGNORECASE,
)
"""How an answer is written, or how long it may be."""


@dataclass(frozen=True)
class _Part:
    """Words of the request that no span holds."""

    text: str
    words: frozenset[str]


def note_uncovered(plan: Plan, request: str, team: Team, *, waived: str = "") -> Plan:
    """Return a plan that names the parts of the request which none of its tasks covers.

    Args:
        waived: words of a human on what the plan should not have.
    """
    found = list_uncovered(plan, request, team, waived=waived)
    return plan.model_copy(update={"untaken": (*plan.untaken, *found)}) if found else plan


def list_uncovered(plan: Plan, request: str, team: Team, *, waived: str = "") -> list[str]:
    """Return the parts of a request, in its words, that no task covers; none where in doubt.

    What the tasks quote is covered. Of the rest, a part is not covered if none of its words is in
    as many tasks as parts have it. Without quotations a task that shares no word with any part may
    be for one in other words. Where the tasks could be about anything, or are in another language
    than the request, all is covered.
    """
    request = _cut_at_break(request)
    spans = [span for task in plan.tasks for span in task.covers]
    covered = _mark_spans(request, [*spans, *plan.untaken])
    parts = list(_list_open_parts(request, covered, _rank_by_words(team)))
    if not parts or not _can_compare(plan, request):
        return []
    tasks = [_collect_words(task, parts, team) for task in plan.tasks]
    closing = _fold_words(f"{plan.final_instruction} {waived}")
    found = [part for part in parts if not _is_known(part, parts, [*tasks, closing])]
    if not spans and len(found) == len(parts) and _may_be_in_other_words(parts, len(tasks)):
        return []
    if not spans and len(found) < len(parts):
        others = [part for part in parts if part not in found]
        found = found[sum(not _share_word(others, task) for task in tasks) :]
    return [part.text[:MAX_PART_CHARS] for part in found[:MAX_UNCOVERED]]


def _may_be_in_other_words(parts: Sequence[_Part], tasks: int) -> bool:
    """Return whether tasks without a word of the request may be its steps, or a case of it."""
    return tasks >= max(2, len(parts)) or sum(len(part.words) for part in parts) < MIN_WORDS


def format_uncovered(parts: Iterable[str]) -> list[str]:
    """Return the problem of each part, for the author of the plan."""
    return [f'no task covers this part of the request: "{part}"' for part in parts]


def _cut_at_break(request: str) -> str:
    """Return what is read of a request, up to the end of a clause."""
    if len(request) <= MAX_READ_CHARS:
        return request
    read = request[:MAX_READ_CHARS]
    return read[: max(map(read.rfind, ".,;!?\n")) + 1] or read


def _mark_spans(request: str, spans: Iterable[str]) -> list[bool]:
    """Return for each character of a request whether a span holds it; spaces and case may differ.

    A span that goes beyond what is read of the request is found by its beginning.
    """
    marked = [False] * len(request)
    text, places = _squeeze(request)
    for span in dict.fromkeys(spans):
        words, _ = _squeeze(span[: 2 * MAX_READ_CHARS].strip(_EDGES))
        wanted = words[:MAX_SOUGHT_CHARS]
        start = text.find(wanted) if len(wanted) >= MIN_SPAN_CHARS else -1
        while start >= 0:
            end = min(start + len(words), len(text))
            if words.startswith(text[start:end]):
                first = places[start]
                last = _end_at_word(request, first, places[end - 1] + 1)
                marked[first:last] = [True] * (last - first)
            start = text.find(wanted, end)
    return marked


def _end_at_word(text: str, first: int, last: int) -> int:
    """Return where a span ends without the part of a word at its end: "rents a" of "rents and"."""
    end = last
    while end > first and text[end - 1 : end + 1].isalnum() and len(text) > end:
        end -= 1
    return end if end > first else last


def _squeeze(text: str) -> tuple[str, list[int]]:
    """Return a text in lower case and without spaces, and where each character was."""
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    return "".join(text[place].lower()[:1] for place in places), places


def _list_open_parts(
    request: str, covered: Sequence[bool], rank_workers: Callable[[str], Sequence[str]]
) -> Iterator[_Part]:
    """Yield what is asked outside the spans: of a part that a span begins, what names something."""
    end = 0
    listed = list_parts(request, rank_workers, is_fine=True)
    has_context = not all(map(_is_stated, listed))
    for part in listed:
        start = max(end, request.find(part, end))
        end = start + len(part)
        is_whole = not any(covered[start:end])
        if has_context and _is_stated(part):
            continue
        for text in _list_open_runs(request, covered, start, end):
            is_lead = not is_whole and request.startswith(text, start) and "," not in text
            if not is_lead and (words := _extract_asked(text)):
                yield _Part(text.strip(" ,;:."), frozenset(map(fold_word, words)))


def _is_stated(part: str) -> bool:
    """Return whether a part is a sentence that asks for nothing: beside an order, its context."""
    words = part.split()
    while words and words[0].lower().strip(" ,.!") in OPENINGS:
        words = words[1:]
    text = " ".join(words)
    is_sentence = part[:1].isupper() and len(words) > MAX_FRAGMENT_WORDS
    return is_sentence and not (
        is_question(text) or begins_with_verb(text) or _is_order(words[0].lower())
    )


def _list_open_runs(request: str, covered: Sequence[bool], start: int, end: int) -> Iterator[str]:
    for is_covered, places in groupby(range(start, end), key=covered.__getitem__):
        run = [*places]
        if not is_covered and (text := request[run[0] : run[-1] + 1]).strip():
            yield text


def _extract_asked(text: str) -> frozenset[str]:
    """Return the words of what is asked; none of a greeting, a form, a limit or a file's name.

    The verb of an order is left out where the order names something.
    """
    plain = _FORM.sub(" ", _FILE.sub(" ", text))
    words = [word for word in _list_words(plain) if word not in POLITE_WORDS]
    objects = words[1:] if words and _is_order(words[0]) else words
    if RESULTS & {*words[:2]}:
        return frozenset()
    specific = frozenset(filter(_is_specific, objects))
    points_back = len(specific) == 1 and not POINTERS.isdisjoint(text.lower().split())
    return frozenset() if points_back else specific


def _is_order(word: str) -> bool:
    return begins_with_verb(word) or word in ORDERS


def _is_specific(word: str) -> bool:
    return word not in EMPTY_WORDS and not word.isdigit()


def _list_words(text: str) -> list[str]:
    plain = _JOINT.sub(" ", text)
    return [
        word
        for word, written in pair_words(plain)
        if len(word) > 1 and not {word, written.lower()} & GERMAN_FUNCTION_WORDS
    ]


def _can_compare(plan: Plan, request: str) -> bool:
    """Return whether the words of tasks can be compared with those of the request."""
    texts = _FILE.sub(" ", " ".join(task.description for task in plan.tasks))
    if not any(map(_is_specific, _list_words(texts))):
        return False
    return detect_language(request) == detect_language(texts)


def _collect_words(task: Task, parts: Sequence[_Part], team: Team) -> frozenset[str]:
    """Return the words of a task, with those of its worker if they alone say which part it has."""
    own_id = task.id if task.id != task.worker else ""
    words = _fold_words(" ".join([own_id, task.description, *task.covers]))
    if task.covers or _share_word(parts, words):
        return words
    cards = {worker.name: worker.card for worker in team.roster}
    card = _fold_words(cards.get(task.worker, task.worker))
    shared = [{word for word in part.words if _is_word_known(word, card)} for part in parts]
    return words | max(shared, key=len)


def _is_known(part: _Part, parts: Sequence[_Part], tasks: Sequence[frozenset[str]]) -> bool:
    """Return whether a word of a part is in as many tasks as parts have it."""
    return any(
        sum(_is_word_known(word, task) for task in tasks)
        >= sum(_is_word_known(word, each.words) for each in parts)
        for word in part.words
    )


def _share_word(parts: Iterable[_Part], task: frozenset[str]) -> bool:
    return any(_is_word_known(word, task) for part in parts for word in part.words)


def _fold_words(text: str) -> frozenset[str]:
    return frozenset(map(fold_word, _list_words(text)))


def _is_word_known(word: str, known: frozenset[str]) -> bool:
    if word in known or any(_are_alike(word, other) for other in known):
        return True
    return any(
        any(_are_alike(word, each) for each in group)
        and any(_are_alike(each, other) for each in group for other in known)
        for group in SYNONYMS
    )


def _are_alike(one: str, other: str) -> bool:
    """Return whether two words begin alike, or one holds the beginning of the other."""
    return _holds(one, other) or _holds(other, one)


def _holds(one: str, other: str) -> bool:
    if len(other) < MIN_STEM_CHARS:
        return one == other
    return other[:STEM_CHARS] in one if len(other) > MIN_STEM_CHARS else one.startswith(other)


def _rank_by_words(team: Team) -> Callable[[str], Sequence[str]]:
    """Return what names the workers whose cards share a word with a text that not all share."""
    cards = {w.name: {*_list_words(w.card)} for w in team.roster}
    shared = set.intersection(*cards.values()) if len(cards) > 1 else set()
    return lambda text: [n for n, words in cards.items() if {*_list_words(text)} & (words - shared)]
