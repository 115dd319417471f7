"""Plans a planner's model may give, good and bad, with the names of their faults."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from hypothesis import strategies as st

from nodes.schemas.team import Team, Worker

PlanFault = Literal[
    "unknown_worker",
    "duplicate_id",
    "unknown_dependency",
    "self_dependency",
    "cycle",
    "vague_task",
    "misfit_task",
    "too_many_tasks",
    "too_deep",
    "repeated_task",
    "unknown_material",
]
# `Any`: a plan as JSON, which may be of the wrong shape.
PlanJson = dict[str, Any]

MAX_TASKS = 12
MATERIALS = ("contract.pdf", "sales.csv")
TEAM = Team(
    name="planners",
    description="Finds, computes and writes.",
    guidance="Plan.",
    workers=(
        Worker(
            name="researcher",
            description="Finds facts on the web.",
            instructions="Find.",
            tools=("web_search", "fetch_page"),
        ),
        Worker(
            name="analyst",
            description="Computes on tables.",
            instructions="Compute.",
            tools=("calculate", "query_database"),
        ),
        Worker(
            name="writer",
            description="Writes the text of documents.",
            instructions="Write.",
            tools=("format_document",),
        ),
    ),
    max_depth=4,
)

FAULT_WORDS: dict[PlanFault, str] = {
    "unknown_worker": "unknown worker",
    "duplicate_id": "duplicate task id",
    "unknown_dependency": "no task of the plan",
    "self_dependency": "depends on itself",
    "cycle": "cycle",
    "vague_task": "vague",
    "misfit_task": "tool",
    "too_many_tasks": f"at most {MAX_TASKS}",
    "too_deep": f"at most {TEAM.max_depth}",
    "repeated_task": "same work",
    "unknown_material": "unknown material",
}
"""Words by which a refusal names a fault."""

_SUBJECTS = ("Siemens", "Nestlé", "Toyota", "Maersk", "Novartis", "Ørsted", "Samsung", "Embraer")
_PATTERNS = (
    "List the patents {} filed in {}",
    "Compute the operating margin of {} for {}",
    "Find who chaired the board of {} in {}",
    "Draft a paragraph on the dividend {} paid in {}",
    "Compare the revenue of {} in {} with the year before",
)
_VAGUE_DESCRIPTIONS = (
    "Analyze the data",
    "Do research",
    "Handle the rest",
    "Look into it",
    "Improve things",
)


@dataclass(frozen=True)
class BadPlan:
    """A plan as JSON, its faults, and the tasks each fault lies in."""

    plan: PlanJson
    faults: dict[PlanFault, tuple[str, ...]]

    def list_reported_faults(self) -> list[PlanFault]:
        """List the faults that are told at once: what is no graph is not held against a team."""
        if structural := [fault for fault in self.faults if fault in STRUCTURAL_FAULTS]:
            return structural
        if len(self.plan["tasks"]) > MAX_TASKS:
            return [fault for fault in self.faults if fault in ("too_many_tasks", "too_deep")]
        return list(self.faults)


def make_good_plan(random: Random, *, max_tasks: int = 8) -> PlanJson:
    """Make a plan without faults: a random graph of tasks that all differ."""
    pairs = [(pattern, subject) for pattern in _PATTERNS for subject in _SUBJECTS]
    chosen = random.sample(pairs, random.randint(3, max_tasks))
    tasks: list[dict[str, Any]] = []
    depths: dict[str, int] = {}
    for index, (pattern, subject) in enumerate(chosen, 1):
        name = f"T{index}"
        shallow = [each for each in depths if depths[each] < TEAM.max_depth - 1]
        needed = random.sample(shallow, random.randint(0, min(2, len(shallow))))
        depths[name] = 1 + max((depths[each] for each in needed), default=0)
        tasks.append(
            {
                "id": name,
                "description": pattern.format(subject, random.randint(2015, 2025)),
                "worker": random.choice([worker.name for worker in TEAM.workers]),
                "depends_on": needed,
                "materials": random.sample(MATERIALS, random.randint(0, 1)),
            }
        )
    return {"goal": "Report on the companies.", "tasks": tasks}


def make_bad_plan(random: Random, *faults: PlanFault, max_tasks: int = 8) -> BadPlan:
    """Make a plan with the faults named, each in a task of its own where it lies in one.

    Args:
        max_tasks: of the sound tasks, which come first.
    """
    plan = make_good_plan(random, max_tasks=max_tasks)
    return BadPlan(
        plan, {fault: _FAULT_MAKERS[fault](plan, random) for fault in _order_faults(faults)}
    )


@st.composite
def good_plans(draw: st.DrawFn) -> PlanJson:
    """Draw plans without faults."""
    return make_good_plan(draw(st.randoms(use_true_random=False)))


@st.composite
def bad_plans(draw: st.DrawFn, *, max_faults: int = 3) -> BadPlan:
    """Draw plans with one fault or several."""
    faults = draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=max_faults, unique=True))
    return make_bad_plan(draw(st.randoms(use_true_random=False)), *faults)


def _order_faults(faults: tuple[PlanFault, ...]) -> list[PlanFault]:
    """Put those faults last that copy tasks or refer to them, so that one does not mend another."""
    return sorted(set(faults), key=FAULTS.index)


def _add_faulty_task(plan: PlanJson, **fields: Any) -> tuple[str, ...]:
    """Add a task, sound but for the fields given."""
    name = f"B{len(plan['tasks']) + 1}"
    task = {
        "id": name,
        "description": f"Quote the {len(plan['tasks'])}th footnote of the annual report of Bosch",
        "worker": "analyst",
    }
    plan["tasks"].append(task | fields)
    return (name,)


def _add_unknown_worker(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _add_faulty_task(
        plan, worker=random.choice(("reasearcher", "editor", "dba", "all", "?"))
    )


def _add_duplicate_id(plan: PlanJson, random: Random) -> tuple[str, ...]:
    (name,) = _add_faulty_task(plan)
    _add_faulty_task(plan, id=name)
    return (name,)


def _add_unknown_dependency(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _add_faulty_task(plan, depends_on=[random.choice(("T99", "x1", "final"))])


def _add_self_dependency(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _add_faulty_task(plan, depends_on=[f"B{len(plan['tasks']) + 1}"])


def _add_cycle(plan: PlanJson, random: Random) -> tuple[str, ...]:
    first = len(plan["tasks"]) + 1
    length = random.randint(2, 4)
    names = [f"B{first + offset}" for offset in range(length)]
    for offset in range(length):
        _add_faulty_task(plan, depends_on=[names[(offset + 1) % length]])
    return tuple(names)


def _add_vague_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _add_faulty_task(plan, description=random.choice(_VAGUE_DESCRIPTIONS))


def _add_misfit_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    asks = (
        "Search the web for the founding year of Bosch",
        "Send an email to legal@example.com with the margin of Bosch",
        "Deploy the pricing service to production",
    )
    return _add_faulty_task(plan, worker="writer", description=random.choice(asks))


def _add_too_many_tasks(plan: PlanJson, random: Random) -> tuple[str, ...]:
    for _ in range(MAX_TASKS + random.randint(0, 20)):
        _add_faulty_task(plan)
    return ()


def _add_too_deep_chain(plan: PlanJson, random: Random) -> tuple[str, ...]:
    names = list(_add_faulty_task(plan))
    for _ in range(TEAM.max_depth):
        names += _add_faulty_task(plan, depends_on=[names[-1]])
    return tuple(names)


def _add_repeated_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    _add_faulty_task(plan)
    description = plan["tasks"][-1]["description"]
    return tuple(
        _add_faulty_task(plan, description=worded(description))[0]
        for worded in random.sample(_REWORDINGS, 2)
    )


def _add_unknown_material(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _add_faulty_task(
        plan, materials=[random.choice(("contract.docx", "sales", "/etc/passwd"))]
    )


_REWORDINGS: tuple[Callable[[str], str], ...] = (str.upper, lambda text: f"  {text}. ", str.lower)
_FAULT_MAKERS: dict[PlanFault, Callable[[PlanJson, Random], tuple[str, ...]]] = {
    "unknown_worker": _add_unknown_worker,
    "vague_task": _add_vague_task,
    "misfit_task": _add_misfit_task,
    "unknown_material": _add_unknown_material,
    "repeated_task": _add_repeated_task,
    "too_deep": _add_too_deep_chain,
    "too_many_tasks": _add_too_many_tasks,
    "duplicate_id": _add_duplicate_id,
    "unknown_dependency": _add_unknown_dependency,
    "self_dependency": _add_self_dependency,
    "cycle": _add_cycle,
}
FAULTS: tuple[PlanFault, ...] = tuple(_FAULT_MAKERS)
STRUCTURAL_FAULTS: tuple[PlanFault, ...] = FAULTS[-4:]
"""Faults that `Plan` refuses before a team is asked."""
