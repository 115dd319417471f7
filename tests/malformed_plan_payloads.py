"""Plans by hand that no generator would make: no JSON, other shapes, tricks in names, sizes.

Each stands with what its refusal must say.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.endpoint import ModelReply
from tests.plan_payloads import MAX_TASKS, PlanJson, make_good_plan

Json = Any
"""Whatever `json` can say."""


@dataclass(frozen=True)
class MalformedPlan:
    """What a planner's model says, and the words by which it is refused."""

    kind: str
    payload: Json
    """A dict goes out as the arguments of a call, a text as words, a `Said` as it stands."""
    refusal_words: tuple[str, ...]
    tries: int = 1
    """Calls until the refusal: what holds no JSON is asked for once more, by another method."""


def make_plan(**fields: Json) -> PlanJson:
    """Return a sound plan of three tasks with other fields."""
    return {**make_good_plan(Random(3), max_tasks=3), **fields}


def make_plan_with_task(**fields: Json) -> PlanJson:
    """Return a sound plan whose last task has other fields."""
    made = make_plan()
    made["tasks"][-1].update(fields)
    return made


def make_plan_graph(**edges: list[str]) -> PlanJson:
    """Return a plan of tasks that differ, with these dependencies."""
    return make_plan(tasks=[_make_task(name, depends_on=needs) for name, needs in edges.items()])


def list_malformed_plans() -> Iterator[MalformedPlan]:
    """Return all of them."""
    yield from _list_wrong_shapes()
    yield from _list_broken_json()
    yield from _list_bad_numbers()
    yield from _list_deep_nesting()
    yield from _list_repeated_keys()
    yield from _list_bad_fields()
    yield from _list_bad_edges()
    yield from _list_cycles()
    yield from _list_huge_plans()


def _refuse(
    kind: str, words: str | tuple[str, ...], *payloads: Json, tries: int = 1
) -> Iterator[MalformedPlan]:
    """Yield payloads that are refused in the same words."""
    said = (words,) if isinstance(words, str) else words
    yield from (MalformedPlan(kind, payload, said, tries) for payload in payloads)


def _refuse_task(
    kind: str, words: str | tuple[str, ...], name: str, values: Iterable[Json]
) -> Iterator[MalformedPlan]:
    """Yield plans whose last task has one of these values in a field."""
    yield from _refuse(kind, words, *(make_plan_with_task(**{name: each}) for each in values))


def _make_task(name: str, **fields: Json) -> dict[str, Json]:
    words = f"List the patents that Bosch filed under number {name}"
    return {"id": name, "description": words, "worker": "analyst", **fields}


def _list_wrong_shapes() -> Iterator[MalformedPlan]:
    kind, sound, lacking = "another shape", make_plan(), "tasks: Field required"
    rest = {key: value for key, value in sound.items() if key != "tasks"}
    yield from _refuse(kind, lacking, rest)
    for name in ("id", "description", "worker"):
        task = {key: value for key, value in _make_task("T1").items() if key != name}
        yield from _refuse(kind, f"tasks[0].{name}: Field required", make_plan(tasks=[task]))
    yield from _refuse(kind, lacking, {}, {"Plan": sound}, {"plan": sound})
    for tasks in ({}, "T1", None, 5, True, {"T1": _make_task("T1")}):
        yield from _refuse(kind, "tasks: Input should be a list", make_plan(tasks=tasks))
    yield from _refuse(kind, "tasks: the list has too few items", make_plan(tasks=[]))
    for item in (None, "T1", 5, [_make_task("T1")]):
        yield from _refuse(kind, "tasks[0]: Input should be an object", make_plan(tasks=[item]))
    for goal in (True, ["g"], "g" * 4001):
        yield from _refuse(kind, "goal: ", make_plan(goal=goal))
    yield from _refuse(kind, "aggregation: Input should be 'merge'", make_plan(aggregation="sum"))
    yield from _refuse(kind, "final_instruction: ", make_plan(final_instruction=None))
    yield from _refuse(kind, ("goal: ", "tasks: "), make_plan(goal=True, tasks="T1"))


def _list_broken_json() -> Iterator[MalformedPlan]:
    kind, whole = "no JSON", json.dumps(make_plan())
    none, broken = "no JSON object", "the JSON is broken"
    said = ("I would rather not.", "null", "[]", "5", '"plan"', "<plan/>", "goal: x")
    yield from _refuse(kind, none, *said, tries=3)
    cut = [whole[: len(whole) * share // 10] for share in (3, 6, 9)]
    comma, quotes = f"{whole[:-1]},}}", whole.replace('"', "'")
    fenced = f"My plan:\n```json\n{cut[2]}\n```\nThat is all."
    yield from _refuse(kind, broken, "{", *cut, comma, quotes, fenced)
    for words, problem in (("rather not", none), (cut[2], broken), (comma, broken), ("[1]", none)):
        yield from _refuse(kind, problem, ModelReply("Plan", words), tries=2)
    empty = (ModelReply("Plan", words) for words in ("null", "[]", '""'))
    yield from _refuse(kind, "tasks: Field required", *empty)
    two = ModelReply("Plan", make_plan(), (("Plan", make_plan(goal="Another.")),))
    yield from _refuse(kind, "was called 2 times", two)


def _list_bad_numbers() -> Iterator[MalformedPlan]:
    kind, whole = "no JSON number", json.dumps(make_plan())
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        words = whole.replace('"goal"', f'"weight": {number}, "goal"')
        yield from _refuse(kind, "JSON number", words, ModelReply("Plan", words))
    yield from _refuse(kind, "more than 64 bits", make_plan(weight=2**70))


def _list_deep_nesting() -> Iterator[MalformedPlan]:
    kind, sound, problem = "deep nesting", make_plan(), "nested too deep"
    deep: list[Json] = []
    for _ in range(90):
        deep = [deep]
    yield from _refuse(kind, "goal: Input should be a valid string", make_plan(goal=deep))
    yield from _refuse_task(kind, "Input should be an object", "depends_on", [deep])
    for _ in range(400):
        deep = [deep]
    yield from _refuse(kind, problem, make_plan(goal=deep))
    yield from _refuse(kind, problem, ModelReply("Plan", make_plan(goal=deep)), tries=2)
    words = json.dumps(sound).replace('"goal": ', f'"mood": {"[" * 5000}{"]" * 5000}, "goal": ')
    yield from _refuse(kind, problem, words)
    yield from _refuse(kind, problem, ModelReply("Plan", words), tries=2)


def _list_repeated_keys() -> Iterator[MalformedPlan]:
    kind, whole = "a key twice", json.dumps(make_plan())
    yield from _refuse(
        kind,
        "appears twice",
        whole.replace('"tasks": ', '"tasks": [], "tasks": '),
        whole[:-1] + ', "tasks": []}',
        whole.replace('"goal": ', '"goal": "Another goal.", "goal": '),
    )
    worker = whole.replace('"worker": ', '"worker": "writer ", "worker": ', 1)
    yield from _refuse(kind, "'worker' appears twice", worker)
    # LangChain reads a call's arguments as Python reads JSON: the last value counts.
    last = ModelReply("Plan", whole[:-1] + ', "tasks": []}')
    yield from _refuse(kind, "tasks: the list has too few items", last)


def _list_bad_fields() -> Iterator[MalformedPlan]:
    paths = ("../T1", "a/b", "a\\b", "/etc/passwd", "C:", "~", "T1?", "a%2Fb", "$HOME")
    tricks = (
        *("T3 ", " T3", "T3\n", "T3\0", "T3\u200b", "\u202eT3", "\uff343", "\u04223"),
        *("é", "日本", "😀"),
    )
    own = ("@plan", "earlier/T1", "T1#2", "", "x" * 401)
    for kind, names in (("path in an id", paths), ("trick in an id", tricks), ("no id", own)):
        yield from _refuse_task(kind, "tasks[2].id: ", "id", names)
    no_text = "tasks[2].id: Input should be a valid string"
    yield from _refuse_task("no id", no_text, "id", (None, [], {}, True))
    # A Cyrillic a, a soft hyphen, a zero-width space.
    near = ("\u0430nalyst", "ana\xadlyst", "analyst\u200b", "analyst\0", "analysts")
    others = ("\uff41nalyst", "\u202etsylana", "supervisor", "synthesizer", "__end__", 5, "*")
    kind, known = "trick in a worker", ("unknown worker", "did you mean 'analyst'")
    yield from _refuse_task(kind, known, "worker", (*near, "analyst,writer"))
    yield from _refuse_task(kind, ("unknown worker", "researcher, analyst"), "worker", others)
    none: tuple[Json, ...] = (None, [], {}, ["analyst"], True, "", "x" * 41)
    yield from _refuse_task("no worker", "tasks[2].worker: ", "worker", none)
    none = (None, [], {}, True, "", "x " * 2001)
    yield from _refuse_task("no description", "tasks[2].description: ", "description", none)
    empty, words = ("   ", "\u200b", "\0", ".", "12345", 12345, "👍"), "'T3' has no words"
    yield from _refuse_task("empty description", (words, "what to work on"), "description", empty)
    kind, known = "odd material", ("unknown material", "the materials are contract.pdf, sales.csv")
    far = ("offer.pdf", "*", "", ".", "/etc/passwd", 5)
    yield from _refuse_task(kind, known, "materials", ([each] for each in far))
    known = ("unknown material", "did you mean 'sales.csv'")
    alike = ("sale.csv", "sales.csvs", "sales.csv\u200b", "\u0455ales.csv")
    yield from _refuse_task(kind, known, "materials", ([each] for each in alike))
    no_list = "tasks[2].materials: Input should be a list"
    yield from _refuse_task(kind, no_list, "materials", (5, True, {}, {"sales.csv": "x"}))
    odd = ([None], [["sales.csv"]], [{"name": "sales.csv"}])
    yield from _refuse_task(kind, "tasks[2].materials[0]: ", "materials", odd)


def _list_bad_edges() -> Iterator[MalformedPlan]:
    kind, name, place = "odd dependency", "depends_on", "tasks[2].depends_on"
    yield from _refuse_task(kind, f"{place}[0].task: ", name, (True, False))
    lists: tuple[Json, ...] = ([None], [["T1"]], [[]], [[["T1", "T2"]]])
    yield from _refuse_task(kind, f"{place}[0]: Input should be an", name, lists)
    objects: tuple[Json, ...] = (
        {"T1": True},
        {"id": "T1"},
        {},
        [{}],
        {"task": None},
        {"task": ["T1"]},
    )
    yield from _refuse_task(kind, f"{place}[0].task: ", name, objects)
    yield from _refuse_task(kind, f"{place}: Input should be a list", name, [1.5])
    maybe, both = {"task": "T1", "required": "maybe"}, ["T1", {"task": "T1", "required": False}]
    yield from _refuse_task(kind, f"{place}[0].required: ", name, [[maybe]])
    yield from _refuse_task(kind, "'T3' both requires 'T1' and does not", name, [both])
    kind = "edge under another key"
    for key, needs in (("dependencies", ["T1"]), ("dependsOn", "T1"), ("after", [{"id": "T2"}])):
        yield from _refuse_task(kind, f"tasks[2].{key}: there is no such key", key, [needs])
    for edges in ([["T1", "T2"]], {"T2": ["T1"]}, [{"from": "T1", "to": "T2"}]):
        yield from _refuse(kind, "edges: there is no such key", make_plan(edges=edges))


def _list_cycles() -> Iterator[MalformedPlan]:
    kind = "cycles"
    own = make_plan_graph(A=["B", "A"], B=["A"])
    yield from _refuse(kind, ("cycle: ", "'A' depends on itself"), own)
    two = make_plan_graph(A=["B"], B=["A"], C=["D"], D=["E"], E=["C"])
    yield from _refuse(kind, ("cycle: A -> B", "cycle: C -> "), two)
    yield from _refuse(kind, "cycle: A -> ", make_plan_graph(A=["B", "C"], B=["A"], C=["A"]))
    mixed = make_plan_graph(A=["B"], B=["A"], C=["C"], D=["Z"])
    yield from _refuse(kind, ("cycle: ", "'C' depends on itself"), mixed)
    many = make_plan_graph(**{f"S{n}": [f"S{n}"] for n in range(40)})
    yield from _refuse(kind, ("'S0' depends on itself", "and 28 more"), many)


def _list_huge_plans() -> Iterator[MalformedPlan]:
    kind, ids = "1,000 tasks", [f"T{n}" for n in range(1000)]
    size = f"has 1000 tasks: at most {MAX_TASKS}"
    yield from _refuse(kind, size, make_plan(tasks=[_make_task(name) for name in ids]))
    chain = [_make_task(name, depends_on=ids[n - 1 : n]) for n, name in enumerate(ids)]
    yield from _refuse(kind, (size, "is 1000 tasks long"), make_plan(tasks=chain))
    ring = [_make_task(name, depends_on=[ids[n - 1]]) for n, name in enumerate(ids)]
    yield from _refuse(kind, "cycle: ", make_plan(tasks=ring))
    alike = [_make_task("T1", description=f"List patent {number}") for number in range(1000)]
    yield from _refuse(kind, "duplicate task id 'T1'", make_plan(tasks=alike))
    cooks = [_make_task(name, worker="cook") for name in ids]
    yield from _refuse(kind, size, make_plan(tasks=cooks))
    unassigned = [_make_task(name, worker=None) for name in ids]
    yield from _refuse(kind, ("tasks[0].worker: ", "and 988 more"), make_plan(tasks=unassigned))
