"""Order topics by their prerequisites: sequence, levels, and the longest chain."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import networkx as nx  # type: ignore[import-untyped]

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
    """Order topics; those that may come at the same time keep the order of the list.

    Raises:
        ToolRefused: they depend on each other in a cycle, which is named.
    """
    topics, repeated = _merge_repeated(given)
    graph, assumed = _build_graph(topics)
    _reject_cycle(graph, topics)
    place = {key: index for index, key in enumerate(topics)}
    order = nx.lexicographical_topological_sort(graph, key=place.__getitem__)
    generations = enumerate(nx.topological_generations(graph), start=1)
    return TopicSequence(
        topics=tuple(topics[key] for key in order),
        levels={topics[key].name: level for level, keys in generations for key in keys},
        longest_chain=tuple(topics[key].name for key in nx.dag_longest_path(graph)),
        unlisted_prerequisites=assumed,
        repeated_topics=repeated,
    )


def _merge_repeated(given: Iterable[Topic]) -> tuple[dict[str, Topic], tuple[str, ...]]:
    """Merge topics that are listed twice, ignoring case."""
    topics: dict[str, Topic] = {}
    repeated: dict[str, None] = {}
    for topic in given:
        known = topics.get(topic.name.casefold())
        if known:
            repeated[known.name] = None
            needs = tuple(dict.fromkeys(known.prerequisites + topic.prerequisites))
            topic = replace(known, prerequisites=needs, hours=known.hours or topic.hours)
        topics[topic.name.casefold()] = topic
    return topics, tuple(repeated)


def _build_graph(topics: Mapping[str, Topic]) -> tuple["nx.DiGraph", dict[str, str]]:
    """Build the graph of prerequisites; return the prerequisites that are not listed."""
    graph, assumed = nx.DiGraph(), dict[str, str]()
    graph.add_nodes_from(topics)
    for key, topic in topics.items():
        known = [need.casefold() for need in topic.prerequisites if need.casefold() in topics]
        graph.add_edges_from((need, key) for need in known)
        for need in topic.prerequisites:
            if need.casefold() not in known and need not in assumed:
                near = get_close_matches(need.casefold(), topics, 1)
                assumed[need] = topics[near[0]].name if near else ""
    return graph, assumed


def _reject_cycle(graph: "nx.DiGraph", topics: Mapping[str, Topic]) -> None:
    try:
        edges: Sequence[tuple[str, str]] = nx.find_cycle(graph)
    except nx.NetworkXNoCycle:
        return
    names = [topics[before].name for before, _ in edges]
    shown = [*names[:MAX_NAMED_IN_CYCLE], "…"] if len(names) > MAX_NAMED_IN_CYCLE else names
    raise ToolRefused(
        f"the prerequisites go in a circle: {' → '.join([*shown, names[0]])}, each "
        "needed by the next; no order is possible until one prerequisite is taken out"
    )
