"""Plans by example: the nearest example's plan, or only its structure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from nodes.limits.patterns import Pattern
from nodes.models.embedded.prompt_reading import (
    list_sections,
    list_texts,
    parse_json_object,
    read_quoted_request,
    read_section,
)
from nodes.models.embedded.replanning import RevisionRequest, continue_plan, read_revision_request
from nodes.models.embedded.text_similarity import (
    extract_numbers,
    extract_words,
    rank_by_similarity,
    rank_examples,
)
from nodes.text.csv_table import is_table_name

_CARD = Pattern(r"^- ([a-z][a-z0-9_]*): (.*?)(?: Tools: ([^.]*)\.)?$", re.MULTILINE)
_TOOL = Pattern(r"^- ([\w.:]+): (.*)$", re.MULTILINE)
_MATERIAL = Pattern(r"^- (.{1,300}?) \(\d+ characters\):(.*)$", re.MULTILINE)
_DATABASE_TABLE = Pattern(r"^- (\S{1,200}): (.*)$", re.MULTILINE)
_SEPARATORS = Pattern(r"[\W_]+")
_CODE_CLAUSE = Pattern(r":?\s*`[^`]*`")
_EXCLUSION = Pattern(
    r"\b(?:except|excluding|without|ignor(?:e|ing)|skip(?:ping)?|but not)\b", re.IGNORECASE
)
"""Words after which a request names what it does not want."""
MAX_SUBJECT_CHARS = 1000


@dataclass(frozen=True)
class PlanningPrompt:
    """The content of a planner's or router's prompt."""

    request: str
    cards: dict[str, str]
    materials: list[str]
    columns: dict[str, str]
    """The first line of each material that is a table, and the columns of the database's tables."""
    examples: list[tuple[str, dict[str, Any]]]
    """Each request with its plan or its decision."""
    revision: RevisionRequest | None = None
    skills: dict[str, str] = field(default_factory=dict)
    """Each worker's name, card and the names of its tools, to be compared with the request."""


def write_plan(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Return a plan; each refusal leads to a draft that is further from the example.

    A running plan continues like the example that is nearest to the reason of the revision.
    """
    asked = read_planning_prompt(messages)
    refusals = sum(
        bool(read_section(text, "problems")) for text in list_texts(messages, HumanMessage)
    )
    drafts = _draft_plans(asked)
    if asked.revision:
        drafts = [*_draft_revisions(asked, asked.revision), *drafts]
    return drafts[min(refusals, len(drafts) - 1)]


def write_recruit(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Return a specialist with the tools whose descriptions share words with the task, else all."""
    text = "\n".join(list_texts(messages, HumanMessage))
    cards = dict(_TOOL.findall(read_section(text, "tools")))
    *_, description = read_section(text, "task").split("\n", 1)
    ranked = rank_by_similarity(
        description, [f"{name.replace('_', ' ')} {cards[name]}" for name in cards]
    )
    near = [list(cards)[index] for index, likeness in ranked if likeness > 0]
    return {
        "role": "specialist",
        "instructions": f"Do this and nothing else: {description[:3000]}",
        "tools": near or list(cards),
    }


def write_refinement(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Return the task widened: without its code, but with all words, as any may be the subject."""
    text = "\n".join(list_texts(messages, HumanMessage))
    *_, description = read_section(text, "task").split("\n", 2)
    widened = _CODE_CLAUSE.sub("", description).strip() or description
    return {
        "description": f"{widened} If nothing is found, report what was searched.",
        "reason": f"The first attempt failed: {read_section(text, 'error')[:200]}",
    }


def read_planning_prompt(messages: Sequence[BaseMessage]) -> PlanningPrompt:
    """Return the request, the cards, the materials' names and the examples of a prompt."""
    system, human = (
        "\n".join(list_texts(messages, SystemMessage)),
        list_texts(messages, HumanMessage),
    )
    asked = next((text for text in human if read_section(text, "request")), "")
    body = next((part.raw for part in list_sections(system) if part.tag == "examples"), "")
    examples = [
        (read_section(part.raw, "request"), parse_json_object(_read_example_reply(part.raw)))
        for part in list_sections(body)
        if part.tag == "example"
    ]
    materials = dict(_MATERIAL.findall(read_section(asked, "materials")))
    workers = _CARD.findall(read_section(system, "workers"))
    return PlanningPrompt(
        request=" ".join((read_section(asked, "request") or "\n".join(human)).split()),
        cards={name: card for name, card, _ in workers},
        skills={name: _SEPARATORS.sub(" ", " ".join((name, *each))) for name, *each in workers},
        materials=list(materials),
        columns={
            **{name: line for name, line in materials.items() if is_table_name(name)},
            **dict(_DATABASE_TABLE.findall(read_section(asked, "database"))),
        },
        examples=[example for example in examples if example[1].keys() & {"tasks", "worker"}],
        revision=next(filter(None, map(read_revision_request, human)), None),
    )


def _read_example_reply(example: str) -> str:
    return read_section(example, "plan") or read_section(example, "decision")


def _draft_revisions(asked: PlanningPrompt, under_way: RevisionRequest) -> list[dict[str, Any]]:
    """Return drafts by the example nearest to the reason, without workers that have reported."""
    ranked = rank_examples(under_way.reason, [request for request, _ in asked.examples])
    near = [index for index, is_near in ranked if is_near][:1]
    return [
        continue_plan(make(asked, asked.examples[index][1]), under_way)
        for index in near
        for make in (_adopt_example, _adopt_shape)
    ]


def _draft_plans(asked: PlanningPrompt) -> list[dict[str, Any]]:
    ranked = rank_examples(asked.request, [request for request, _ in asked.examples])
    drafts = _draft_for_named_workers(asked, [index for index, _ in ranked])
    drafts += [
        _adopt_example(asked, asked.examples[index][1])
        for index, _ in ranked
        if _covers(asked.examples[index], asked.request)
    ]
    drafts += _draft_for_unshown_worker(asked)
    # Where every example shows several workers, the request was found to need several.
    is_shared = all(
        len({each["worker"] for each in plan["tasks"]}) > 1 for _, plan in asked.examples
    )
    near = [asked.examples[index][1] for index, is_near in ranked if is_near or is_shared]
    near.sort(key=lambda example: _count_unplanned_workers(asked, example))
    drafts += [_add_table_task(asked, _adopt_shape(asked, example)) for example in near]
    return [*drafts, _add_table_task(asked, _build_minimal_plan(asked)), _build_minimal_plan(asked)]


def _draft_for_named_workers(asked: PlanningPrompt, ranked: Sequence[int]) -> list[dict[str, Any]]:
    """Return a plan for the workers whose fields a request names, with tasks of the examples.

    Only in a team whose examples never make one task depend on another: elsewhere a worker that is
    not named may be needed by one that is.
    """
    shown = [_adopt_example(asked, asked.examples[index][1])["tasks"] for index in ranked]
    if any(task["depends_on"] for tasks in shown for task in tasks):
        return []
    nearest = {task["worker"]: task for tasks in reversed(shown) for task in tasks}
    included, *excluded = _EXCLUSION.split(asked.request)
    wanted, unwanted = _list_named(nearest, included), _list_named(nearest, " ".join(excluded))
    chosen = [name for name in asked.cards if name in (wanted or nearest) and name not in unwanted]
    if not (wanted or unwanted):
        return []
    tasks = [{**nearest[name], "id": name} for name in chosen if name in nearest]
    return [_build_plan(asked, tasks)] if tasks else []


def _list_named(names: Iterable[str], text: str) -> set[str]:
    """Return the names that a text uses as nouns of their own: `style`, but not `style sheet`."""
    found = set[str]()
    for name in names:
        noun = Pattern(rf"\b{name.replace('_', ' ')}(?:\s+([\w-]+)|(?=[^\w'-]|$))", re.IGNORECASE)
        if any(not extract_words(following) for following in noun.findall(text)):
            found.add(name)
    return found


def _draft_for_unshown_worker(asked: PlanningPrompt) -> list[dict[str, Any]]:
    """Return a plan for the worker that fits the request best, if no example shows when to take it.

    It has more words of the request than any other worker and any example.
    """
    shown = _list_shown_workers(asked)
    wanted = {word for word in extract_words(asked.request) if not word.isdigit()}
    counts = {name: len(wanted & set(extract_words(asked.skills[name]))) for name in asked.skills}
    known = max((len(wanted & set(extract_words(text))) for text, _ in asked.examples), default=0)
    best = max(counts, key=lambda name: counts[name], default="")
    others = [counts[name] for name in counts if name != best]
    if best in shown or not shown or counts[best] <= max([known, *others]):
        return []
    return [_build_plan(asked, [_build_task(asked, best, [])])]


def _count_unplanned_workers(asked: PlanningPrompt, example: dict[str, Any]) -> int:
    """Count the workers that an example lacks, and whose cards alone have a word of the request."""
    wanted = set(extract_words(asked.request))
    known = {name: wanted & set(extract_words(skill)) for name, skill in asked.skills.items()}
    counts = Counter(word for words in known.values() for word in words)
    planned = {task["worker"] for task in example["tasks"]}
    return sum(
        any(counts[word] == 1 for word in words)
        for name, words in known.items()
        if name not in planned
    )


def _covers(example: tuple[str, dict[str, Any]], request: str) -> bool:
    """Return whether an example's plan covers everything that a request names, and little else.

    An example with a figure only covers requests with the same figure: it may be a limit that this
    request does not set.
    """
    if not set(extract_numbers(example[0])) <= set(extract_numbers(request)):
        return False
    wanted, known = set(extract_words(request)), set(extract_words(example[0]))
    planned = {word for task in example[1]["tasks"] for word in extract_words(task["description"])}
    return wanted <= known | planned and 2 * len(wanted & known) >= len(known)


def _adopt_example(asked: PlanningPrompt, example: dict[str, Any]) -> dict[str, Any]:
    """Return an example's plan with the materials of this request."""
    named = {name for task in example["tasks"] for name in task.get("materials", ())}
    new = [name for name in asked.materials if _strip_folder(name) not in named]
    tasks = []
    for task in example["tasks"]:
        wanted = task.get("materials", ())
        available = [name for name in asked.materials if _strip_folder(name) in wanted]
        description = task["description"]
        if len(available) < len(wanted):
            description = _CODE_CLAUSE.sub("", description).strip() or description
        materials = available + new if wanted or not task["depends_on"] else []
        tasks.append({**task, "description": description, "materials": materials})
    return {**example, "goal": asked.request, "tasks": tasks}


def _adopt_shape(asked: PlanningPrompt, example: dict[str, Any]) -> dict[str, Any]:
    """Return a plan with an example's workers and edges, and one task per worker."""
    workers = list(dict.fromkeys(task["worker"] for task in example["tasks"]))
    workers = [worker for worker in workers if worker in asked.cards]
    owner = {task["id"]: task["worker"] for task in example["tasks"]}
    needs: dict[str, list[str]] = {worker: [] for worker in workers}
    for task in example["tasks"]:
        for edge in task["depends_on"]:
            before = owner.get(edge["task"])
            earlier = workers[: workers.index(task["worker"])] if task["worker"] in needs else []
            if before and before in earlier and before not in needs[task["worker"]]:
                needs[task["worker"]].append(before)
    tasks = [_build_task(asked, worker, needs[worker]) for worker in workers]
    return _build_plan(asked, tasks) if tasks else _build_minimal_plan(asked)


def _build_minimal_plan(asked: PlanningPrompt) -> dict[str, Any]:
    """Return a plan for the worker with the nearest card, after one that can begin.

    One that no example shows can begin, as far as is known.
    """
    first = _list_first_workers(asked)
    shown = _list_shown_workers(asked)
    ranked = rank_by_similarity(asked.request, list(asked.cards.values()))
    best = [list(asked.cards)[index] for index, near in ranked if near > 0][:1] or first[:1]
    if best[0] in first or best[0] not in shown:
        return _build_plan(asked, [_build_task(asked, best[0], [])])
    return _build_plan(
        asked, [_build_task(asked, first[0], []), _build_task(asked, best[0], first[:1])]
    )


def _add_table_task(asked: PlanningPrompt, plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with a task on the tables of a request, if none of its workers read them.

    With nothing but tables, and no plan that fits, it is the only task. The examples show which
    worker reads tables; tasks with inputs may use this one too.
    """
    takers = Counter(
        task["worker"]
        for _, example in asked.examples
        for task in example["tasks"]
        if any(is_table_name(name) for name in task.get("materials", ()))
    )
    known = [worker for worker, _ in takers.most_common() if worker in asked.cards]
    is_reading = any(task["worker"] in takers for task in plan["tasks"])
    if not (known and _mentions_table(asked)) or is_reading:
        return plan
    table_task = _build_task(asked, known[0], [])
    if all(is_table_name(name) for name in asked.materials) and len(plan["tasks"]) == 1:
        return {**plan, "tasks": [table_task]}
    edge = {"task": known[0], "required": False}
    tasks = [
        {**task, "depends_on": [*task["depends_on"], edge]} if task["depends_on"] else task
        for task in plan["tasks"]
    ]
    return {**plan, "tasks": [table_task, *tasks]}


def _mentions_table(asked: PlanningPrompt) -> bool:
    """Return whether a request names a table or a column."""
    wanted = set(extract_words(asked.request))
    texts = (f"{name} {line}" for name, line in asked.columns.items())
    return any(wanted & set(extract_words(_SEPARATORS.sub(" ", text))) for text in texts)


def _list_shown_workers(asked: PlanningPrompt) -> set[str]:
    return {task["worker"] for _, example in asked.examples for task in example.get("tasks", ())}


def _list_first_workers(asked: PlanningPrompt) -> list[str]:
    """Return the workers that begin in examples, the most frequent first; without any, all."""
    tasks = [task for _, example in asked.examples for task in example["tasks"]]
    begun = Counter(task["worker"] for task in tasks if not task["depends_on"])
    usual = [worker for worker, _ in begun.most_common() if worker in asked.cards]
    return usual or list(asked.cards) or ["worker"]


def _build_task(asked: PlanningPrompt, worker: str, needs: list[str]) -> dict[str, Any]:
    # A department's request is a task of this model already: its card is not the request.
    request = read_quoted_request(asked.request) or asked.request
    subject = request[:MAX_SUBJECT_CHARS].replace('"', "'").rstrip(". ")
    card = asked.cards.get(worker, "").rstrip(".")
    return {
        "id": worker,
        "description": f'For the request "{subject}": {card[:1].lower()}{card[1:]}. '
        "Give every figure and statement with the name of its source.",
        "worker": worker,
        "depends_on": [{"task": name, "required": False} for name in needs],
        "materials": asked.materials,
    }


def _build_plan(asked: PlanningPrompt, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "goal": asked.request[:4000] or "An empty request",
        "tasks": tasks,
        "aggregation": "merge",
        "final_instruction": "Answer the request with the figures and sources that were found.",
    }


def _strip_folder(name: str) -> str:
    return name.rsplit("/", 1)[-1]
