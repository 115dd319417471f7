"""Which worker a part of a request is for, and who comes before whom, by cards and examples."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property

from nodes.models.embedded.routing import extract_stems, weigh_words
from nodes.schemas.team import Example, Team
from nodes.text.meaning import measure_meaning
from state import Task

MIN_MEANING = 0.3
"""Of the meanings of a part and a text of the worker that takes it: few foreign parts reach it."""
Workers = tuple[str, ...]


class WorkerFit:
    """Compares parts of requests with what the workers of a team are for.

    A worker's own words are those of its name, its card, its tools and the requests that it took
    alone; the tasks that examples give it count by their meaning.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._texts = {worker.name: self._collect_texts(worker.name) for worker in team.roster}
        self._stems = {name: extract_stems(" ".join(own)) for name, own in self._texts.items()}
        self._weights = weigh_words(self._stems)
        self._memory: dict[str, list[tuple[float, str]]] = {}

    def has_worker(self, part: str) -> bool:
        """Return whether a worker of the team is for these words."""
        return bool(self.rank_workers(part))

    def rank_workers(self, part: str) -> list[str]:
        """Return the workers that a part is near to, the nearest first."""
        return [name for _, name in self.score_workers(part)]

    def score_workers(self, part: str) -> list[tuple[float, str]]:
        """Return the workers that a part is near to, each after its score, the nearest first."""
        if part not in self._memory:
            wanted = extract_stems(part)
            whole = sum(self._weights.get(word, 0.0) for word in wanted) or 1.0
            scores = []
            for name, stems in self._stems.items():
                shared = sum(self._weights[word] for word in wanted & stems) / whole
                meaning = max(measure_meaning(part, self._texts[name]))
                if shared or meaning >= MIN_MEANING:
                    scores.append((shared + meaning, name))
            self._memory[part] = sorted(scores, key=lambda pair: -pair[0])
        return self._memory[part]

    def find_example(self, request: str, *, is_loose: bool = False) -> Example | None:
        """Return the nearest example, if it has half of the words of a request.

        Args:
            is_loose: it need not have so many.
        """
        examples = self._team.examples
        wanted = extract_stems(request)
        known = [extract_stems(each.request) for each in examples]
        meanings = measure_meaning(request, [each.request for each in examples])
        shares = [len(wanted & held) / (len(wanted | held) or 1) for held in known]
        best = max(range(len(examples)), key=lambda n: shares[n] + meanings[n], default=-1)
        is_near = best >= 0 and (is_loose or 2 * len(wanted & known[best]) >= len(wanted) > 0)
        return examples[best] if is_near else None

    def works_apart(self, name: str) -> bool:
        """Return whether an example has several tasks for a worker."""
        return any(
            sum(task.worker == name for task in each.plan.tasks) > 1 for each in self._team.examples
        )

    @cached_property
    def first_workers(self) -> list[str]:
        """The workers that begin in examples, the most frequent first; without any, all."""
        names = [worker.name for worker in self._team.roster]
        begun = Counter(task.worker for task in self._tasks if not task.depends_on)
        return [name for name, _ in begun.most_common() if name in names] or names

    @cached_property
    def _tasks(self) -> list[Task]:
        return [task for example in self._team.examples for task in example.plan.tasks]

    def list_before(self, name: str) -> dict[str, bool]:
        """Return whom a worker's tasks wait for in examples or by its needs, and who is required.

        Required are its needs, and whoever is in each example of it.
        """
        worker = self._team.find_worker(name)
        shown = [each for each in self._team.examples if name in list_workers(each)]
        counts = Counter(before for each in shown for before in _list_before(each, name))
        alone = any(not _list_before(each, name) for each in shown)
        required = {} if alone else {n: counts[n] == len(shown) for n in counts}
        return {**dict.fromkeys(counts, False), **required, **dict.fromkeys(worker.needs, True)}

    def list_followers(self, chosen: Collection[str]) -> list[str]:
        """Return who follows several chosen workers in most examples that have all of them.

        In all examples its tasks wait for those of others.
        """
        shown = [each for each in self._team.examples if {*chosen} <= {*list_workers(each)}]
        return [
            worker.name
            for worker in self._team.roster
            if len(chosen) > 1
            and worker.tools
            and all(task.depends_on for task in self._tasks if task.worker == worker.name)
            and 2 * sum(bool(_list_before(each, worker.name)) for each in shown) > len(shown)
        ]

    def _collect_texts(self, name: str) -> list[str]:
        worker = self._team.find_worker(name)
        card = f"{name} {worker.description} {' '.join(worker.tools)}".replace("_", " ")
        alone = [e.request for e in self._team.examples if list_workers(e) == (name,)]
        return [card, *alone]


def list_workers(example: Example) -> Workers:
    return tuple(dict.fromkeys(task.worker for task in example.plan.tasks))


def _list_before(example: Example, name: str) -> set[str]:
    owners = {task.id: task.worker for task in example.plan.tasks}
    tasks: Sequence[Task] = [task for task in example.plan.tasks if task.worker == name]
    return {owners[edge.task] for task in tasks for edge in task.depends_on} - {name}
