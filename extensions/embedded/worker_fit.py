"""Which workers a text is for, by words and meaning, and who works before whom."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import fsum, log

from nodes.limits.patterns import Pattern
from nodes.schemas.team import Example, Team
from nodes.text.similarity import extract_stems, measure_meaning

_EXCLUSION = Pattern(r"(?i)\b(?:except|excluding|without|skip|drop|leave out|no|not|ohne)\b")
"""Words after which a text names what it does not want."""
WORDS_SHARE = 1.0
"""Weight of the shared words beside the meaning, which counts 1."""
MAX_NEAREST = 3
"""Number of a worker's texts whose meaning counts, the nearest ones."""
MIN_MEANING = 0.2
"""Of the nearest texts of a worker that shares no word with a part of a request."""
MIN_MEANING_OF_WHOLE = 0.12
"""The same of a whole request, which goes to a worker if it can."""


class WorkerFit:
    """Scores the workers of a team for a request, or a part of one.

    A worker's texts are its name, card and tools, and the requests of examples that it took alone.
    What counts are rare words that they share with the request, and the meaning of the nearest.
    """

    def __init__(self, team: Team, min_meaning: float = MIN_MEANING) -> None:
        self.team, self._min_meaning = team, min_meaning
        self._texts = {worker.name: self._collect_texts(worker.name) for worker in team.roster}
        self._stems = {name: extract_stems(" ".join(own)) for name, own in self._texts.items()}
        counts = Counter(word for stems in self._stems.values() for word in stems)
        self._weights = {word: log(len(self._stems) / n) for word, n in counts.items()}
        self._scores: dict[tuple[str, str], dict[str, float]] = {}

    def rank_workers(self, text: str) -> list[str]:
        """Return the workers that a text is near to, the nearest first."""
        return list(self.score_workers(text))

    def score_workers(self, text: str, words: str = "") -> dict[str, float]:
        """Return the score of each worker that a text, with more words, is near to, best first."""
        if (text, words) not in self._scores:
            wanted = extract_stems(f"{text} {words}")
            scores = {name: self._score(text, wanted, name) for name in self._texts}
            near = sorted(filter(scores.get, scores), key=lambda name: -scores[name])
            self._scores[text, words] = {name: scores[name] for name in near}
        return self._scores[text, words]

    def find_example(self, text: str, *, is_like: bool = False) -> Example | None:
        """Return the nearest example, if it has half of the words of a text.

        Args:
            is_like: the text must have half of its words too.
        """
        examples, wanted = self.team.examples, extract_stems(text)
        held = [extract_stems(each.request) for each in examples]
        meanings = measure_meaning(text, [each.request for each in examples])
        scores = [
            len(wanted & known) / (len(wanted | known) or 1) + meaning
            for known, meaning in zip(held, meanings, strict=True)
        ]
        best = max(range(len(examples)), key=scores.__getitem__, default=-1)
        if best < 0 or not wanted:
            return None
        needed = max(len(wanted), len(held[best]) if is_like else 0)
        return examples[best] if 2 * len(wanted & held[best]) >= needed else None

    def _score(self, text: str, wanted: set[str], name: str) -> float:
        """Return how near a text and its words are to a worker; 0 if they are not."""
        total = fsum(map(self._weigh, wanted)) or 1.0
        shared = fsum(map(self._weigh, wanted & self._stems[name])) / total
        nearest = sorted(measure_meaning(text, self._texts[name]))[-MAX_NEAREST:]
        meaning = sum(nearest) / len(nearest)
        return WORDS_SHARE * shared + meaning if shared or meaning >= self._min_meaning else 0.0

    def _weigh(self, word: str) -> float:
        return self._weights.get(word, log(len(self._stems)))

    def _collect_texts(self, name: str) -> list[str]:
        worker = self.team.find_worker(name)
        card = f"{worker.card} {' '.join(worker.tools)}".replace("_", " ")
        return [card, *(e.request for e in self.team.examples if list_workers(e) == (name,))]


def list_workers(example: Example) -> tuple[str, ...]:
    """Return the workers of an example's plan."""
    return tuple(dict.fromkeys(task.worker for task in example.plan.tasks))


def drop_exclusion(text: str) -> str:
    """Return a text up to where it names what it does not want."""
    return _EXCLUSION.split(text)[0]


class ShownOrder:
    """Reads the order of work from a team."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.tasks = [task for example in team.examples for task in example.plan.tasks]

    @cached_property
    def first_workers(self) -> list[str]:
        """The workers that begin in examples, the most frequent first; without any, all."""
        begun = Counter(task.worker for task in self.tasks if not task.depends_on)
        return [name for name, _ in begun.most_common()] or [w.name for w in self.team.roster]

    def waits(self, name: str) -> bool:
        """Return whether a worker works on results of others."""
        return any(self.list_before(name).values())

    def list_before(self, name: str) -> dict[str, bool]:
        """Return whom a worker's tasks wait for in examples or by its needs, and who is required.

        Required are its needs, and whoever is in each example of it.
        """
        shown = [_list_before(each, name) for each in self._list_shown({name})]
        counts = Counter(before for each in shown for before in each)
        needs = dict.fromkeys(self.team.find_worker(name).needs, True)
        return {n: counts[n] == len(shown) for n, _ in counts.most_common()} | needs

    def add_others(
        self, subjects: dict[str, list[str]], request: str, nearest: Sequence[str]
    ) -> dict[str, list[str]]:
        """Return the workers with their parts, and who must come before or follows most often.

        Another comes before a worker that never begins: the nearest to the request, else the most
        frequent. A follower never begins, and has a tool.
        """
        every = dict(subjects)
        pending = list(subjects)
        while pending:
            name = pending.pop()
            before = self.list_before(name)
            new = [each for each in before if before[each] and each not in every]
            if name not in self.first_workers and before.keys().isdisjoint({*every, *new}):
                new = [*(each for each in nearest if each in before), *before][:1]
            every |= {each: list(every[name]) for each in new}
            pending += new
        shown = self._list_shown({*every})
        for worker in self.team.roster if len(every) > 1 else ():
            follows = sum(bool(_list_before(each, worker.name)) for each in shown)
            if worker.tools and worker.name not in self.first_workers and 2 * follows > len(shown):
                every.setdefault(worker.name, [request])
        return every

    def _list_shown(self, names: set[str]) -> list[Example]:
        """Return the examples that have all of these workers."""
        return [each for each in self.team.examples if names <= {*list_workers(each)}]


def _list_before(example: Example, name: str) -> list[str]:
    """Return whom a worker waits for in an example, each once, in the order of the plan."""
    owners = {task.id: task.worker for task in example.plan.tasks}
    tasks = [task for task in example.plan.tasks if task.worker == name]
    before = dict.fromkeys(owners[edge.task] for task in tasks for edge in task.depends_on)
    return [each for each in before if each != name]
