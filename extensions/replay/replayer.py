"""Runs the graph of a kept run on its record: no model, no tool, no socket."""

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.checkpoint.memory import InMemorySaver

from extensions.replay.record_file import Entry, Record, Segment, decode_value
from extensions.replay.tape import ReplayMissed, Tape
from extensions.replay.virtual_loop import VirtualLoop
from graph.runs.run_recorder import summarize_state
from graph.settings import Settings
from graph.stores.serializer import build_strict_serializer
from graph.supervisor import compile_supervisor
from graph.topology.input_validation import read_context
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import SupervisorError
from nodes.limits.deadline import now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import EMBEDDED
from nodes.schemas.team import Team
from nodes.tools.framework.described_tools import build_described_tools
from nodes.tools.framework.settings import ToolSettings
from state import Context, Plan, Tier

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

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        raise ReplayMissed("a model was asked in a replay")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        raise ReplayMissed("a model was asked in a replay")


@dataclass
class Replayed:
    """What a replay has come to."""

    record: Record
    values: Mapping[str, Any] = field(default_factory=dict)
    """The last state, by channel."""
    events: list[Entry] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    """The parts that are not equal to the record's."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_equal(self) -> bool:
        """Whether all is as the record has it."""
        return not self.differing

    @property
    def is_whole(self) -> bool:
        """Whether the record has the end of the run, or its wait for a human."""
        return self.record.segments[-1].ended is not None


def replay_record(
    record: Record, *, team: Team | None = None, shuffle: random.Random | None = None
) -> Replayed:
    """Run a record to its end, on a clock that does not wait.

    Args:
        team: the run's as it is now; by default as it was then.
        shuffle: lets what ends at the same time end in another order.

    Raises:
        ReplayMissed: the run asks for something else than the record has.
        RecordUnreadable: a value of the record cannot be read.
    """
    began_s = time.perf_counter()
    done = Replayed(record)
    for segment in record.segments:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(_replay_segment(segment, done, team, shuffle))
    done.seconds = time.perf_counter() - began_s
    return done


async def _replay_segment(
    segment: Segment, done: Replayed, team: Team | None, shuffle: random.Random | None
) -> None:
    begun, loop = segment.begun, asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop), "a tape needs the clock of its own loop"
    loop.advance_to(float(begun["elapsed_s"]))
    context = read_context({**begun["context"], **dict.fromkeys(_MODEL_FIELDS)})
    graph = build_replay_graph(segment, team or Team.model_validate(begun["team"]))
    saver = InMemorySaver(serde=build_strict_serializer())
    load_checkpoints(saver, begun)
    graph = graph.copy({"checkpointer": saver})
    tape = Tape(segment, loop, shuffle=shuffle)
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
    if segment.ended is None:
        return
    done.values = (await graph.aget_state(config)).values
    done.summary = summarize_state(done.values, error)
    names = ["status", *PARTS]
    done.differing = [name for name in names if done.summary[name] != segment.ended.get(name)]
    if tape.left:
        done.differing.append("trace")


_MODEL_FIELDS: Final = ("model_fast", "model_standard", "model_strong")


async def _run_graph(
    graph: SupervisorGraph, tape: Tape, segment: Segment, config: Any, context: Context
) -> SupervisorError | None:
    """Run to the end, to a question, or to where the record ends; return the run's own error."""
    given = decode_value(segment.begun["input"])

    async def work() -> None:
        if segment.begun["is_resumed"]:
            await graph.prepare(graph.team.apply_context(context))
        await graph.ainvoke(given, config, context=context)

    running = asyncio.ensure_future(work())
    await asyncio.wait({running, tape.over}, return_when=asyncio.FIRST_COMPLETED)
    tape.close()
    if not running.done():
        running.cancel()
        await asyncio.wait({running})
    if tape.over.done() and (missed := tape.over.exception()):
        raise missed
    if running.cancelled() or segment.ended is None:
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
    settings = Settings(**begun["settings"])
    described = {each["tools"]: each["described"] for each in segment.entries if "tools" in each}
    tools = ToolSettings(
        recorded={name: build_described_tools(each) for name, each in described.items()}
    )
    catalog = ModelCatalog(settings.build_model_settings(), models)
    return compile_supervisor(team, settings=settings, models=catalog, tools=tools)


def load_checkpoints(saver: InMemorySaver, begun: Entry) -> None:
    """Put the state in which a segment began into a saver."""
    for encoded in begun["checkpoints"]:
        ns, checkpoint, metadata, writes = decode_value(encoded)
        place = {"thread_id": begun["thread"], "checkpoint_ns": ns}
        saved = saver.put(
            {"configurable": place}, checkpoint, metadata, checkpoint["channel_versions"]
        )
        for task_id, channel, value in writes:
            _add_write(saver, saved, task_id, channel, value)


def _add_write(saver: InMemorySaver, config: Any, task: str, channel: str, value: Any) -> None:
    """Add one write beside a checkpoint; a saver numbers those of one call, so keep their order."""
    place = config["configurable"]
    outer = place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]
    kept = saver.writes[outer]
    kept[task, len(kept)] = (task, channel, saver.serde.dumps_typed(value), "")
