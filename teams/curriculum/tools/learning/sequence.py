"""Order topics by their prerequisites: sequence, levels, and the longest chain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

from nodes.errors import ToolRefused

from .topics import Topic

MAX_NAMED_IN_CYCLE = 12


@dataclass(frozen=True)
class TopicSequence:
    """Topics in an order in which each comes after its prerequisites."""

    topics: tuple[Topic, ...]
    levels: Mapping[str, int]
    """From 1: topics without prerequisites; then one more than the highest prerequisite."""
    longest_chain: tuple[str, ...]
    """The longest chain of topics in which each is a prerequisite of the next."""
    unlisted_prerequisites: Mapping[str, str]
    """Prerequisites that are not listed, with the listed topic that may be meant."""
    repeated_topics: tuple[str, ...]


def order_topics(given: Iterable[Topic]) -> TopicSequence:
    """Order topics; each comes as early as its place in the list and its prerequisites allow.

    Raises:
        ToolRefused: they depend on each other in a cycle, which is named.
    """
    topics, repeated = _merge_repeated(given)
    needs = {
        key: [need.casefold() for need in topic.prerequisites if need.casefold() in topics]
        for key, topic in topics.items()
    }
    _reject_cycle(needs, topics)
    chains: dict[str, tuple[str, ...]] = {}
    while left := [key for key in topics if key not in chains]:
        key = next(key for key in left if all(need in chains for need in needs[key]))
        before = max((chains[need] for need in needs[key]), key=len, default=())
        chains[key] = (*before, topics[key].name)
    return TopicSequence(
        topics=tuple(topics[key] for key in chains),
        levels={topics[key].name: len(chain) for key, chain in chains.items()},
        longest_chain=max(chains.values(), key=len, default=()),
        unlisted_prerequisites=_find_unlisted(topics),
        repeated_topics=repeated,
    )


def _merge_repeated(given: Iterable[Topic]) -> tuple[dict[str, Topic], tuple[str, ...]]:
    """Merge topics that are listed twice, ignoring case."""
    topics: dict[str, Topic] = {}
    repeated: dict[str, None] = {}
    for topic in given:
        if known := topics.get(topic.name.casefold()):
            repeated[known.name] = None
            needs = tuple(dict.fromkeys(known.prerequisites + topic.prerequisites))
            topic = replace(known, prerequisites=needs, hours=known.hours or topic.hours)
        topics[topic.name.casefold()] = topic
    return topics, tuple(repeated)


def _reject_cycle(needs: Mapping[str, list[str]], topics: Mapping[str, Topic]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        names = [topics[key].name for key in error.args[1]]
        raise ToolRefused(
            f"the prerequisites go in a circle: {' → '.join(names[:MAX_NAMED_IN_CYCLE])}, each "
            "needed by the next; no order is possible until one prerequisite is taken out"
        ) from None


def _find_unlisted(topics: Mapping[str, Topic]) -> dict[str, str]:
    """Return the prerequisites that are not listed, with the listed topic that may be meant."""
    found: dict[str, str] = {}
    for need in (need for topic in topics.values() for need in topic.prerequisites):
        if need.casefold() not in topics and need not in found:
            near = get_close_matches(need.casefold(), topics, 1)
            found[need] = topics[near[0]].name if near else ""
    return found
