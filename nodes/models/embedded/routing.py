"""Routes a request to the worker whose card and examples are nearest, by rare words and meaning."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from nodes.limits.patterns import Pattern
from nodes.schemas.beside import PlanningValues
from nodes.schemas.team import Example, Team
from nodes.text.meaning import measure_meaning
from nodes.text.similarity import extract_words
from nodes.text.word_lists import FUNCTION_WORDS

_FILE_TYPE = Pattern(r"\.(\w+)$", re.MULTILINE)
_PART_BREAK = Pattern(r"\b(?:and|then)\b|[,;.?!] ", re.IGNORECASE)
"""What is between two parts of a request."""
_IGNORED_WORDS = FUNCTION_WORDS | frozenset(extract_words(" ".join(FUNCTION_WORDS)))
"""Also in the form left when taken for a plural: "doe" for "does"."""
T = TypeVar("T")
WorkerChoice = tuple[str, ...]
"""One worker, or a first and a second."""
PLANNED: WorkerChoice = ()
"""Of requests that need a plan."""
STEM_CHARS = 6
"""Words are cut to this length, so that "dismissed" and "dismissal" are one."""
MIN_ENDING_CHARS = 6
"""Of a word that may lose "ed" or "ing", so that "burned" and "burn" are one."""
WORDS_SHARE = 0.3
"""Weight of the words beside the meaning, which counts 1."""
MAX_NEAREST = 3
"""Number of a worker's texts whose meaning counts, the nearest ones."""
MIN_MEANING = 0.12
"""Of the nearest texts of a worker that shares no word with a request."""
MIN_OWN_WORDS = 2
MIN_SHARE_OF_FIRST = 0.4
"""A second worker needs this many words that the first does not know, with this weight."""


def write_decision(values: PlanningValues) -> dict[str, Any]:
    """Return one worker, or two if an example has two or part of the request fits another.

    The file types of materials, such as `py`, count as words of the request. A team that steps
    ends after one step.
    """
    if values.given:
        return {
            "is_done": True,
            "reason": "A worker has reported, and this model plans only one step.",
        }
    texts = _collect_texts(values.team)
    known = {takers: extract_stems(" ".join(held)) for takers, held in texts.items()}
    weights = weigh_words(known)
    wanted = extract_stems(f"{values.request} {_list_file_types(values.materials)}")
    scores = {takers: _sum_weights(wanted & known[takers], weights) for takers in known}
    best = _choose_first(values.request, texts, scores)
    readers = [each.name for each in values.team.roster if "search_documents" in each.tools]
    has_tools = bool(best) and bool(values.team.find_worker(best[0]).tools)
    if values.materials and readers and not has_tools:
        best = (readers[0],)  # without a tool nothing is read
    task = values.request
    if not best:
        return {"worker": "", "task": task, "reason": "No worker's card is similar."}
    if values.team.plan_when_needed and _needs_plan(values, wanted, known):
        return {
            "worker": best[0],
            "needs_plan": True,
            "reason": "Its words are those of several workers, and of requests that were planned.",
        }
    secondary = "".join(best[1:])
    if not secondary and any(takers[1:] for takers in texts):
        secondary = _choose_secondary(best[0], wanted, known, weights)
    return {
        "worker": best[0],
        "secondary": secondary,
        "task": task,
        "reason": "Its card and examples are nearest to the request.",
    }


def _choose_first(
    request: str, texts: Mapping[WorkerChoice, list[str]], scores: Mapping[WorkerChoice, float]
) -> WorkerChoice:
    """Return the best by words if its first worker is also the best by meaning, else that one.

    Empty if no worker is near.
    """
    by_words = max(scores, key=lambda takers: scores[takers], default=())
    highest = scores.get(by_words, 0.0)
    firsts = list(dict.fromkeys(takers[0] for takers in texts))
    meanings = {name: _measure_worker(request, name, texts) for name in firsts}
    words = {
        name: max(scores[takers] for takers in texts if takers[0] == name) / (highest or 1.0)
        for name in firsts
    }
    best = max(
        firsts,
        key=lambda name: (WORDS_SHARE * words[name] + meanings[name], name == by_words[0]),
        default="",
    )
    if not best or (not highest and meanings[best] < MIN_MEANING):
        return ()
    return by_words if by_words[0] == best else (best,)


def _measure_worker(request: str, name: str, texts: Mapping[WorkerChoice, list[str]]) -> float:
    """Return the mean similarity in meaning of a worker's nearest texts."""
    own = [text for takers, held in texts.items() if takers[0] == name for text in held]
    nearest = sorted(measure_meaning(request, own))[-MAX_NEAREST:]
    return sum(nearest) / len(nearest)


def _collect_texts(team: Team) -> dict[WorkerChoice, list[str]]:
    """Return the texts of each worker and each pair: name with card, and the requests they took."""
    texts: dict[WorkerChoice, list[str]] = {
        (worker.name,): [f"{worker.name} {worker.description}"] for worker in team.roster
    }
    for example in team.examples:
        takers = tuple(dict.fromkeys(task.worker for task in example.plan.tasks))[:2]
        if not _is_planned(example, team) and all((name,) in texts for name in takers):
            texts.setdefault(takers, []).append(example.request)
    return texts


def _is_planned(example: Example, team: Team) -> bool:
    return team.plan_when_needed and any(task.depends_on for task in example.plan.tasks)


def weigh_words(known: Mapping[T, set[str]]) -> dict[str, float]:
    """Return a weight for each word: the fewer workers know it, the higher; 0 if all do."""
    counts = Counter(word for held in known.values() for word in held)
    return {word: math.log(len(known) / count) for word, count in counts.items()}


def _choose_secondary(
    first: str,
    wanted: set[str],
    known: Mapping[WorkerChoice, set[str]],
    weights: Mapping[str, float],
) -> str:
    firsts = known[(first,)]
    own = {takers[0]: wanted & held - firsts for takers, held in known.items() if not takers[1:]}
    second = max(own, key=lambda name: _sum_weights(own[name], weights))
    if len(own[second]) < MIN_OWN_WORDS:
        return ""
    needed = MIN_SHARE_OF_FIRST * _sum_weights(wanted & firsts - known[(second,)], weights)
    return second if _sum_weights(own[second], weights) >= needed else ""


def _needs_plan(
    values: PlanningValues, wanted: set[str], known: Mapping[WorkerChoice, set[str]]
) -> bool:
    """Return whether the examples that need a plan explain a request better than any choice.

    It must have several parts, and at least two workers must each know a word of it that no other
    worker knows.
    """
    if not _PART_BREAK.search(values.request):
        return False
    planned = [each.request for each in values.team.examples if _is_planned(each, values.team)]
    everything = {**known, PLANNED: extract_stems(" ".join(planned))}
    weights = weigh_words(everything)
    scores = {takers: _sum_weights(wanted & held, weights) for takers, held in everything.items()}
    if scores[PLANNED] <= max(scores[takers] for takers in known):
        return False
    cards = {takers: held for takers, held in known.items() if not takers[1:]}
    own = [
        takers
        for takers, held in cards.items()
        if wanted & held - {word for other in cards if other != takers for word in cards[other]}
    ]
    return len(own) > 1


def _list_file_types(materials: Iterable[str]) -> str:
    return " ".join(_FILE_TYPE.findall("\n".join(materials)))


def _sum_weights(held: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in held)


def extract_stems(text: str) -> set[str]:
    """Return the content words of a text, cut so that forms of one word are one."""
    found = extract_words(text.replace("_", " "))
    return {_stem_word(word) for word in found if word not in _IGNORED_WORDS and len(word) > 1}


def _stem_word(word: str) -> str:
    if len(word) >= MIN_ENDING_CHARS:
        word = word.removesuffix("ed").removesuffix("ing")
    return word[:STEM_CHARS]
