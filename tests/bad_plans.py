"""Plans a planner's model may give, good and bad, with the names of their faults."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from hypothesis import strategies as st

from state import Team, Worker

Fault = Literal[
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

SAYS: dict[Fault, str] = {
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
_VAGUE = ("Analyze the data", "Do research", "Handle the rest", "Look into it", "Improve things")


@dataclass(frozen=True)
class BadPlan:
    """A plan as JSON, its faults, and the tasks each fault lies in."""

    plan: PlanJson
    faults: dict[Fault, tuple[str, ...]]

    def told(self) -> list[Fault]:
        """List the faults that are told at once: what is no graph is not held against a team."""
        if structural := [fault for fault in self.faults if fault in STRUCTURAL]:
            return structural
        if len(self.plan["tasks"]) > MAX_TASKS:
            return [fault for fault in self.faults if fault in ("too_many_tasks", "too_deep")]
        return list(self.faults)


def good_plan(random: Random, *, max_tasks: int = 8) -> PlanJson:
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


def bad_plan(random: Random, *faults: Fault, max_tasks: int = 8) -> BadPlan:
    """Make a plan with the faults named, each in a task of its own where it lies in one.

    Args:
        max_tasks: of the sound tasks, which come first.
    """
    plan = good_plan(random, max_tasks=max_tasks)
    return BadPlan(plan, {fault: _SPOIL[fault](plan, random) for fault in _ordered(faults)})


@st.composite
def good_plans(draw: st.DrawFn) -> PlanJson:
    """Draw plans without faults."""
    return good_plan(draw(st.randoms(use_true_random=False)))


@st.composite
def bad_plans(draw: st.DrawFn, *, max_faults: int = 3) -> BadPlan:
    """Draw plans with one fault or several."""
    faults = draw(st.lists(st.sampled_from(FAULTS), min_size=1, max_size=max_faults, unique=True))
    return bad_plan(draw(st.randoms(use_true_random=False)), *faults)


def _ordered(faults: tuple[Fault, ...]) -> list[Fault]:
    """Put those faults last that copy tasks or refer to them, so that one does not mend another."""
    return sorted(set(faults), key=FAULTS.index)


def _spoil_task(plan: PlanJson, **fields: Any) -> tuple[str, ...]:
    """Add a task, sound but for the fields given."""
    name = f"B{len(plan['tasks']) + 1}"
    task = {
        "id": name,
        "description": f"Quote the {len(plan['tasks'])}th footnote of the annual report of Bosch",
        "worker": "analyst",
    }
    plan["tasks"].append(task | fields)
    return (name,)


def _unknown_worker(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _spoil_task(plan, worker=random.choice(("reasearcher", "Writer", "dba", "all", "?")))


def _duplicate_id(plan: PlanJson, random: Random) -> tuple[str, ...]:
    (name,) = _spoil_task(plan)
    _spoil_task(plan, id=name)
    return (name,)


def _unknown_dependency(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _spoil_task(plan, depends_on=[random.choice(("T99", "t1", "final"))])


def _self_dependency(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _spoil_task(plan, depends_on=[f"B{len(plan['tasks']) + 1}"])


def _cycle(plan: PlanJson, random: Random) -> tuple[str, ...]:
    first = len(plan["tasks"]) + 1
    length = random.randint(2, 4)
    names = [f"B{first + offset}" for offset in range(length)]
    for offset in range(length):
        _spoil_task(plan, depends_on=[names[(offset + 1) % length]])
    return tuple(names)


def _vague_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _spoil_task(plan, description=random.choice(_VAGUE))


def _misfit_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    asks = (
        "Search the web for the founding year of Bosch",
        "Send an email to legal@example.com with the margin of Bosch",
        "Deploy the pricing service to production",
    )
    return _spoil_task(plan, worker="writer", description=random.choice(asks))


def _too_many_tasks(plan: PlanJson, random: Random) -> tuple[str, ...]:
    for _ in range(MAX_TASKS + random.randint(0, 20)):
        _spoil_task(plan)
    return ()


def _too_deep(plan: PlanJson, random: Random) -> tuple[str, ...]:
    names = list(_spoil_task(plan))
    for _ in range(TEAM.max_depth):
        names += _spoil_task(plan, depends_on=[names[-1]])
    return tuple(names)


def _repeated_task(plan: PlanJson, random: Random) -> tuple[str, ...]:
    _spoil_task(plan)
    description = plan["tasks"][-1]["description"]
    return tuple(
        _spoil_task(plan, description=worded(description))[0]
        for worded in random.sample(_WORDINGS, 2)
    )


def _unknown_material(plan: PlanJson, random: Random) -> tuple[str, ...]:
    return _spoil_task(plan, materials=[random.choice(("contract.docx", "sales", "/etc/passwd"))])


_WORDINGS: tuple[Callable[[str], str], ...] = (str.upper, lambda text: f"  {text}. ", str.lower)
_SPOIL: dict[Fault, Callable[[PlanJson, Random], tuple[str, ...]]] = {
    "unknown_worker": _unknown_worker,
    "vague_task": _vague_task,
    "misfit_task": _misfit_task,
    "unknown_material": _unknown_material,
    "repeated_task": _repeated_task,
    "too_deep": _too_deep,
    "too_many_tasks": _too_many_tasks,
    "duplicate_id": _duplicate_id,
    "unknown_dependency": _unknown_dependency,
    "self_dependency": _self_dependency,
    "cycle": _cycle,
}
FAULTS: tuple[Fault, ...] = tuple(_SPOIL)
STRUCTURAL: tuple[Fault, ...] = FAULTS[-4:]
"""Faults that `Plan` refuses before a team is asked."""
