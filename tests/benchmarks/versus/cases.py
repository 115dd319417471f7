"""The runs of each system, and what is seen in each: always from the endpoint and the result."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from supervisor_worker.testing.endpoint.records import Call
from tests.benchmarks.versus.contenders import Contender
from tests.benchmarks.versus.stage import Script, Stage, find_reports
from tests.benchmarks.versus.work import FALSE_PRICE, READING, WHOLE
from tests.endpoint import Fault

BROKEN = "read_east"
"""The part whose worker fails; the kill comes after its report, while others are in flight."""
KILL_AFTER_S = 0.7
"""So long after that report, so that there was time to save it."""


@dataclass(frozen=True)
class Seen:
    """What a run returned, and what its endpoint saw."""

    returned: Mapping[str, Any]
    calls: list[Call]
    tokens: int
    model_answer: str
    """The words of the last model that wrote an answer."""
    finished: tuple[str, ...] = ()
    """Parts that were finished before a kill."""
    repeated: tuple[str, ...] = ()
    """Those of them that a model was asked for again."""

    @property
    def answer(self) -> str:
        """The answer; empty without one."""
        return str(self.returned.get("answer") or "")

    @property
    def parts(self) -> set[str]:
        """The parts in the answer."""
        return set(find_reports(self.answer))

    @property
    def error(self) -> str:
        """The name of the exception that a user gets; empty without one."""
        return str(self.returned.get("error") or "").partition(":")[0]

    def is_marked(self, word: str) -> bool:
        """Return whether the system itself says something of it, beside the models' words."""
        return any(word in mark for mark in self.returned.get("marks") or ())

    def count_calls(self, task: str) -> int:
        """Count the model calls for a part."""
        return sum(call.task == task for call in self.calls)


@dataclass(frozen=True)
class Cell:
    """What a table shows, and how good it is."""

    words: str
    rank: tuple[float, ...]


def make_script(case: str, *, is_alone: bool, scale: float) -> Script:
    """Make the script of a case; of one agent, whose model does all, the second call fails."""
    match case:
        case "even":
            return Script(READING, scale)
        case "twice" | "forever":
            first, times = 2 if is_alone else 1, 2 if case == "twice" else 500
            nth, task = tuple(range(first, first + times)), None if is_alone else BROKEN
            fault = Fault(kind="server_error", status=500, task=task, nth=nth)
            return Script(WHOLE, scale, faults=(fault,), broken=BROKEN)
        case "cycle" | "unknown":
            return Script(WHOLE, scale, mistake=case)
        case _:
            return Script(WHOLE, scale, lies=case == "lie")


async def play(contender: Contender, case: str, thread: str, scale: float) -> Seen:
    """Make one run against an endpoint of its own; in the case `killed`, kill and resume it."""
    is_alone = contender.system.name == "one_agent"
    async with Stage(make_script(case, is_alone=is_alone, scale=scale)) as stage:
        running = asyncio.create_task(contender.run(stage.base_url, thread))
        finished = dict[str, int]()
        if case == "killed":
            waiting = asyncio.create_task(_wait_for_kill(stage, is_alone))
            await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            await asyncio.sleep(KILL_AFTER_S * scale)
            finished = stage.count_finished()
            await contender.restart()
            await running
            running = asyncio.create_task(contender.run(stage.base_url, thread, is_resumed=True))
        returned = await running
        if contender.hangs:
            await contender.restart()
        calls, now = list(stage.requests), stage.count_finished()
        again = tuple(name for name, count in finished.items() if now[name] > count)
        return Seen(returned, calls, stage.tokens, stage.last_answer, tuple(finished), again)


async def _wait_for_kill(stage: Stage, is_alone: bool) -> None:
    if is_alone:
        await stage.wait_for_calls(2)
    while not is_alone and BROKEN not in stage.count_finished():
        ended = sum(call.ended_s is not None for call in stage.requests)
        await stage.wait_for_calls(0, ended + 1)


def judge_whole(seen: Seen, plain: Seen) -> Cell:
    """Return whether the answer is whole, and what it took more than without a failure."""
    more = len(seen.calls) - len(plain.calls)
    return Cell(f"{_count_parts(seen)}; {_count_more(more)}", (len(seen.parts),))


def judge_broken(seen: Seen, plain: Seen) -> Cell:
    """Return what is left of the answer when a worker fails for good, and who names the gap."""
    if not seen.parts:
        return Cell("no part; the error is the answer", (0, 0))
    by_system, by_model = seen.is_marked(BROKEN), BROKEN in seen.answer.partition("Missing:")[2]
    names = "by the program" if by_system else "by the model" if by_model else "by none"
    words = f"{len(seen.parts)} of 7 parts; gap named {names}; {seen.count_calls(BROKEN)} calls"
    return Cell(words, (len(seen.parts), 2 if by_system else int(by_model)))


def judge_cycle(seen: Seen, plain: Seen) -> Cell:
    """Return whether a plan with a cycle is noticed."""
    asked = sum(call.schema == "Plan" for call in seen.calls)
    if not asked:
        return Cell("makes no plan that could have one", (len(WHOLE),))
    noticed = "refused, asked again" if asked > 1 else "not noticed"
    return Cell(f"{noticed}; {_count_parts(seen)}", (len(seen.parts),))


def judge_killed(seen: Seen, plain: Seen) -> Cell:
    """Return what was done again after a kill."""
    again = f"{len(seen.repeated)} of {len(seen.finished)} finished reports again"
    again = again if seen.finished else "no report was finished"
    more = _count_more(len(seen.calls) - len(plain.calls))
    return Cell(f"{_count_parts(seen)}; {again}; {more}", (len(seen.parts), -len(seen.repeated)))


def judge_lie(seen: Seen, plain: Seen) -> Cell:
    """Return whether the answer with a quotation that is not in the document says so."""
    more = seen.count_calls("read_south") > plain.count_calls("read_south")
    again = "; its worker was asked again" if more else ""
    if FALSE_PRICE not in seen.answer:
        return Cell(f"not in the answer{again}", (2,))
    if seen.is_marked(FALSE_PRICE) or seen.answer != seen.model_answer:
        return Cell(f"in the answer, marked as unproved{again}", (1,))
    return Cell(f"in the answer, nothing marks it{again}", (0,))


def _count_more(calls: int) -> str:
    return f"{calls} more call{'s' * (calls != 1)}"


def _count_parts(seen: Seen) -> str:
    missing, named = set(WHOLE) - seen.parts, seen.answer.partition("Missing:")[2]
    if not missing:
        return "whole answer"
    is_named = all(name in named or seen.is_marked(name) for name in missing)
    return f"{len(seen.parts)} of 7 parts, the gap is {'' if is_named else 'not '}named"


CASES: Mapping[str, tuple[str, Callable[[Seen, Seen], Cell]]] = {
    "twice": ("a worker's model fails twice (500)", judge_whole),
    "forever": ("a worker's model fails for good", judge_broken),
    "cycle": ("the plan has a cycle", judge_cycle),
    "unknown": ("a worker or tool that does not exist is called", judge_whole),
    "lie": ("a worker's model invents a quotation and a price", judge_lie),
    "killed": ("killed in the middle, started again", judge_killed),
}
"""By name: the words of its row, and what is seen in it, beside a run in which nothing fails."""


def judge_case(name: str, seen: Seen, plain: Seen) -> Cell:
    """Return the cell of a case; a run without a result has its error."""
    return Cell(f"ends with {seen.error}", (-1,)) if seen.error else CASES[name][1](seen, plain)
