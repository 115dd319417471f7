"""Plans by hand that no generator would make: no JSON, other shapes, tricks in names, sizes.

Each stands with what its refusal must say.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.bad_plans import MAX_TASKS, PlanJson, good_plan
from tests.endpoint import Said

Json = Any
"""Whatever `json` can say."""


@dataclass(frozen=True)
class OddPlan:
    """What a planner's model says, and the words by which it is refused."""

    kind: str
    said: Json
    """A dict goes out as the arguments of a call, a text as words, a `Said` as it stands."""
    words: tuple[str, ...]
    tries: int = 1
    """Calls until the refusal: what is no JSON object is asked for once more without a word."""


def plan(**fields: Json) -> PlanJson:
    """Give a sound plan of three tasks with other fields."""
    return {**good_plan(Random(3), max_tasks=3), **fields}


def with_task(**fields: Json) -> PlanJson:
    """Give a sound plan whose last task has other fields."""
    made = plan()
    made["tasks"][-1].update(fields)
    return made


def graph(**edges: list[str]) -> PlanJson:
    """Give a plan of tasks that differ, with these dependencies."""
    return plan(tasks=[_task(name, depends_on=needs) for name, needs in edges.items()])


def odd_plans() -> Iterator[OddPlan]:
    """Give all of them."""
    yield from _no_plans()
    yield from _no_json()
    yield from _numbers()
    yield from _nested()
    yield from _doubled()
    yield from _ids()
    yield from _workers()
    yield from _words()
    yield from _edges()
    yield from _knots()
    yield from _materials()
    yield from _huge()


def _task(name: str, **fields: Json) -> dict[str, Json]:
    words = f"List the patents that Bosch filed under number {name}"
    return {"id": name, "description": words, "worker": "analyst", **fields}


def _no_plans() -> Iterator[OddPlan]:
    tasks: Json
    goal: Json
    kind, sound = "another shape", plan()
    for name in ("goal", "tasks"):
        rest = {key: value for key, value in sound.items() if key != name}
        yield OddPlan(kind, rest, (f"{name}: Field required",))
    for name in ("id", "description", "worker"):
        task = {key: value for key, value in _task("T1").items() if key != name}
        yield OddPlan(kind, plan(tasks=[task]), (f"tasks[0].{name}: Field required",))
    yield OddPlan(kind, {}, ("goal: Field required", "tasks: Field required"))
    for name in ("Plan", "plan", "arguments"):
        yield OddPlan(kind, {name: sound}, ("goal: Field required", "tasks: Field required"))
    for tasks in ({}, "T1", None, 5, True, {"T1": _task("T1")}):
        yield OddPlan(kind, plan(tasks=tasks), ("tasks: Input should be a list",))
    yield OddPlan(kind, plan(tasks=[]), ("tasks: the list has too few items",))
    for item in (None, "T1", 5, [_task("T1")]):
        yield OddPlan(kind, plan(tasks=[item]), ("tasks[0]: Input should be an object",))
    for goal in (None, "", [], {}, True, "g" * 4001, "\ud800"):
        yield OddPlan(kind, plan(goal=goal), ("goal: ",))
    yield OddPlan(kind, plan(aggregation="sum"), ("aggregation: Input should be 'merge'",))
    yield OddPlan(kind, plan(final_instruction=None), ("final_instruction: ",))
    yield OddPlan(kind, plan(goal=None, tasks="T1"), ("goal: ", "tasks: "))


def _no_json() -> Iterator[OddPlan]:
    kind, whole = "no JSON", json.dumps(plan())
    none, broken = "no JSON object", "the JSON is broken"
    for words in ("I would rather not.", "null", "[]", "5", '"plan"', "<plan/>", "goal: x"):
        yield OddPlan(kind, words, (none,))
    cut = [whole[: len(whole) * share // 10] for share in (3, 6, 9)]
    comma, quotes = f"{whole[:-1]},}}", whole.replace('"', "'")
    for words in ("{", *cut, comma, quotes, f"My plan:\n```json\n{cut[2]}\n```\nThat is all."):
        yield OddPlan(kind, words, (broken,))
    for words, problem in (("rather not", none), (cut[2], broken), (comma, broken), ("[1]", none)):
        yield OddPlan(kind, Said("Plan", words), (problem,), tries=2)
    for words in ("null", "[]", '""'):
        yield OddPlan(kind, Said("Plan", words), ("goal: Field required",))
    yield OddPlan(
        kind, Said("Plan", plan(), (("Plan", plan(goal="Another.")),)), ("was called 2 times",)
    )


def _numbers() -> Iterator[OddPlan]:
    kind, whole = "no JSON number", json.dumps(plan())
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        words = whole.replace('"goal"', f'"weight": {number}, "goal"')
        yield OddPlan(kind, words, ("no JSON number",))
        yield OddPlan(kind, Said("Plan", words), ("no JSON number",))
    yield OddPlan(kind, plan(weight=2**70), ("more than 64 bits",))


def _nested() -> Iterator[OddPlan]:
    kind, sound = "deep nesting", plan()
    for depth in (100, 800):
        deep: list[Json] = []
        for _ in range(depth):
            deep = [deep]
        yield OddPlan(kind, plan(goal=deep), ("goal: Input should be a valid string",))
        yield OddPlan(kind, with_task(depends_on=deep), ("Input should be an object",))
    words = json.dumps(sound).replace('"goal": ', f'"mood": {"[" * 5000}{"]" * 5000}, "goal": ')
    yield OddPlan(kind, words, ("nested too deep",))
    yield OddPlan(kind, Said("Plan", words), ("nested too deep",), tries=2)


def _doubled() -> Iterator[OddPlan]:
    kind, whole = "a key twice", json.dumps(plan())
    for words in (
        whole.replace('"tasks": ', '"tasks": [], "tasks": '),
        whole[:-1] + ', "tasks": []}',
        whole.replace('"goal": ', '"goal": "Another goal.", "goal": '),
    ):
        yield OddPlan(kind, words, ("stands twice",))
    worker = whole.replace('"worker": ', '"worker": "writer ", "worker": ', 1)
    yield OddPlan(kind, worker, ("'worker' stands twice",))
    # LangChain reads a call's arguments as Python reads JSON: the last value counts.
    last = Said("Plan", whole[:-1] + ', "tasks": []}')
    yield OddPlan(kind, last, ("tasks: the list has too few items",))


def _ids() -> Iterator[OddPlan]:
    name: Json
    paths = ("../T1", "a/b", "a\\b", "/etc/passwd", "C:", "~", "a b", "T1?", "a%2Fb", "$HOME")
    tricks = (
        "T3 ",
        " T3",
        "T3\n",
        "T3\0",
        "T3\u200b",
        "\u202eT3",
        "\uff343",
        "\u04223",
        "é",
        "日本",
        "😀",
    )
    own = ("@plan", "earlier/T1", "T1#2", "", "x" * 41)
    for kind, names in (("path in an id", paths), ("trick in an id", tricks), ("no id", own)):
        for name in names:
            yield OddPlan(kind, with_task(id=name), ("tasks[2].id: ",))
    for name in (None, [], {}, True, "\ud800"):
        yield OddPlan("no id", with_task(id=name), ("tasks[2].id: Input should be a valid string",))


def _workers() -> Iterator[OddPlan]:
    name: Json
    kind, near = "trick in a worker", "did you mean 'analyst'"
    # A trailing space, the case, a Cyrillic a, a soft hyphen, a zero-width space.
    for name in ("analyst ", " analyst", "Analyst", "ANALYST", "\u0430nalyst", "analyst\n"):
        yield OddPlan(kind, with_task(worker=name), ("unknown worker", near))
    for name in ("ana\xadlyst", "analyst\u200b", "analyst\0", "analysts", "analyst,writer"):
        yield OddPlan(kind, with_task(worker=name), ("unknown worker", near))
    for name in ("\uff41nalyst", "\u202etsylana", "supervisor", "synthesizer", "__end__", 5, "*"):
        yield OddPlan(kind, with_task(worker=name), ("unknown worker", "researcher, analyst"))
    for name in (None, [], {}, ["analyst"], True, "\ud800", "", "x" * 41):
        yield OddPlan("no worker", with_task(worker=name), ("tasks[2].worker: ",))


def _words() -> Iterator[OddPlan]:
    words: Json
    for words in (None, [], {}, True, "", "x " * 2001, "\ud800 Compute the margin of Maersk"):
        yield OddPlan("no description", with_task(description=words), ("tasks[2].description: ",))
    for words in ("   ", "\u200b", "\0", ".", "12345", 12345, "👍"):
        kind = "empty description"
        yield OddPlan(kind, with_task(description=words), ("'T3' has no words", "what to work on"))


def _edges() -> Iterator[OddPlan]:
    needs: Json
    kind, place = "odd dependency", "tasks[2].depends_on"
    for needs in ("T9", 99, 0, {"task": "T9"}, ["t1"], [1], "none"):
        yield OddPlan(kind, with_task(depends_on=needs), ("no task of the plan",))
    for needs in (True, False, "", "T1, T2", [""], ["T1 "], ["T1\u200b"], ["\u04221"], "T1;T2"):
        yield OddPlan(kind, with_task(depends_on=needs), (f"{place}[0].task: ",))
    for needs in ([None], [["T1"]], [[]], [[["T1", "T2"]]]):
        yield OddPlan(kind, with_task(depends_on=needs), (f"{place}[0]: Input should be an",))
    for needs in ({"T1": True}, {"id": "T1"}, {}, [{}], {"task": None}, {"task": ["T1"]}):
        yield OddPlan(kind, with_task(depends_on=needs), (f"{place}[0].task: ",))
    yield OddPlan(kind, with_task(depends_on=1.5), (f"{place}: Input should be a list",))
    maybe = {"task": "T1", "required": "maybe"}
    yield OddPlan(kind, with_task(depends_on=[maybe]), (f"{place}[0].required: ",))
    both = ["T1", {"task": "T1", "required": False}]
    yield OddPlan(kind, with_task(depends_on=both), ("'T3' both requires 'T1' and does not",))
    kind = "edge under another key"
    for key, needs in (("dependencies", ["T1"]), ("dependsOn", "T1"), ("after", [{"id": "T2"}])):
        yield OddPlan(kind, with_task(**{key: needs}), (f"tasks[2].{key}: there is no such key",))
    for edges in ([["T1", "T2"]], {"T2": ["T1"]}, [{"from": "T1", "to": "T2"}]):
        yield OddPlan(kind, plan(edges=edges), ("edges: there is no such key",))


def _knots() -> Iterator[OddPlan]:
    kind = "cycles"
    yield OddPlan(kind, graph(A=["B", "A"], B=["A"]), ("cycle: ", "'A' depends on itself"))
    two = graph(A=["B"], B=["A"], C=["D"], D=["E"], E=["C"])
    yield OddPlan(kind, two, ("cycle: A -> B", "cycle: C -> "))
    yield OddPlan(kind, graph(A=["B", "C"], B=["A"], C=["A"]), ("cycle: A -> ",))
    mixed = graph(A=["B"], B=["A"], C=["C"], D=["Z"])
    yield OddPlan(kind, mixed, ("cycle: ", "'C' depends on itself", "depends on 'Z'"))
    many = graph(**{f"S{n}": [f"S{n}"] for n in range(40)})
    yield OddPlan(kind, many, ("'S0' depends on itself", "and 28 more"))


def _materials() -> Iterator[OddPlan]:
    names: Json
    kind, known = "odd material", "the materials are contract.pdf, sales.csv"
    for name in ("offer.pdf", "*", "", ".", "/etc/passwd", 5):
        yield OddPlan(kind, with_task(materials=[name]), ("unknown material", known))
    near = "did you mean 'sales.csv'"
    for name in ("sales.csv ", "Sales.csv", "../sales.csv", "sales.csv\u200b", "\u0455ales.csv"):
        yield OddPlan(kind, with_task(materials=[name]), ("unknown material", near))
    for names in (5, True, {}, {"sales.csv": "x"}):
        odd = with_task(materials=names)
        yield OddPlan(kind, odd, ("tasks[2].materials: Input should be a list",))
    for names in ([None], [["sales.csv"]], [{"name": "sales.csv"}]):
        yield OddPlan(kind, with_task(materials=names), ("tasks[2].materials[0]: ",))


def _huge() -> Iterator[OddPlan]:
    kind, ids = "1,000 tasks", [f"T{n}" for n in range(1000)]
    size = f"has 1000 tasks: at most {MAX_TASKS}"
    yield OddPlan(kind, plan(tasks=[_task(name) for name in ids]), (size,))
    chain = [_task(name, depends_on=ids[n - 1 : n]) for n, name in enumerate(ids)]
    yield OddPlan(kind, plan(tasks=chain), (size, "is 1000 tasks long"))
    ring = [_task(name, depends_on=[ids[n - 1]]) for n, name in enumerate(ids)]
    yield OddPlan(kind, plan(tasks=ring), ("cycle: ",))
    alike = [_task("T1")] * 1000
    yield OddPlan(kind, plan(tasks=alike), ("duplicate task id 'T1'",))
    cooks = [_task(name, worker="cook") for name in ids]
    yield OddPlan(kind, plan(tasks=cooks), (size,))
    nobody = [_task(name, worker=None) for name in ids]
    yield OddPlan(kind, plan(tasks=nobody), ("tasks[0].worker: ", "and 988 more"))
