"""Decide who takes a request: whose card and examples hold most of its telling words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from nodes.checks.words import FUNCTION
from nodes.models.embedded.planning import Asked, read_asked
from nodes.models.embedded.reading import said, section
from nodes.models.embedded.words import words

STEM_CHARS = 6
"""Words are cut to this length, so that "dismissed" and "dismissal" are one."""
MIN_ENDING_CHARS = 6
"""Of a word that may lose "ed" or "ing", so that "burned" and "burn" are one."""
MIN_OWN_WORDS = 2
MIN_OF_FIRST = 0.4
"""A second worker needs so many words that the first knows nothing of, and of such weight."""


def decision(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Choose a worker, and a second one where part of the request is plainly its; one step only."""
    if any(section(text, "results") for text in said(messages, HumanMessage)):
        return {"is_done": True, "reason": "A worker has reported, and this model asks no more."}
    asked = read_asked(messages)
    known = _known(asked)
    weights = _telling(known)
    wanted = _stems(asked.request)
    scores = {name: _weight(wanted & known[name], weights) for name in known}
    first = max(scores, key=lambda name: scores[name], default="")
    if not scores.get(first):
        return {"worker": "", "task": asked.request, "reason": "No card is near."}
    return {
        "worker": first,
        "secondary": _second(first, wanted, known, weights),
        "task": asked.request,
        "reason": "Its card and examples share most words with the request.",
    }


def _known(asked: Asked) -> dict[str, set[str]]:
    """Give the words of each worker: its name, its card, and the requests that are its alone."""
    known = {name: _stems(f"{name} {card}") for name, card in asked.cards.items()}
    for request, decided in asked.examples:
        if decided.get("worker") in known and not decided.get("secondary"):
            known[decided["worker"]] |= _stems(request)
    return known


def _telling(known: Mapping[str, set[str]]) -> dict[str, float]:
    """Weigh each word by how few workers know it; one that all know tells nothing."""
    counts = Counter(word for held in known.values() for word in held)
    return {word: math.log(len(known) / count) for word, count in counts.items()}


def _second(
    first: str, wanted: set[str], known: Mapping[str, set[str]], weights: Mapping[str, float]
) -> str:
    own = {name: wanted & known[name] - known[first] for name in known if name != first}
    second = max(own, key=lambda name: _weight(own[name], weights), default="")
    if len(own.get(second, ())) < MIN_OWN_WORDS:
        return ""
    firsts = _weight(wanted & known[first] - known[second], weights)
    return second if _weight(own[second], weights) >= MIN_OF_FIRST * firsts else ""


def _weight(held: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in held)


def _stems(text: str) -> set[str]:
    found = words(text.replace("_", " "))
    return {_stem(word) for word in found if word not in FUNCTION and len(word) > 1}


def _stem(word: str) -> str:
    if len(word) >= MIN_ENDING_CHARS:
        word = word.removesuffix("ed").removesuffix("ing")
    return word[:STEM_CHARS]
