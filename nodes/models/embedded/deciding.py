"""Decide who takes a request: whose card and examples hold most of its telling words."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from nodes.checks.words import FUNCTION
from nodes.limits.patterns import Pattern
from nodes.models.embedded.planning import Asked, read_asked
from nodes.models.embedded.reading import said, section
from nodes.models.embedded.words import words

_KIND = Pattern(r"\.(\w+)$", re.MULTILINE)
_IDLE = FUNCTION | frozenset(words(" ".join(FUNCTION)))
"""Also as they stand once they are taken for plurals: "doe" for "does"."""
Takers = tuple[str, ...]
"""One worker, or a first and a second."""
STEM_CHARS = 6
"""Words are cut to this length, so that "dismissed" and "dismissal" are one."""
MIN_ENDING_CHARS = 6
"""Of a word that may lose "ed" or "ing", so that "burned" and "burn" are one."""
MIN_OWN_WORDS = 2
MIN_OF_FIRST = 0.4
"""A second worker needs so many words that the first knows nothing of, and of such weight."""


def decision(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Choose a worker, or two where examples show two or part of the request is plainly another's.

    The kinds of the materials, such as `py`, are words of the request. One step is enough.
    """
    if any(section(text, "results") for text in said(messages, HumanMessage)):
        return {"is_done": True, "reason": "A worker has reported, and this model asks no more."}
    asked = read_asked(messages)
    known = _known(asked)
    weights = _telling(known)
    wanted = _stems(f"{asked.request} {_kinds(messages)}")
    scores = {takers: _weight(wanted & known[takers], weights) for takers in known}
    best = max(scores, key=lambda takers: scores[takers], default=())
    if not best or not scores[best]:
        return {"worker": "", "task": asked.request, "reason": "No card is near."}
    secondary = "".join(best[1:])
    if not secondary and any(decided.get("secondary") for _, decided in asked.examples):
        secondary = _second(best[0], wanted, known, weights)
    return {
        "worker": best[0],
        "secondary": secondary,
        "task": asked.request,
        "reason": "Its card and examples share most words with the request.",
    }


def _known(asked: Asked) -> dict[Takers, set[str]]:
    """Give the words of each worker and each pair: name, card, and the requests they took."""
    known: dict[Takers, set[str]] = {
        (name,): _stems(f"{name} {card}") for name, card in asked.cards.items()
    }
    for request, decided in asked.examples:
        takers = tuple(filter(None, (decided.get("worker"), decided.get("secondary"))))
        if takers and all(name in asked.cards for name in takers):
            known.setdefault(takers, set()).update(_stems(request))
    return known


def _telling(known: Mapping[Takers, set[str]]) -> dict[str, float]:
    """Weigh each word by how few know it; one that all know tells nothing."""
    counts = Counter(word for held in known.values() for word in held)
    return {word: math.log(len(known) / count) for word, count in counts.items()}


def _second(
    first: str, wanted: set[str], known: Mapping[Takers, set[str]], weights: Mapping[str, float]
) -> str:
    firsts = known[(first,)]
    own = {takers[0]: wanted & held - firsts for takers, held in known.items() if not takers[1:]}
    second = max(own, key=lambda name: _weight(own[name], weights))
    if len(own[second]) < MIN_OWN_WORDS:
        return ""
    needed = MIN_OF_FIRST * _weight(wanted & firsts - known[(second,)], weights)
    return second if _weight(own[second], weights) >= needed else ""


def _kinds(messages: Sequence[BaseMessage]) -> str:
    names = "\n".join(section(text, "materials") for text in said(messages, HumanMessage))
    return " ".join(_KIND.findall(names))


def _weight(held: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[word] for word in held)


def _stems(text: str) -> set[str]:
    found = words(text.replace("_", " "))
    return {_stem(word) for word in found if word not in _IDLE and len(word) > 1}


def _stem(word: str) -> str:
    if len(word) >= MIN_ENDING_CHARS:
        word = word.removesuffix("ed").removesuffix("ing")
    return word[:STEM_CHARS]
