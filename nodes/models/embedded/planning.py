"""Plans without a language model: an example's plan, or one task for each part of the request."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.models.embedded.replanning import (
    continue_plan,
    keep_named_workers,
    list_named_workers,
)
from nodes.models.embedded.request_parts import asks_for_result, is_question, list_parts
from nodes.models.embedded.worker_fit import WorkerFit, list_workers
from nodes.schemas.beside import PlanningValues, RecruitValues, RefinementValues
from nodes.schemas.team import Example
from nodes.text.csv_table import is_table_name
from nodes.text.similarity import extract_words, rank_examples

_NAMED = Pattern(
    r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|\b[\w-]{1,80}\.[A-Za-z]{1,4}\b|\d+(?:[.,]\d+)*"
    r"|(?<=[\w,;:]\s)[A-Z][\w-]*"
)
"""Code, quotations, file names, figures, and capitalised words inside a sentence."""
_SEPARATORS = Pattern(r"[\W_]+")
_CODE_CLAUSE = Pattern(r":?\s*`[^`]*`")
_COMPARING = Pattern(
    r"\b(?:compar\w*|versus|vs|differ\w*|vergleich\w*|against each other)\b", re.IGNORECASE
)
MAX_SUBJECT_CHARS = 10_000
MAX_QUOTED_CHARS = 1_000  # of a subject, in the description of its task
MAX_DATABASE_CHARS = 20_000
MAX_HEADER_CHARS = 2_000
MAX_READ_CHARS = 20_000
"""Of a document, to see what it names."""
TOOLS = {True: "analyze_table", False: "search_documents"}  # read any table, and any document
MAX_COMPARED = 6  # documents that get a task each


def write_plan(values: PlanningValues, refusals: int) -> dict[str, Any]:
    """Return a plan; after a refusal the next plainer one, at last one task."""
    planner = _RulePlanner(values)
    if values.revision and values.revision.is_rejection:
        draft = keep_named_workers(values.team, values.revision, planner.plan_parts())
        return draft or planner.plan_parts()
    if values.revision:
        takers = planner.fit.rank_workers(values.revision.reason)
        return continue_plan(values.revision, takers, planner.build_task)
    drafts = [*planner.adopt_example(), planner.plan_parts(), planner.plan_one_task()]
    return drafts[min(refusals, len(drafts) - 1)]


def write_recruit(values: RecruitValues) -> dict[str, Any]:
    """Return a specialist with the tools whose descriptions share words with the task, else all."""
    wanted = set(extract_words(values.description))
    near = [
        name
        for name, card in values.tools.items()
        if wanted & set(extract_words(f"{name.replace('_', ' ')} {card}"))
    ]
    return {
        "role": "specialist",
        "instructions": f"Do this and nothing else: {values.description[:3000]}",
        "tools": near or list(values.tools),
    }


def write_refinement(values: RefinementValues) -> dict[str, Any]:
    """Return the task widened: without its code, but with all words, as any may be the subject."""
    widened = _CODE_CLAUSE.sub("", values.description).strip() or values.description
    return {
        "description": f"{widened} If nothing is found, report what was searched.",
        "reason": f"The first attempt failed: {values.problem[:200]}",
    }


class _RulePlanner:
    """Plans one request."""

    def __init__(self, values: PlanningValues) -> None:
        self.values, self.fit = values, WorkerFit(values.team)
        self.request = values.request.strip()

    @cached_property
    def tables(self) -> dict[str, str]:
        """The tables that can be read, each with its first lines or its columns."""
        tables = {n: text for n, text in self.values.materials.items() if is_table_name(n)}
        lines = self.values.database[:MAX_DATABASE_CHARS].splitlines()
        return {**tables, **{line: line for line in lines}}

    def adopt_example(self) -> list[dict[str, Any]]:
        """Return the plan of the nearest example that covers the request and names nothing else."""
        examples = self.values.team.examples
        ranked = rank_examples(self.request, [each.request for each in examples])
        fitting = (examples[n] for n, is_near in ranked if is_near)
        return [self._adopt(each) for each in fitting if self._covers(each)][:1]

    def plan_parts(self) -> dict[str, Any]:
        """Return the plan with a task for each part of the request, and what no worker takes."""
        subjects: dict[str, list[str]] = {}
        untaken = []
        _, unwanted = list_named_workers(self.values.team, self.request)
        parts = list_parts(self.request, self.fit.has_worker)
        for part in parts:
            takers = self._choose_workers(part, is_whole=len(parts) == 1)
            takers = self._add_readers_of_files(part, self._follow_kinds(part, takers))
            if not takers:
                untaken.append(part[:MAX_SUBJECT_CHARS])
            for name in sorted({*takers} - unwanted, key=takers.index):
                subjects.setdefault(name, []).append(part)
        subjects = subjects or {self._find_reader(): [self.request]}
        self._add_needed(subjects)
        tasks = self._order(subjects)
        cap = max(1, self.values.team.max_tasks)
        lost = [task["subject"] for task in tasks[cap:]]
        return self._build_plan(tasks[:cap], [*untaken, *lost])

    def plan_one_task(self) -> dict[str, Any]:
        """Return the plan of one task, for the worker that the whole request is nearest to."""
        nearest = [name for name in self.fit.rank_workers(self.request) if not self._waits(name)]
        name = (nearest or [self._find_reader()])[0]
        return self._build_plan([self.build_task(name, [self.request], ())], [])

    def build_task(self, worker: str, parts: Sequence[str], needs: Iterable[str]) -> dict[str, Any]:
        """Return a task that answers parts of the request after other tasks."""
        subject = _join_parts(parts)
        card = self.values.team.find_worker(worker).description.rstrip(". ")
        quoted = subject[:MAX_QUOTED_CHARS].replace('"', "'").rstrip(". ") or "An empty request"
        return {
            "id": worker,
            "description": f'For the request "{quoted}": {card[:1].lower()}{card[1:]}. '
            "Give every figure and statement with the name of its source.",
            "worker": worker,
            "depends_on": [{"task": name, "required": False} for name in needs],
            "materials": self._choose_materials(worker),
            "subject": subject,
        }

    def _choose_workers(self, part: str, *, is_whole: bool) -> tuple[str, ...]:
        """Return who takes a part; a request of one part may be for all workers of an example."""
        team = self.values.team
        included, excluded = list_named_workers(team, part)
        shown = self.fit.find_example(part, is_loose=bool(excluded)) if is_whole else None
        if shown and included <= list_named_workers(team, shown.request)[0]:
            return list_workers(shown)
        if included:
            return tuple(each.name for each in team.roster if each.name in included)
        if ranked := self.fit.rank_workers(part):
            return (ranked[0],)
        if is_question(part):
            return (self._find_reader(),)
        return self._find_general_readers()[:1] if is_whole or asks_for_result(part) else ()

    def _follow_kinds(self, part: str, takers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the takers; who reads the files takes the place of one that cannot answer.

        A question is not for one without a tool, or who works on results.
        """
        readers = self._find_general_readers()
        if not readers:
            return takers
        held, lacking = TOOLS[bool(self.tables)], TOOLS[not self.tables]
        is_one_kind = bool(self.tables) != bool(self._documents)
        tools = {name: self.values.team.find_worker(name).tools for name in takers}
        other = {n for n in takers if is_one_kind and {lacking, held} & {*tools[n]} == {lacking}}
        other |= {n for n in takers if is_question(part) and (not tools[n] or self._waits(n))}
        return tuple(dict.fromkeys(readers[0] if name in other else name for name in takers))

    def _find_general_readers(self) -> tuple[str, ...]:
        """Return who reads any table, or any document, and finds such files here."""
        kinds = [kind for kind, held in ((False, self._documents), (True, self.tables)) if held]
        roster = self.values.team.roster
        return tuple(each.name for kind in kinds for each in roster if TOOLS[kind] in each.tools)

    def _find_reader(self) -> str:
        """Return who takes what is near to no worker: it looks up, or begins in most examples."""
        team = self.values.team
        takers = [
            name for name in self._list_takers(is_table=True) if self.tables and not self._documents
        ]
        searching = [each.name for each in team.roster if "search_documents" in each.tools]
        readers = searching if self._documents else []
        usual = [*filter(None, [team.generalist]), *searching, *self.fit.first_workers]
        return [*takers, *readers, *usual][0]

    def _list_takers(self, *, is_table: bool) -> list[str]:
        """Return the workers that begin with such files in examples, the most frequent first."""
        tasks = [task for each in self.values.team.examples for task in each.plan.tasks]
        begun = [task.worker for task in tasks if self._reads(task.materials, is_table=is_table)]
        waiting = {task.worker for task in tasks if task.depends_on and task.materials}
        begun += [each.name for each in self.values.team.roster if TOOLS[is_table] in each.tools]
        return sorted({*begun} - waiting or {*begun}, key=lambda name: -begun.count(name))

    @staticmethod
    def _reads(names: Iterable[str], *, is_table: bool) -> bool:
        return any(is_table_name(name) == is_table for name in names)

    def _add_readers_of_files(self, part: str, takers: tuple[str, ...]) -> tuple[str, ...]:
        """Add who reads the tables, or the documents, that alone hold words of a part.

        A part that is near to no worker is taken so if the files hold half of its words.
        """
        wanted = {word for word in extract_words(part) if not word.isdigit()}
        spoken = {True: wanted & self._table_words, False: wanted & self._document_words}
        is_spoken_of = 2 * len(spoken[True] | spoken[False]) >= len(wanted) > 0
        if any(map(self._waits, takers)) or not (takers or is_spoken_of):
            return takers
        read = {name for worker in takers for name in self._choose_materials(worker)}
        for is_table, held in ((True, self.tables), (False, self._documents)):
            readers = self._list_takers(is_table=is_table)
            if spoken[is_table] and readers and not read & {*held} and not {*readers} & {*takers}:
                takers = (*takers, readers[0])
        return takers

    @cached_property
    def _table_words(self) -> set[str]:
        """The words of the tables' names and columns."""
        lines = (
            f"{name} {text[:MAX_HEADER_CHARS].splitlines()[:1]}"
            for name, text in self.tables.items()
        )
        return _list_words(lines)

    @cached_property
    def _document_words(self) -> set[str]:
        """The words of the documents that the tables do not hold."""
        held = _list_words(f"{n} {text[:MAX_READ_CHARS]}" for n, text in self._documents.items())
        return held - _list_words(f"{n} {text[:MAX_READ_CHARS]}" for n, text in self.tables.items())

    @cached_property
    def _documents(self) -> dict[str, str]:
        return {n: text for n, text in self.values.materials.items() if n not in self.tables}

    def _add_needed(self, subjects: dict[str, list[str]]) -> None:
        """Add who must come before the chosen workers, and who follows them in most examples."""
        pending = list(subjects)
        while pending:
            name = pending.pop()
            for before, is_required in self.fit.list_before(name).items():
                if is_required and before not in subjects:
                    subjects[before] = list(subjects[name])
                    pending.append(before)
        for name in self.fit.list_followers(subjects):
            if name not in subjects:
                subjects[name] = [self.request]

    def _waits(self, name: str) -> bool:
        return any(self.fit.list_before(name).values())

    def _begins(self, name: str) -> bool:
        """Return whether a worker has files to begin with, and begins in some example."""
        return name in self.fit.first_workers and bool(self._choose_materials(name))

    def _order(self, subjects: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        """Return the tasks, each after those that it waits for."""
        before = {
            name: [
                each
                for each, is_required in self.fit.list_before(name).items()
                if each in subjects and (is_required or not self._begins(name))
            ]
            for name in subjects
        }
        for name in subjects:
            if self._waits(name) and not before[name]:
                before[name] = [n for n in subjects if n != name and name not in before[n]]
        ordered: list[str] = []
        while len(ordered) < len(subjects):
            left = [name for name in subjects if name not in ordered]
            ready = [name for name in left if set(before[name]) <= set(ordered)]
            ordered.append((ready or left)[0])
        tasks: list[dict[str, Any]] = []
        ids: dict[str, list[str]] = {}
        for name in ordered:
            needs = [each for other in before[name] for each in ids.get(other, ())]
            made = self._split_compared(self.build_task(name, subjects[name], needs))
            ids[name] = [task["id"] for task in made]
            tasks += made
        return tasks

    def _split_compared(self, task: dict[str, Any]) -> list[dict[str, Any]]:
        """Return a task for each document that is compared by its name, else the one task."""
        words = set(extract_words(task["subject"]))
        documents = [name for name in task["materials"] if name in self._documents]
        named = [name for name in documents if words & set(extract_words(_get_stem(name)))]
        is_apart = self.fit.works_apart(task["worker"])
        if (
            not is_apart
            or task["depends_on"]
            or not _COMPARING.search(task["subject"])
            or len(named) < 2
        ):
            return [task]
        return [
            {
                **task,
                "id": f"{task['id'][:30]}_{number}",
                "description": f"{task['description']} Only from {name}.",
                "materials": [name],
            }
            for number, name in enumerate(named[:MAX_COMPARED], 1)
        ]

    def _choose_materials(self, worker: str) -> list[str]:
        """Return the files of the kinds that examples, or its tools, show for a worker.

        Of a worker without any shown, and of a kind that no example has, all are for it.
        """
        tasks = [task for each in self.values.team.examples for task in each.plan.tasks]
        kinds = {_get_suffix(n) for task in tasks if task.worker == worker for n in task.materials}
        known = {_get_suffix(name) for task in tasks for name in task.materials}
        tools = self.values.team.find_worker(worker).tools
        if not kinds and self._waits(worker):
            return list(self.values.materials) if "check_sources" in tools else []
        general = [is_table for is_table, tool in TOOLS.items() if tool in tools]
        chosen = [
            name
            for name in self.values.materials
            if is_table_name(name) in general
            or _get_suffix(name) in kinds
            or (not general and not (kinds and _get_suffix(name) in known))
        ]
        return chosen or ([] if self._waits(worker) else list(self.values.materials))

    def _covers(self, example: Example) -> bool:
        """Return whether an example's plan covers what the request names, and names nothing else.

        What it names is in this request or in its files.
        """
        described = " ".join(task.description for task in example.plan.tasks)
        wanted, known = set(extract_words(self.request)), set(extract_words(example.request))
        if not wanted <= known | set(extract_words(described)):
            return False
        if 2 * len(wanted & known) < len(known):
            return False
        read = {_get_name(name) for task in example.plan.tasks for name in task.materials}
        if wanted == known and read and read <= {_get_name(n) for n in self.values.materials}:
            return True  # the plan is for this request and these files
        names = {name.strip('`"') for name in _NAMED.findall(f"{example.request}. {described}")}
        held = "\n".join([self.request, *self.values.materials, *self.values.materials.values()])
        return all(name in held for name in names)

    def _adopt(self, example: Example) -> dict[str, Any]:
        """Return an example's plan with the materials of this request."""
        named = {_get_name(name) for task in example.plan.tasks for name in task.materials}
        new = [name for name in self.values.materials if _get_name(name) not in named]
        tasks = []
        for task in example.plan.tasks:
            wanted = {_get_name(name) for name in task.materials}
            available = [name for name in self.values.materials if _get_name(name) in wanted]
            materials = [*available, *new] if wanted or not task.depends_on else []
            fields = task.model_dump(mode="json")
            tasks.append(
                {**fields, "materials": materials, "subject": self._find_subject(task.worker)}
            )
        shown = example.plan.model_dump(mode="json", exclude={"version", "rule_reason"})
        return {**shown, "goal": self._goal, "tasks": tasks}

    def _find_subject(self, worker: str) -> str:
        """Return the parts of a request that are nearest to a worker; empty for all or none."""
        parts = list_parts(self.request, self.fit.has_worker)
        own = [part for part in parts if self.fit.rank_workers(part)[:1] == [worker]]
        return _join_parts(own) if len(own) < len(parts) else ""

    @property
    def _goal(self) -> str:
        return self.request[:4000] or "An empty request"

    def _build_plan(self, tasks: list[dict[str, Any]], untaken: list[str]) -> dict[str, Any]:
        return {
            "goal": self._goal,
            "tasks": tasks,
            "aggregation": "merge",
            "final_instruction": "Answer the request with the figures and sources that were found.",
            "untaken": list(dict.fromkeys(untaken)),
        }


def _join_parts(parts: Iterable[str]) -> str:
    joined = ""
    for part in dict.fromkeys(parts):
        joined += f"{' ' if joined[-1:] in '.?!' else ', '}{part}" if joined else part
    return joined[:MAX_SUBJECT_CHARS]


def _list_words(texts: Iterable[str]) -> set[str]:
    return set(extract_words(_SEPARATORS.sub(" ", " ".join(texts))))


def _get_name(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _get_stem(name: str) -> str:
    return _SEPARATORS.sub(" ", _get_name(name).rsplit(".", 1)[0])


def _get_suffix(name: str) -> str:
    return name.split("#")[0].rsplit(".", 1)[-1].lower()
