"""Warns of teams in which a planner or a model must choose among too much, or knows too little."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from nodes.schemas.team import Team, Worker
from nodes.text.terms import extract_terms, extract_words, is_generic, measure_overlap

MAX_WORKERS: Final = 7
"""From here on supervision is fragile; larger teams are divided into teams of teams."""
MAX_TOOLS: Final = 15
"""Of one worker; with more, models choose wrong ones."""
MAX_OVERLAP: Final = 0.5
"""Of the words of the shorter of two descriptions: beyond it they share most of them."""
MIN_SPECIFIC_WORDS: Final = 5
"""Of instructions: different words that do not fit any task and that the description lacks."""


def list_shape_warnings(team: Team) -> list[str]:
    """Return a warning for each thing that makes a choice in a team, or within it, unreliable."""
    return list(_find_warnings(team))


def _find_warnings(team: Team) -> Iterator[str]:
    if len(team.workers) > MAX_WORKERS:
        yield (
            f"{len(team.workers)} workers, more than {MAX_WORKERS}: a planner confuses them; "
            "make teams of them, and workers of these teams"
        )
    for left, right in combinations(team.workers, 2):
        words = extract_terms(left.description), extract_terms(right.description)
        if measure_overlap(*words) > MAX_OVERLAP:
            shared = f"{len(words[0] & words[1])} of {min(map(len, words))} words"
            yield (
                f"the descriptions of {left.name} and {right.name} overlap ({shared}): "
                "say what only one of them does, or make one worker of both"
            )
    for worker in team.workers:
        if worker.team is not None:
            yield from (f"{worker.name}: {text}" for text in _find_warnings(worker.team))
        elif worker.remote is None:
            yield from _find_worker_warnings(worker)


def _find_worker_warnings(worker: Worker) -> Iterator[str]:
    if len(worker.tools) > MAX_TOOLS:
        yield (
            f"worker {worker.name} has {len(worker.tools)} tools, more than {MAX_TOOLS}: "
            "divide them between two workers"
        )
    known = extract_terms(worker.description)
    specific = {
        word
        for word in extract_words(worker.instructions)
        if not is_generic(word) and extract_terms(word).isdisjoint(known)
    }
    if len(specific) < MIN_SPECIFIC_WORDS:
        yield (
            f"the instructions of worker {worker.name} add little to its description: say what it "
            "works on, how, and what its result holds"
        )
