"""Plans by hand that no generator would make: no JSON, other shapes, tricks in names, sizes.

Each stands with what its refusal must say.
"""

import json
from collections.abc import Iterator
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
    yield from _list_bad_ids()
    yield from _list_bad_workers()
    yield from _list_bad_descriptions()
    yield from _list_bad_edges()
    yield from _list_cycles()
    yield from _list_bad_materials()
    yield from _list_huge_plans()


def _make_task(name: str, **fields: Json) -> dict[str, Json]:
    words = f"List the patents that Bosch filed under number {name}"
    return {"id": name, "description": words, "worker": "analyst", **fields}


def _list_wrong_shapes() -> Iterator[MalformedPlan]:
    tasks: Json
    goal: Json
    kind, sound = "another shape", make_plan()
    rest = {key: value for key, value in sound.items() if key != "tasks"}
    yield MalformedPlan(kind, rest, ("tasks: Field required",))
    for name in ("id", "description", "worker"):
        task = {key: value for key, value in _make_task("T1").items() if key != name}
        yield MalformedPlan(kind, make_plan(tasks=[task]), (f"tasks[0].{name}: Field required",))
    yield MalformedPlan(kind, {}, ("tasks: Field required",))
    for name in ("Plan", "plan"):
        yield MalformedPlan(kind, {name: sound}, ("tasks: Field required",))
    for tasks in ({}, "T1", None, 5, True, {"T1": _make_task("T1")}):
        yield MalformedPlan(kind, make_plan(tasks=tasks), ("tasks: Input should be a list",))
    yield MalformedPlan(kind, make_plan(tasks=[]), ("tasks: the list has too few items",))
    for item in (None, "T1", 5, [_make_task("T1")]):
        yield MalformedPlan(kind, make_plan(tasks=[item]), ("tasks[0]: Input should be an object",))
    for goal in (True, ["g"], "g" * 4001):
        yield MalformedPlan(kind, make_plan(goal=goal), ("goal: ",))
    yield MalformedPlan(
        kind, make_plan(aggregation="sum"), ("aggregation: Input should be 'merge'",)
    )
    yield MalformedPlan(kind, make_plan(final_instruction=None), ("final_instruction: ",))
    yield MalformedPlan(kind, make_plan(goal=True, tasks="T1"), ("goal: ", "tasks: "))


def _list_broken_json() -> Iterator[MalformedPlan]:
    kind, whole = "no JSON", json.dumps(make_plan())
    none, broken = "no JSON object", "the JSON is broken"
    for words in ("I would rather not.", "null", "[]", "5", '"plan"', "<plan/>", "goal: x"):
        yield MalformedPlan(kind, words, (none,), tries=3)
    cut = [whole[: len(whole) * share // 10] for share in (3, 6, 9)]
    comma, quotes = f"{whole[:-1]},}}", whole.replace('"', "'")
    for words in ("{", *cut, comma, quotes, f"My plan:\n```json\n{cut[2]}\n```\nThat is all."):
        yield MalformedPlan(kind, words, (broken,))
    for words, problem in (("rather not", none), (cut[2], broken), (comma, broken), ("[1]", none)):
        yield MalformedPlan(kind, ModelReply("Plan", words), (problem,), tries=2)
    for words in ("null", "[]", '""'):
        yield MalformedPlan(kind, ModelReply("Plan", words), ("tasks: Field required",))
    yield MalformedPlan(
        kind,
        ModelReply("Plan", make_plan(), (("Plan", make_plan(goal="Another.")),)),
        ("was called 2 times",),
    )


def _list_bad_numbers() -> Iterator[MalformedPlan]:
    kind, whole = "no JSON number", json.dumps(make_plan())
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        words = whole.replace('"goal"', f'"weight": {number}, "goal"')
        yield MalformedPlan(kind, words, ("JSON number",))
        yield MalformedPlan(kind, ModelReply("Plan", words), ("JSON number",))
    yield MalformedPlan(kind, make_plan(weight=2**70), ("more than 64 bits",))


def _list_deep_nesting() -> Iterator[MalformedPlan]:
    kind, sound = "deep nesting", make_plan()
    deep: list[Json] = []
    for _ in range(90):
        deep = [deep]
    yield MalformedPlan(kind, make_plan(goal=deep), ("goal: Input should be a valid string",))
    yield MalformedPlan(kind, make_plan_with_task(depends_on=deep), ("Input should be an object",))
    for _ in range(400):
        deep = [deep]
    yield MalformedPlan(kind, make_plan(goal=deep), ("nested too deep",))
    called = ModelReply("Plan", make_plan(goal=deep))
    yield MalformedPlan(kind, called, ("nested too deep",), tries=2)
    words = json.dumps(sound).replace('"goal": ', f'"mood": {"[" * 5000}{"]" * 5000}, "goal": ')
    yield MalformedPlan(kind, words, ("nested too deep",))
    yield MalformedPlan(kind, ModelReply("Plan", words), ("nested too deep",), tries=2)


def _list_repeated_keys() -> Iterator[MalformedPlan]:
    kind, whole = "a key twice", json.dumps(make_plan())
    for words in (
        whole.replace('"tasks": ', '"tasks": [], "tasks": '),
        whole[:-1] + ', "tasks": []}',
        whole.replace('"goal": ', '"goal": "Another goal.", "goal": '),
    ):
        yield MalformedPlan(kind, words, ("appears twice",))
    worker = whole.replace('"worker": ', '"worker": "writer ", "worker": ', 1)
    yield MalformedPlan(kind, worker, ("'worker' appears twice",))
    # LangChain reads a call's arguments as Python reads JSON: the last value counts.
    last = ModelReply("Plan", whole[:-1] + ', "tasks": []}')
    yield MalformedPlan(kind, last, ("tasks: the list has too few items",))


def _list_bad_ids() -> Iterator[MalformedPlan]:
    name: Json
    paths = ("../T1", "a/b", "a\\b", "/etc/passwd", "C:", "~", "T1?", "a%2Fb", "$HOME")
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
    own = ("@plan", "earlier/T1", "T1#2", "", "x" * 401)
    for kind, names in (("path in an id", paths), ("trick in an id", tricks), ("no id", own)):
        for name in names:
            yield MalformedPlan(kind, make_plan_with_task(id=name), ("tasks[2].id: ",))
    for name in (None, [], {}, True):
        yield MalformedPlan(
            "no id", make_plan_with_task(id=name), ("tasks[2].id: Input should be a valid string",)
        )


def _list_bad_workers() -> Iterator[MalformedPlan]:
    name: Json
    kind, near = "trick in a worker", "did you mean 'analyst'"
    # A Cyrillic a, a soft hyphen, a zero-width space.
    for name in (
        *("\u0430nalyst", "ana\xadlyst", "analyst\u200b", "analyst\0"),
        *("analysts", "analyst,writer"),
    ):
        yield MalformedPlan(kind, make_plan_with_task(worker=name), ("unknown worker", near))
    for name in ("\uff41nalyst", "\u202etsylana", "supervisor", "synthesizer", "__end__", 5, "*"):
        yield MalformedPlan(
            kind, make_plan_with_task(worker=name), ("unknown worker", "researcher, analyst")
        )
    for name in (None, [], {}, ["analyst"], True, "", "x" * 41):
        yield MalformedPlan("no worker", make_plan_with_task(worker=name), ("tasks[2].worker: ",))


def _list_bad_descriptions() -> Iterator[MalformedPlan]:
    words: Json
    for words in (None, [], {}, True, "", "x " * 2001):
        yield MalformedPlan(
            "no description", make_plan_with_task(description=words), ("tasks[2].description: ",)
        )
    for words in ("   ", "\u200b", "\0", ".", "12345", 12345, "👍"):
        kind = "empty description"
        yield MalformedPlan(
            kind, make_plan_with_task(description=words), ("'T3' has no words", "what to work on")
        )


def _list_bad_edges() -> Iterator[MalformedPlan]:
    needs: Json
    kind, place = "odd dependency", "tasks[2].depends_on"
    for needs in (True, False):
        yield MalformedPlan(kind, make_plan_with_task(depends_on=needs), (f"{place}[0].task: ",))
    for needs in ([None], [["T1"]], [[]], [[["T1", "T2"]]]):
        yield MalformedPlan(
            kind, make_plan_with_task(depends_on=needs), (f"{place}[0]: Input should be an",)
        )
    for needs in ({"T1": True}, {"id": "T1"}, {}, [{}], {"task": None}, {"task": ["T1"]}):
        yield MalformedPlan(kind, make_plan_with_task(depends_on=needs), (f"{place}[0].task: ",))
    yield MalformedPlan(
        kind, make_plan_with_task(depends_on=1.5), (f"{place}: Input should be a list",)
    )
    maybe = {"task": "T1", "required": "maybe"}
    yield MalformedPlan(kind, make_plan_with_task(depends_on=[maybe]), (f"{place}[0].required: ",))
    both = ["T1", {"task": "T1", "required": False}]
    yield MalformedPlan(
        kind, make_plan_with_task(depends_on=both), ("'T3' both requires 'T1' and does not",)
    )
    kind = "edge under another key"
    for key, needs in (("dependencies", ["T1"]), ("dependsOn", "T1"), ("after", [{"id": "T2"}])):
        yield MalformedPlan(
            kind, make_plan_with_task(**{key: needs}), (f"tasks[2].{key}: there is no such key",)
        )
    for edges in ([["T1", "T2"]], {"T2": ["T1"]}, [{"from": "T1", "to": "T2"}]):
        yield MalformedPlan(kind, make_plan(edges=edges), ("edges: there is no such key",))


def _list_cycles() -> Iterator[MalformedPlan]:
    kind = "cycles"
    yield MalformedPlan(
        kind, make_plan_graph(A=["B", "A"], B=["A"]), ("cycle: ", "'A' depends on itself")
    )
    two = make_plan_graph(A=["B"], B=["A"], C=["D"], D=["E"], E=["C"])
    yield MalformedPlan(kind, two, ("cycle: A -> B", "cycle: C -> "))
    yield MalformedPlan(kind, make_plan_graph(A=["B", "C"], B=["A"], C=["A"]), ("cycle: A -> ",))
    mixed = make_plan_graph(A=["B"], B=["A"], C=["C"], D=["Z"])
    yield MalformedPlan(kind, mixed, ("cycle: ", "'C' depends on itself"))
    many = make_plan_graph(**{f"S{n}": [f"S{n}"] for n in range(40)})
    yield MalformedPlan(kind, many, ("'S0' depends on itself", "and 28 more"))


def _list_bad_materials() -> Iterator[MalformedPlan]:
    names: Json
    kind, known = "odd material", "the materials are contract.pdf, sales.csv"
    for name in ("offer.pdf", "*", "", ".", "/etc/passwd", 5):
        yield MalformedPlan(
            kind, make_plan_with_task(materials=[name]), ("unknown material", known)
        )
    near = "did you mean 'sales.csv'"
    for name in ("sale.csv", "sales.csvs", "sales.csv\u200b", "\u0455ales.csv"):
        yield MalformedPlan(kind, make_plan_with_task(materials=[name]), ("unknown material", near))
    for names in (5, True, {}, {"sales.csv": "x"}):
        odd = make_plan_with_task(materials=names)
        yield MalformedPlan(kind, odd, ("tasks[2].materials: Input should be a list",))
    for names in ([None], [["sales.csv"]], [{"name": "sales.csv"}]):
        yield MalformedPlan(
            kind, make_plan_with_task(materials=names), ("tasks[2].materials[0]: ",)
        )


def _list_huge_plans() -> Iterator[MalformedPlan]:
    kind, ids = "1,000 tasks", [f"T{n}" for n in range(1000)]
    size = f"has 1000 tasks: at most {MAX_TASKS}"
    yield MalformedPlan(kind, make_plan(tasks=[_make_task(name) for name in ids]), (size,))
    chain = [_make_task(name, depends_on=ids[n - 1 : n]) for n, name in enumerate(ids)]
    yield MalformedPlan(kind, make_plan(tasks=chain), (size, "is 1000 tasks long"))
    ring = [_make_task(name, depends_on=[ids[n - 1]]) for n, name in enumerate(ids)]
    yield MalformedPlan(kind, make_plan(tasks=ring), ("cycle: ",))
    alike = [_make_task("T1", description=f"List patent {number}") for number in range(1000)]
    yield MalformedPlan(kind, make_plan(tasks=alike), ("duplicate task id 'T1'",))
    cooks = [_make_task(name, worker="cook") for name in ids]
    yield MalformedPlan(kind, make_plan(tasks=cooks), (size,))
    unassigned = [_make_task(name, worker=None) for name in ids]
    yield MalformedPlan(kind, make_plan(tasks=unassigned), ("tasks[0].worker: ", "and 988 more"))
