"""Plans without a language model, and routes a request."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from extensions.embedded.files import Files, get_name
from extensions.embedded.named_workers import ALONE, OTHERS, choose_workers, list_named_workers
from extensions.embedded.work import (
    CITING,
    ONLY_WHAT_IS_LEFT,
    OPENING,
    OTHERS_READ_ON,
    read_lead,
)
from extensions.embedded.worker_fit import (
    MIN_MEANING_OF_WHOLE,
    ShownOrder,
    WorkerFit,
    drop_exclusion,
    list_workers,
)
from nodes.limits.patterns import Pattern
from nodes.schemas.handoff import PlanningValues, RecruitValues, RefinementValues, RevisionValues
from nodes.schemas.team import Example
from nodes.text.request_parts import (
    asks_for_result,
    asks_for_text,
    begins_with_verb,
    is_question,
    list_parts,
)
from nodes.text.similarity import extract_stems, extract_words, rank_examples
from state import Plan, Task

_FILE_TYPE = Pattern(r"\.(\w+)$", re.MULTILINE)
MIN_WORDS = 2
"""Of a part of a request that is for a worker of its own."""
MIN_LEAD = 2.0
"""How much nearer such a part is to a second worker than to the first."""


def write_decision(values: PlanningValues) -> dict[str, Any]:
    """Return one worker; two if an example has two, or part of the request is for another.

    The file types of materials, such as `py`, count as words of the request. A team that steps
    ends after one step.
    """
    if values.given:
        reason = "A worker has reported, and this model plans only one step."
        return {"is_done": True, "reason": reason}
    team, fit = values.team, WorkerFit(values.team, MIN_MEANING_OF_WHOLE)
    types = " ".join(_FILE_TYPE.findall("\n".join(values.materials)))
    led = f"{read_lead(values.before, values.request)} {values.request}".lstrip()
    takers = [*fit.score_workers(led, types)][:1]
    shown = fit.find_example(values.request, is_like=True)
    if shown and not _is_planned(shown, values) and list_workers(shown)[1:]:
        takers = [*list_workers(shown)[:2]]
    searching = [each.name for each in team.roster if "search_documents" in each.tools]
    if values.materials and searching and not any(team.find_worker(n).tools for n in takers):
        takers = searching[:1]  # without a tool nothing is read
    if not takers:
        return {"worker": "", "task": values.request, "reason": "No worker's card is similar."}
    parts = [
        scores
        for part in list_parts(values.request, fit.rank_workers)
        if len(extract_stems(part)) >= MIN_WORDS and (scores := fit.score_workers(part))
    ]
    several = {next(iter(scores)) for scores in parts}
    planned = [list_workers(each) for each in team.examples if _is_planned(each, values)]
    if len(several) > 1 and any(several <= {*each} for each in planned):
        reason = "Its parts are for several workers, which examples have in one plan."
        return {"worker": takers[0], "needs_plan": True, "reason": reason}
    if any(list_workers(each)[1:] for each in team.examples if not _is_planned(each, values)):
        bests = [(next(iter(each)), each) for each in parts]
        takers += [n for n, each in bests if each[n] >= MIN_LEAD * each.get(takers[0], 0.0)]
    return {
        "worker": takers[0],
        "secondary": "".join([name for name in takers if name != takers[0]][:1]),
        "task": values.request,
        "reason": "Its card and examples are nearest to the request.",
    }


def _is_planned(example: Example, values: PlanningValues) -> bool:
    has_order = any(task.depends_on for task in example.plan.tasks)
    return values.team.plan_when_needed and has_order


_NAMED = Pattern(
    r"`[^`\n]{1,200}`|\"[^\"\n]{1,200}\"|\b[\w-]{1,80}\.[A-Za-z]{1,4}\b|\d+(?:[.,]\d+)*"
    r"|(?<=[\w,;:]\s)[A-Z][\w-]*"
)
"""Code, quotations, file names, figures, and capitalised words inside a sentence."""
_CODE_CLAUSE = Pattern(r":?\s*`[^`]*`")
MAX_SPAN_CHARS = 10_000
MAX_LINK_CHARS = 12  # such as ", and then "
MAX_QUOTED_CHARS = 1_000  # of the request's words, in the description of its task


def write_plan(values: PlanningValues, refusals: int) -> dict[str, Any]:
    """Return a plan; after a refusal the next plainer one, at last one task."""
    planner = _RulePlanner(values)
    if values.revision and values.revision.is_rejection:
        draft = planner.keep_named_workers(values.revision)
        return draft if draft["tasks"] else planner.plan_parts()
    if values.revision:
        return planner.continue_plan(values.revision)
    drafts = [*planner.adopt_example(), planner.plan_parts(), planner.plan_one_task()]
    return drafts[min(refusals, len(drafts) - 1)]


def write_recruit(values: RecruitValues) -> dict[str, Any]:
    """Return a specialist with the tools whose descriptions share words with the task, else all."""
    wanted = extract_stems(values.description)
    near = [n for n, card in values.tools.items() if wanted & extract_stems(f"{n} {card}")]
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


def drop_links(description: str, names: Iterable[str]) -> str:
    """Return a task's words without what they leave to these tasks, or take over from them."""
    for link in (f" {words} {name}." for name in names for words in _LINKS):
        description = description.replace(link, "")
    return description


_LINKS = (ONLY_WHAT_IS_LEFT, OTHERS_READ_ON)


class _RulePlanner:
    """Plans one request."""

    def __init__(self, values: PlanningValues) -> None:
        self.team, self.request = values.team, values.request.strip()
        self.goal = self.request[:4000] or "An empty request"
        self.fit, self.order = WorkerFit(values.team), ShownOrder(values.team)
        self.files = Files(values, self.order)
        self._lead = read_lead(values.before, self.request)
        self._pair: tuple[str, ...] = ()
        """Who reads the tables, and who reads documents for what those leave open."""
        self._reads_on = False

    def adopt_example(self) -> list[dict[str, Any]]:
        """Return the plan of the nearest example that covers the request and names nothing else."""
        examples = self.team.examples
        ranked = rank_examples(self.request, [each.request for each in examples])
        fitting = (examples[n] for n, is_near in ranked if is_near)
        return [self._adopt(each) for each in fitting if self._covers(each)][:1]

    def plan_parts(self) -> dict[str, Any]:
        """Return the plan with a task for each part of the request, and what no worker takes."""
        parts = list_parts(self.request, self.fit.rank_workers)
        subjects: dict[str, list[str]] = {}
        untaken = []
        for part in parts:
            led = f"{self._lead} {part}".lstrip()
            takers = self._choose_takers(led, is_whole=len(parts) == 1)
            if not takers:
                untaken.append(part[:MAX_SPAN_CHARS])
            for name in dict.fromkeys(takers):
                subjects.setdefault(name, []).append(part)
        if len(subjects) == 1 and self.files.are_only_for(*subjects):  # its tool reads every word
            untaken = [part for part in untaken if begins_with_verb(part)]
            subjects = {name: [each for each in parts if each not in untaken] for name in subjects}
        if not subjects:  # the usual worker searches for what is asked, and takes no order
            untaken = [part for part in untaken if not is_question(part)]
            subjects = {self._find_usual(): [self.request]}
        if pair := self.files.pair_readers(subjects):  # each gets the words of both
            self._pair = pair
            both = {part for name in pair for part in subjects.get(name, ())}
            self._reads_on = self.files.is_rather_in_documents({self._lead, *both})
            subjects |= {name: [part for part in parts if part in both] for name in pair}
        nearest = self.fit.rank_workers(self.request)
        tasks = self._build_tasks(self.order.add_others(subjects, self.request, nearest))
        cap = max(1, self.team.max_tasks)
        lost = [part for task in tasks[cap:] for part in task["covers"]]
        return self._build_plan(tasks[:cap], [*untaken, *lost])

    def keep_named_workers(self, revision: RevisionValues) -> dict[str, Any]:
        """Return the rejected plan with exactly the workers that the reason leaves.

        What waited for one that is gone waits for the new ones.
        """
        plan = _dump_plan(revision.plan)
        planned = [task["worker"] for task in plan["tasks"]]
        left = choose_workers(self.team, planned, revision.reason)
        added = [self.build_task(n, [plan["goal"]], ()) for n in left if n not in planned]
        tasks = [task for task in plan["tasks"] if task["worker"] in left]
        gone = [task["id"] for task in plan["tasks"] if task not in tasks]
        new = [{"task": task["id"], "required": False} for task in added]
        for task in tasks:
            kept = [edge for edge in task["depends_on"] if edge["task"] not in gone]
            task["depends_on"] = kept if kept == task["depends_on"] else [*kept, *new]
            task["description"] = drop_links(task["description"], gone)
        return {**plan, "tasks": [*tasks, *added]}

    def continue_plan(self, revision: RevisionValues) -> dict[str, Any]:
        """Return the plan with a task for the worker that a finding is for, before what is left.

        With nothing left, or without a worker that has no task yet, it is the same plan.
        """
        plan = _dump_plan(revision.plan)
        done = {report.task for report in revision.results} | set(revision.running)
        planned = {task["worker"] for task in plan["tasks"]}
        waiting = [task for task in plan["tasks"] if task["id"] not in done]
        new = [name for name in self.fit.rank_workers(revision.reason) if name not in planned]
        grounds = [each.task for each in revision.results if f"{each.task} (" in revision.reason]
        added = [self.build_task(name, [revision.reason], grounds) for name in new[:1] if waiting]
        for task in waiting:
            task["depends_on"] += [{"task": each["id"], "required": False} for each in added]
        return {**plan, "tasks": [*plan["tasks"], *added]}

    def plan_one_task(self) -> dict[str, Any]:
        """Return the plan of one task, for the worker that the whole request is nearest to."""
        nearest = [n for n in self.fit.rank_workers(self.request) if not self.order.waits(n)]
        name = (nearest or [self._find_usual()])[0]
        return self._build_plan([self.build_task(name, [self.request], ())], [])

    def build_task(self, worker: str, parts: Sequence[str], needs: Iterable[str]) -> dict[str, Any]:
        """Return a task that answers parts of the request after other tasks."""
        covers = _join_neighbours(parts, self.request)
        subject = Task(id=worker, description="-", worker=worker, covers=covers).asked
        card = self.team.find_worker(worker).description.rstrip(". ")
        quoted = subject[:MAX_QUOTED_CHARS].replace('"', "'").rstrip(". ") or "An empty request"
        shared = ""
        if worker in self._pair:
            tables, documents = self._pair
            reads_on = f" {OTHERS_READ_ON} {documents}." if self._reads_on else ""
            shared = reads_on if worker == tables else f" {ONLY_WHAT_IS_LEFT} {tables}."
        return {
            "id": worker,
            "description": f'{OPENING}{quoted}": {card[:1].lower()}{card[1:]}.{shared} {CITING}',
            "worker": worker,
            "depends_on": [{"task": name, "required": False} for name in needs],
            "materials": self.files.choose_for(worker),
            "covers": covers,
        }

    def _choose_takers(self, part: str, *, is_whole: bool) -> list[str]:
        """Return who takes a part: whom it names, an example shows, or it is nearest to.

        Who reads the files that have its words is added. A question is not for a worker without a
        tool, or one who waits for results, and no table holds a text that is to be written.
        """
        named = list_named_workers(self.team, part)
        included = [*named[ALONE], *named[OTHERS]]
        shown = self.fit.find_example(drop_exclusion(part)) if is_whole else None
        if shown and {*included} <= {*list_workers(shown)}:
            takers = list(list_workers(shown))
        else:
            takers = included or self.fit.rank_workers(part)[:1]
        if self.files.find_readers():
            takers = [name for name in takers if self._answers(name, part)]
        if any(map(self.order.waits, takers)):
            return takers
        found = [*takers, *self.files.find_missing_readers(part, takers)]
        if takers or is_whole or asks_for_result(part):
            return found or self.files.find_readers()[:1]
        if is_question(part):
            return found or [self._find_usual()]
        return [] if begins_with_verb(part) else found

    def _answers(self, name: str, part: str) -> bool:
        if asks_for_text(part) and self.files.are_only_for(name):
            return False
        can_look_up = self.team.find_worker(name).tools and not self.order.waits(name)
        is_asked = is_question(part) or asks_for_result(part)
        return not self.files.lacks_kind(name) and bool(can_look_up or not is_asked)

    def _find_usual(self) -> str:
        """Return who takes what is near to no worker."""
        usual = [self.team.generalist] if self.team.generalist else []
        return [*self.files.find_readers(), *usual, *self.order.first_workers][0]

    def _build_tasks(self, subjects: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        """Return the tasks, each after those that it waits for."""
        tasks: list[dict[str, Any]] = []
        before = {name: self._list_before(name, subjects) for name in subjects}
        left = list(subjects)
        while left:
            ids = [task["id"] for task in tasks]
            name = next((n for n in left if before[n] <= {*ids}), left[0])
            left.remove(name)
            needs = [other for other in ids if other in before[name]]
            tasks.append(self.build_task(name, subjects[name], needs))
        return tasks

    def _list_before(self, name: str, chosen: Collection[str]) -> set[str]:
        """Return whom a worker waits for; one that may begin, and has files, only for its needs."""
        begins = name in self.order.first_workers and bool(self.files.choose_for(name))
        before = self.order.list_before(name).items()
        waits = {each for each, is_required in before if is_required or not begins} & {*chosen}
        if name not in self._pair:
            return waits
        first, second = self._pair
        return waits - {second} if name == first else waits | {first}

    def _covers(self, example: Example) -> bool:
        """Return whether an example's plan is for all words of the request, and names nothing else.

        What it names is in this request or in its files.
        """
        shown = ". ".join([example.request, *(task.description for task in example.plan.tasks)])
        wanted, known = {*extract_words(self.request)}, {*extract_words(example.request)}
        if not wanted <= {*extract_words(shown)} or 2 * len(wanted & known) < len(known):
            return False
        if wanted == known and self.files.has_all_of(example):
            return True  # the plan is for this request and these files
        names = {name.strip('`"') for name in _NAMED.findall(shown)}
        held = "\n".join([self.request, *self.files.texts, *self.files.texts.values()])
        return all(name in held for name in names)

    def _adopt(self, example: Example) -> dict[str, Any]:
        """Return an example's plan with the materials of this request."""
        parts = list_parts(self.request, self.fit.rank_workers)
        shown = _dump_plan(example.plan)
        nearest = {part: self._find_worker(part, shown["tasks"]) for part in parts}
        named = {get_name(name) for task in shown["tasks"] for name in task["materials"]}
        for task in shown["tasks"]:
            wanted = {get_name(name) for name in task["materials"]}
            takes_new = bool(wanted) or not task["depends_on"]
            task["materials"] = [
                name
                for name in self.files.texts
                if get_name(name) in wanted or (takes_new and get_name(name) not in named)
            ]
            own = [part for part in parts if nearest[part] == task["worker"]]
            task["covers"] = _join_neighbours(own, self.request) if len(own) < len(parts) else ()
        return {**shown, "goal": self.goal}

    def _find_worker(self, part: str, tasks: Sequence[Mapping[str, Any]]) -> str:
        """Return who does the task that shares most words with a part, else who is nearest."""
        words = extract_stems(part)
        shared = [len(words & extract_stems(task["description"])) for task in tasks]
        if shared.count(most := max(shared)) == 1:
            return str(tasks[shared.index(most)]["worker"])
        return next(iter(self.fit.rank_workers(part)), "")

    def _build_plan(self, tasks: list[dict[str, Any]], untaken: list[str]) -> dict[str, Any]:
        return {
            "goal": self.goal,
            "tasks": tasks,
            "aggregation": "merge",
            "final_instruction": "Answer the request with the figures and sources that were found.",
            "untaken": list(dict.fromkeys(untaken)),
        }


def _join_neighbours(parts: Iterable[str], request: str) -> tuple[str, ...]:
    """Return parts of a request, as one span where one follows another."""
    joined: list[str] = []
    end = -MAX_LINK_CHARS
    for part in dict.fromkeys(parts):
        start = request.find(part, max(0, end))
        if joined and 0 <= start - end <= MAX_LINK_CHARS:
            joined[-1] += request[end:start] + part
        else:
            joined.append(part)
        end = start + len(part) if start >= 0 else end
    return tuple(span[:MAX_SPAN_CHARS] for span in joined)


def _dump_plan(plan: Plan) -> dict[str, Any]:
    return plan.model_dump(mode="json", exclude={"version", "rule_reason"})
