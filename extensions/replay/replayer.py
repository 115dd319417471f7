"""Runs the graph of a kept run on its record: no model, no tool, no socket."""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send
from langsmith import tracing_context

from extensions.replay.described_tools import build_described_tools
from extensions.replay.record_file import (
    Entry,
    Record,
    RecordRefused,
    Segment,
    decode_value,
    refuse,
)
from extensions.replay.run_state import OWN_SETTINGS, RECORDED_SETTINGS, summarize_state
from extensions.replay.tape import LATE_S, ReplayMissed, Tape
from extensions.replay.virtual_loop import VirtualLoop, run_virtually
from graph.runs.event_log import EventListener
from graph.runs.outcome import Outcome
from graph.runs.trace import build_trace
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from graph.supervisor import compile_supervisor
from graph.topology.answers import Question, list_open_questions
from graph.topology.input_validation import read_context
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import SettingsInvalid, SupervisorError, UsageError
from nodes.limits.deadline import now_s
from nodes.limits.recorder import hash_section
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import EMBEDDED
from nodes.schemas.team import Team
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.settings import ToolSettings
from state import Context, Plan, SupervisorState, Tier

PARTS: Final = ("plan", "reports", "answer", "bill", "error")
"""Of what a run has come to, each is compared."""


class RecordedModel(BaseChatModel):
    """Is in the place of a model: replies come from the record before it is asked."""

    recorded_name: str

    @property
    def _llm_type(self) -> str:
        return EMBEDDED if self.recorded_name == EMBEDDED else "recorded"

    def _get_ls_params(self, stop: list[str] | None = None, **_: Any) -> LangSmithParams:
        provider, _colon, model = self.recorded_name.partition(":")
        return LangSmithParams(ls_provider=provider, ls_model_name=model, ls_model_type="chat")

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        raise ReplayMissed("a model was asked in a replay")


@dataclass
class Replayed:
    """What a replay has come to."""

    record: Record
    outcome: Outcome
    """Of the run."""
    values: SupervisorState = field(default_factory=lambda: SupervisorState())
    """The last state, by channel."""
    events: list[Entry] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    """The parts that are not equal to the record's."""
    digest: str = ""
    """Of all parts and events."""
    seconds: float = 0.0

    @property
    def is_equal(self) -> bool:
        """Whether all is as the record has it, to the run's end or its wait for a human."""
        return self.is_whole and not self.differing

    @property
    def is_whole(self) -> bool:
        """Whether the record has the run's end, or its wait for a human."""
        return self.record.segments[-1].ended is not None

    @property
    def recorded_s(self) -> float:
        """The seconds that the recorded run took."""
        return max((float(event.get("t", 0.0)) for event in self.events), default=0.0)

    def build_trace(self) -> dict[str, Any]:
        """Return the trace of the replay, whose run has `replayed`."""
        begun = self.record.segments[0].begun
        with refuse_other_values(self.record.path):
            team = begun["team"]["name"]
            run = {"thread": begun["thread"], "team": team, "started": begun["began"]}
            return build_trace([{"run": {**run, "replayed": True}}, *self.events])

    def to_json(self) -> dict[str, Any]:
        """Return the outcome of the run as JSON, and how equal it is, under `replayed`."""
        return {
            **self.outcome.to_json(),
            "replayed": {
                "is_equal": self.is_equal,
                "differing": self.differing,
                "digest": self.digest,
                "unrecorded": list_unrecorded(self.record),
                "seconds": round(self.seconds, 6),
                "recorded_s": self.recorded_s,
            },
        }


def replay_record(
    record: Record,
    *,
    team: Team | None = None,
    on_event: EventListener | None = None,
    is_paced: bool = False,
    shuffle: random.Random | None = None,
) -> Replayed:
    """Run a record to its end, on a clock that does not wait.

    Args:
        team: the run's as it is now; by default as it was then. Then a call that the record does
            not have is a miss, and no other difference is.
        is_paced: each event has its own second, as in the run.
        shuffle: lets what ends at the same time end in another order.

    Raises:
        ReplayMissed: the run asks for something else than the record has.
        RecordUnreadable: a value of the record cannot be read.
    """
    if _is_in_loop():
        said = "a replay has an event loop of its own, and one runs here"
        raise UsageError(said, next="await areplay(THREAD)")
    began_s = time.perf_counter()
    done = Replayed(record, Outcome(thread=record.thread, status="failed"))
    how = {"shuffle": shuffle, "on_event": on_event, "is_paced": is_paced}
    how |= {"is_strict": team is None}
    for segment in record.segments:
        work = partial(_replay_segment, done, segment, team, how)
        with tracing_context(enabled=False), refuse_other_values(record.path):
            run_virtually(work)
    done.seconds = time.perf_counter() - began_s
    return done


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _replay_segment(
    done: Replayed, segment: Segment, team: Team | None, how: dict[str, Any], loop: VirtualLoop
) -> None:
    """Replay what one process has kept; of what a kill has cut short nothing but events is left."""
    begun = segment.begun
    loop.advance_to(float(begun["elapsed_s"]))
    context = read_begun_context(begun)
    graph = build_replay_graph(segment, team or Team.model_validate(begun["team"]))
    saver = InMemorySaver(serde=build_strict_serializer())
    load_checkpoints(saver, begun)
    graph = graph.copy({"checkpointer": saver})
    tape = Tape(segment, loop, **how)
    plan = begun["given_plan"]
    scope = RunScope(
        began_at=now_s() - float(begun["elapsed_s"]),
        recorder=tape,
        given_plan=plan and Plan.model_validate(plan),
        kept_materials=tuple(begun["kept_materials"]),
        ignores_saved_context=bool(begun["ignores_saved_context"]),
    )
    config: Any = {"configurable": {"thread_id": begun["thread"], SCOPE_KEY: scope}}
    error = await _run_graph(graph, tape, segment, config, context)
    done.events += tape.events
    values, summary = dict[str, Any](), dict[str, Any]()
    questions: Sequence[Question] = ()
    if segment.ended is not None:
        snapshot = await graph.aget_state(config, subgraphs=True)
        summary, questions = summarize_state(snapshot.values, error), list_open_questions(snapshot)
        differing = [n for n in ("status", *PARTS) if summary[n] != segment.ended.get(n)]
        differing += ["trace"] if tape.left else []
        done.differing += [name for name in differing if name not in done.differing]
        is_planned = snapshot.values.get("planned_for") == snapshot.values.get("request")
        # Otherwise the plan and the answer are those of an earlier request.
        channels = snapshot.values if is_planned else ("request", "materials")
        values = {name: snapshot.values[name] for name in channels if name in snapshot.values}
    done.values = cast(SupervisorState, values)
    done.outcome = Outcome.from_state(
        done.record.thread, done.values, error=error, questions=questions
    )
    done.digest = hash_section([summary, done.events])


async def _run_graph(
    graph: SupervisorGraph, tape: Tape, segment: Segment, config: Any, context: Context
) -> SupervisorError | None:
    """Run to the end, to a question, or to where the record ends; return the run's own error."""
    given = read_input(segment.begun)

    async def work() -> None:
        if segment.begun["is_resumed"]:
            await graph.prepare(graph.team.apply_context(context))
        await graph.ainvoke(given, config, context=context, durability="exit")

    running = asyncio.ensure_future(work())
    await asyncio.wait({running, tape.over}, return_when=asyncio.FIRST_COMPLETED)
    tape.close()
    if not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=LATE_S)
    if tape.over.done() and (missed := tape.over.exception()):
        raise missed
    if not running.done() or running.cancelled() or segment.ended is None:
        return None
    error = running.exception()
    if error is not None and not isinstance(error, SupervisorError):
        raise error
    return error


def build_replay_graph(segment: Segment, team: Team) -> SupervisorGraph:
    """Return the graph of a team whose models and tools are those of a record."""
    begun = segment.begun
    models: dict[Tier, BaseChatModel] = {
        tier: RecordedModel(recorded_name=name) for tier, name in begun["models"].items()
    }
    settings = read_begun_settings(begun)
    described = {each["tools"]: each["described"] for each in segment.entries if "tools" in each}
    tools = ToolSettings(
        recorded={name: build_described_tools(each) for name, each in described.items()}
    )
    catalog = ModelCatalog(settings.build_model_settings(), models)
    return compile_supervisor(team, settings=settings, models=catalog, tools=tools)


@contextmanager
def refuse_other_values(path: Path) -> Iterator[None]:
    """Turn what values of another form break inside into one line.

    Raises:
        RecordUnreadable: a value has not the form that this version writes.
    """
    try:
        yield
    except SupervisorError:
        raise
    except Exception as error:  # whatever values of anyone break, inside LangGraph too
        kind = "" if isinstance(error, RecordRefused) else f"{type(error).__name__}: "
        raise refuse(path, f"{kind}{error}") from None


def list_unrecorded(record: Record) -> list[str]:
    """Return what of a run its record does not have, in words; equality says nothing of it."""
    found = list[str]()
    for number, segment in enumerate(record.segments, 1):
        if segment.ended is None:
            found.append(f"part {number}: what was at work when its process ended")
        if segment.is_cut:
            found.append(f"part {number}: its end, which is damaged")
        for entry in segment.entries:
            match entry:
                case {
                    "effect": _,
                    "value": {"content": list(blocks)},
                    "key": [_, purpose, task, _],
                }:
                    lost = [each for each in blocks if isinstance(each, dict) and "kind" in each]
                    sizes = [f"{each['kind']}, {each.get('bytes', 0)} bytes" for each in lost]
                    found += [sanitize_line(f"{purpose} of {task}: {size}", 200) for size in sizes]
    return found


_MODEL_FIELDS: Final = ("model_fast", "model_standard", "model_strong")
MAX_SENT: Final = 5_000
"""Tasks that are to begin at once."""


def read_begun_context(begun: Entry) -> Context:
    """Return the context of a run, without its models.

    Raises:
        RecordRefused: it is none.
    """
    try:
        return read_context({**begun["context"], **dict.fromkeys(_MODEL_FIELDS)})
    except SettingsInvalid as error:
        raise RecordRefused(str(error)) from None


def read_begun_settings(begun: Entry) -> Settings:
    """Return the settings with those of a run in their place; no other is the record's to set.

    Raises:
        RecordRefused: one has a value that it cannot have.
        SettingsInvalid: the user's own have.
    """
    known, own = {*RECORDED_SETTINGS, *OWN_SETTINGS}, Settings()
    recorded = {name: value for name, value in begun["settings"].items() if name in known}
    try:
        return Settings(**recorded, sources=own.sources)
    except SettingsInvalid as error:
        raise RecordRefused(str(error)) from None


def read_input(begun: Entry) -> Any:
    """Return what the graph was given: an input, an answer, or what reopens it.

    Raises:
        RecordRefused: it is something else.
    """
    given = decode_value(begun["input"])
    # A command that reopens a run begins at the supervisor.
    goto: tuple[Any, ...] = ((), [], "supervisor")
    is_command = isinstance(given, Command) and not given.graph and given.goto in goto
    if not (given is None or isinstance(given, dict) or is_command):
        raise RecordRefused("the input of the run is none")
    return given


def load_checkpoints(saver: InMemorySaver, begun: Entry) -> None:
    """Put the state in which a segment began into a saver.

    Raises:
        RecordRefused: very many tasks would begin at once.
    """
    sent = 0
    for encoded in begun["checkpoints"]:
        ns, checkpoint, metadata, writes = decode_value(encoded)
        values = [*checkpoint["channel_values"].values(), *(value for *_, value in writes)]
        sent += sum(map(_count_sent, values))
        if sent > MAX_SENT:
            raise RecordRefused(f"it begins with more than {MAX_SENT:,} tasks at once")
        place = {"thread_id": begun["thread"], "checkpoint_ns": ns}
        saved = saver.put(
            {"configurable": place}, checkpoint, metadata, checkpoint["channel_versions"]
        )
        for task_id, channel, value in writes:
            _add_write(saver, saved, task_id, channel, value)


def _count_sent(value: Any) -> int:
    return sum(isinstance(each, Send) for each in value) if isinstance(value, list | tuple) else 0


def _add_write(saver: InMemorySaver, config: Any, task: str, channel: str, value: Any) -> None:
    """Add one write beside a checkpoint; a saver numbers those of one call, so keep their order."""
    place = config["configurable"]
    outer = place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]
    kept = saver.writes[outer]
    number = WRITES_IDX_MAP.get(channel, len(kept))
    kept[task, number] = (task, channel, saver.serde.dumps_typed(value), "")
