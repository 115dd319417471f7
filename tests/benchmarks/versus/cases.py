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
"""The part whose worker fails."""
LAST_BEFORE_KILL = "read_east"
KILL_AFTER_S = 0.7
"""So long after the report of that part: others are in flight, and there was time to save it."""


@dataclass(frozen=True)
class Seen:
    """What a run returned, and what its endpoint saw."""

    returned: Mapping[str, Any]
    calls: list[Call]
    tokens: int
    model_answer: str = ""
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
    def marks(self) -> list[str]:
        """What the system itself says of the answer."""
        return list(self.returned.get("marks") or ())

    @property
    def error(self) -> str:
        """The name of the exception that a user gets; empty without one."""
        return str(self.returned.get("error") or "").partition(":")[0]

    def count_calls(self, task: str | None = None, schema: str | None = None) -> int:
        """Count model calls, of a task, of a schema, or all."""
        return sum(
            task in (None, call.task) and schema in (None, call.schema) for call in self.calls
        )


@dataclass(frozen=True)
class Cell:
    """What a table shows, and how good it is."""

    words: str
    rank: tuple[float, ...]


def break_model(is_alone: bool, times: int) -> tuple[Fault, ...]:
    """Let a worker's model fail so often; of one agent, whose model does all, its second call."""
    if is_alone:
        return (Fault(kind="server_error", status=500, nth=tuple(range(2, 2 + times))),)
    nth = tuple(range(1, 1 + times))
    return (Fault(kind="server_error", status=500, task=BROKEN, nth=nth),)


def make_script(case: str, *, is_alone: bool, scale: float) -> Script:
    """Make the script of a case."""
    match case:
        case "even":
            return Script(READING, scale)
        case "twice" | "forever":
            times = 2 if case == "twice" else 500
            return Script(WHOLE, scale, faults=break_model(is_alone, times), broken=BROKEN)
        case "cycle":
            return Script(WHOLE, scale, mistake="cycle")
        case "unknown":
            return Script(WHOLE, scale, mistake="unknown")
        case "lie":
            return Script(WHOLE, scale, lies=True)
        case _:
            return Script(WHOLE, scale)


async def play(contender: Contender, case: str, thread: str, scale: float) -> Seen:
    """Make one run against an endpoint of its own; in the case `killed`, kill and resume it."""
    is_alone = contender.system.name == "one_agent"
    async with Stage(make_script(case, is_alone=is_alone, scale=scale)) as stage:
        if case == "killed":
            return await play_kill(contender, stage, thread, is_alone=is_alone)
        returned = await contender.run(stage.base_url, thread)
        if contender.hangs:
            await contender.kill()
            await contender.start()
        return see(stage, returned)


async def wait_for_kill(stage: Stage, *, is_alone: bool) -> None:
    """Wait until some parts are finished and others in flight; of one agent, its second call."""
    if is_alone:
        await stage.wait_for_calls(2)
    while not is_alone and LAST_BEFORE_KILL not in stage.count_delivered():
        ended = sum(call.ended_s is not None for call in stage.requests)
        await stage.wait_for_calls(0, ended + 1)


async def play_kill(contender: Contender, stage: Stage, thread: str, *, is_alone: bool) -> Seen:
    """Kill the process while workers are at work, start another, and let it continue."""
    running = asyncio.create_task(contender.run(stage.base_url, thread))
    waiting = asyncio.create_task(wait_for_kill(stage, is_alone=is_alone))
    await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    await asyncio.sleep(KILL_AFTER_S * stage.script.scale)
    finished = stage.count_delivered()
    await contender.kill()
    await running
    await contender.start()
    before = {name: len(stage.select_calls(task=name)) for name in finished}
    returned = await contender.run(stage.base_url, thread, is_resumed=True)
    again = [name for name, n in before.items() if len(stage.select_calls(task=name)) > n]
    return see(stage, returned, tuple(finished), tuple(again))


def see(
    stage: Stage,
    returned: Mapping[str, Any],
    finished: tuple[str, ...] = (),
    repeated: tuple[str, ...] = (),
) -> Seen:
    """Collect what is known of a run that has ended."""
    calls = list(stage.requests)
    return Seen(returned, calls, stage.tokens, stage.last_answer, finished, repeated)


def judge_twice(seen: Seen, plain: Seen) -> Cell:
    """Return what two failed calls of a worker's model did."""
    return _judge_whole(seen, plain)


def judge_forever(seen: Seen, plain: Seen) -> Cell:
    """Return what is left of the answer when a worker fails for good, and who names the gap."""
    if seen.error or not seen.parts:
        words = f"ends with {seen.error}" if seen.error else "the error is the answer"
        return Cell(f"no part; {words}", (0, 0))
    by_system = any(BROKEN in mark for mark in seen.marks)
    by_model = BROKEN in seen.answer.partition("Missing:")[2]
    named = "named by the program" if by_system else "named by the model"
    named = named if by_system or by_model else "not named"
    tried = seen.count_calls(BROKEN)
    words = f"{len(seen.parts)} of 7 parts; the gap is {named}; {tried} calls for it"
    return Cell(words, (len(seen.parts), 2 * by_system or by_model))


def judge_cycle(seen: Seen, plain: Seen) -> Cell:
    """Return whether a plan with a cycle is noticed."""
    asked = seen.count_calls(schema="Plan")
    if not asked:
        return Cell("makes no plan that could have one", (len(WHOLE),))
    if seen.error:
        return Cell(f"ends with {seen.error}", (0,))
    noticed = "refused, asked again" if asked > 1 else "not noticed"
    return Cell(f"{noticed}; {_count_parts(seen)}", (len(seen.parts),))


def judge_unknown(seen: Seen, plain: Seen) -> Cell:
    """Return what a worker or a tool that does not exist did."""
    return _judge_whole(seen, plain)


def judge_killed(seen: Seen, plain: Seen) -> Cell:
    """Return what was done again after a kill."""
    if seen.error:
        return Cell(f"ends with {seen.error}", (0, 0))
    more = len(seen.calls) - len(plain.calls)
    finished = f"{len(seen.repeated)} of {len(seen.finished)} finished reports again"
    finished = finished if seen.finished else "no report was finished"
    words = f"{_count_parts(seen)}; {finished}; {_count_more(more)}"
    return Cell(words, (len(seen.parts), -len(seen.repeated)))


def judge_lie(seen: Seen, plain: Seen) -> Cell:
    """Return whether the answer with a quotation that is not in the document says so."""
    if seen.error:
        return Cell(f"ends with {seen.error}", (0,))
    more = seen.count_calls("read_south") - plain.count_calls("read_south")
    again = "; its worker was asked again" if more > 0 else ""
    if FALSE_PRICE not in seen.answer:
        return Cell(f"not in the answer{again}", (2,))
    doubts = [mark for mark in seen.marks if FALSE_PRICE in mark]
    if doubts or seen.answer != seen.model_answer:
        return Cell(f"in the answer, marked as unproved{again}", (1,))
    return Cell("in the answer, nothing marks it", (0,))


def _judge_whole(seen: Seen, plain: Seen) -> Cell:
    if seen.error:
        return Cell(f"ends with {seen.error}", (0,))
    more = len(seen.calls) - len(plain.calls)
    return Cell(f"{_count_parts(seen)}; {_count_more(more)}", (len(seen.parts),))


def _count_more(calls: int) -> str:
    return f"{calls} more call{'s' * (calls != 1)}"


def _count_parts(seen: Seen) -> str:
    missing = sorted(set(WHOLE) - seen.parts)
    if not missing:
        return "whole answer"
    is_named = all(any(name in mark for mark in seen.marks) for name in missing)
    is_named = is_named or all(name in seen.answer.partition("Missing:")[2] for name in missing)
    return f"{len(seen.parts)} of 7 parts" + ("" if is_named else ", the gap is not named")


Judge = Callable[[Seen, Seen], Cell]
CASES: Mapping[str, tuple[str, Judge]] = {
    "twice": ("a worker's model fails twice (500)", judge_twice),
    "forever": ("a worker's model fails for good", judge_forever),
    "cycle": ("the plan has a cycle", judge_cycle),
    "unknown": ("a worker or tool that does not exist is called", judge_unknown),
    "lie": ("a worker's model invents a quotation and a price", judge_lie),
    "killed": ("killed in the middle, started again", judge_killed),
}
"""By name: the words of its row, and what is seen in it, beside a run in which nothing fails."""
