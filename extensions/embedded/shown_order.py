"""Who comes before whom, by what workers need and by the plans of a team's examples."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from extensions.embedded.worker_fit import list_workers
from nodes.schemas.team import Example, Team


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
