"""A compiled graph for every caller: synchronous Python, a notebook, a server."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config, merge_configs
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot, StateUpdate

from graph.around_run import AroundRun, BegunRun, Saver
from graph.chat.attachments import add_attachments
from graph.topology.answers import (
    AnswerRecord,
    QuestionParts,
    build_answer_input,
    is_chat_message,
    is_reply,
    load_answer_record,
    post_questions,
    save_answer_record,
)
from graph.topology.blocking_portal import get_portal
from graph.topology.checkpointer_adapter import adapt_checkpointer, require_checkpointer
from graph.topology.compact_tracer import compact_tracers
from graph.topology.drawing import DrawnGraph
from graph.topology.input_validation import (
    read_context,
    read_input,
    reject_foreign_scope,
    require_grant,
)
from graph.topology.run_start import (
    CLOCK_KEY,
    RunStart,
    asks_to_continue,
    build_continuation,
    get_run_id,
    is_resumed,
    is_same_run,
    list_team_changes,
    merge_context,
    read_inherited_context,
    read_saved_clock,
    read_saved_context,
)
from graph.topology.saved_work import read_early_outputs
from graph.topology.state_edits import list_edited_plans, read_edits, require_valid_plans
from graph.topology.stop_watch import ANONYMOUS, read_identity, watch_stops
from nodes.errors import SettingsInvalid
from nodes.human.request import ASKED_KEY
from nodes.limits.langgraph_keys import RESUMING_KEY, TASK_ID_KEY
from nodes.limits.run_scope import get_run_scope
from nodes.planning.first_plan import PrepareWorkers
from nodes.planning.speculation import SPECULATION_KEY, SpeculativeCalls
from nodes.schemas.replies import RunOutput
from nodes.schemas.team import Team
from state import Context, RequestInput, SupervisorState, Tier


class SupervisorGraph(
    DrawnGraph, CompiledStateGraph[SupervisorState, Context, RequestInput, RunOutput]
):
    """LangGraph's compiled graph with input checks, a run clock and synchronous entry points.

    The synchronous methods run on one background loop of the process, so that all runs share its
    limits. Each run gets its clock, its `Context`, and, with a checkpointer, `sync` durability.
    """

    prepare: PrepareWorkers
    """Loads and builds what the workers need; a run does it while it plans, if not done before."""
    team: Team
    """The team whose workers an edited plan may name."""
    name_models: Callable[[Context], Mapping[Tier, str]]
    attach_revision: Callable[[StateSnapshot, BaseCheckpointSaver[Any]], Awaitable[StateSnapshot]]
    """Adds to a snapshot what a revision beside running tasks has saved."""
    around: tuple[AroundRun, ...] = ()
    """What a server adds to each run."""
    default_deadline_s: float | None = None
    """Of a run that sets none, nor its team."""

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """Copy with the attributes that LangGraph drops, such as the types a checkpoint may hold.

        A server copies the graph for every run.
        """
        made = super().copy(update)
        kept = {"_serde_allowlist", "drawing", *SupervisorGraph.__annotations__}
        vars(made).update({name: value for name, value in vars(self).items() if name in kept})
        return made

    async def astream(
        self,
        input: Any,
        config: RunnableConfig | None = None,
        *,
        context: Context | Mapping[str, Any] | None = None,
        durability: Any = None,
        output_keys: str | Sequence[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Stream a run; every other entry point calls this one.

        Without `output_keys`, only the channels of the graph's output are streamed.
        """
        around = self._merge_call_config(config)
        reject_foreign_scope(around)
        async with AsyncExitStack() as stack:
            for each in self.around:
                claim = each.claim(self.find_checkpointer(config), around)
                config = _add_entries(config, await stack.enter_async_context(claim))
            parts = self._stream_run(
                input,
                config,
                context=context,
                durability=durability,
                output_keys=output_keys,
                **kwargs,
            )
            await stack.enter_async_context(aclosing(parts))
            async for part in parts:
                yield part

    async def _stream_run(
        self,
        input: Any,
        config: RunnableConfig | None,
        *,
        context: Context | Mapping[str, Any] | None,
        durability: Any,
        output_keys: str | Sequence[str] | None,
        **kwargs: Any,
    ) -> AsyncGenerator[Any]:
        input, start, stamped = await self._begin_run(input, config, context)
        asked, shown = list[str](), QuestionParts(**kwargs)
        stamped["configurable"][ASKED_KEY] = asked
        async with self._enter_surroundings(stamped, start, asked):
            async for part in super().astream(
                input,
                stamped,
                context=start.context,
                durability=self._choose_durability(stamped, durability),
                output_keys=output_keys or self.output_channels,
                **kwargs,
            ):
                for each in shown.hold_questions(part):
                    yield each
            for part in shown.build_last_parts(await self._post_questions(config) if asked else ()):
                yield part

    async def _begin_run(
        self, input: Any, config: RunnableConfig | None, context: Context | Mapping[str, Any] | None
    ) -> tuple[Any, RunStart, RunnableConfig]:
        """Return a run's checked input, where it starts, and its config with clock and budget."""
        is_continued = asks_to_continue(input)
        if is_continued:
            input = await self._build_continuation(config)
        input = await add_attachments(read_input(input), partial(self._read_kept_materials, config))
        input, record = await self._assign_answer(input, config)
        start = await self._prepare_start(input, config, context, is_continued=is_continued)
        if record and record.clock:
            start = replace(start, saved_clock=record.clock)
        saver = self.find_checkpointer(config)
        require_checkpointer(self.team, start.context, saver)
        if start.context.recruit:
            user = read_identity(self._merge_call_config(config)["configurable"])
            await asyncio.to_thread(require_grant, self.team, start.context, user not in ANONYMOUS)
        self._require_thread(config)
        stamped = self._compact_traces(start.stamp_config(config, self.default_deadline_s))
        if record and record.run and start.resumed_snapshot:
            record = replace(record, clock=stamped["metadata"][CLOCK_KEY])
            await save_answer_record(record, start.resumed_snapshot.config, saver)
        return input, start, stamped

    @asynccontextmanager
    async def _enter_surroundings(
        self, config: RunnableConfig, start: RunStart, asked: Sequence[str]
    ) -> AsyncIterator[None]:
        """Follow a run, and let a human stop its tasks; the run's config gets the listeners."""
        is_resumed = start.resumed_snapshot is not None
        config["configurable"][SPECULATION_KEY] = calls = SpeculativeCalls()
        read_state = partial(self.aget_state, config, subgraphs=True)
        saver = self.find_checkpointer(config)
        run = BegunRun(config, saver, self.team.name, is_resumed, asked, read_state)
        is_same_work = is_resumed and not start.is_reopened
        async with AsyncExitStack() as stack:
            for each in self.around:
                await stack.enter_async_context(each.follow(run))
            watch = watch_stops(config, self.store, is_resumed=is_same_work)
            await stack.enter_async_context(watch)
            stack.push_async_callback(calls.close)
            yield

    async def aget_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return the state of a thread; with subgraphs that of a plan's revision is among them."""
        saver = self.find_checkpointer(config)
        if saver and (view := await self._read_view(config, saver)):
            return view
        snapshot = await super().aget_state(config, subgraphs=subgraphs)
        return await self.attach_revision(snapshot, saver) if subgraphs and saver else snapshot

    def stream(self, input: Any, config: RunnableConfig | None = None, **kw: Any) -> Iterator[Any]:
        """Stream a run from synchronous code; `invoke` calls this one."""
        return get_portal().iterate(self.astream(input, config, **kw))

    def get_state(self, config: RunnableConfig, *, subgraphs: bool = False) -> StateSnapshot:
        """Return the state of a thread from synchronous code."""
        if not subgraphs:  # works on the portal's own loop, too
            return super().get_state(config)
        return get_portal().call(self.aget_state(config, subgraphs=True))

    def bulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Edit the state of a thread; `update_state` calls this. Values may be JSON."""
        edits = read_edits(supersteps)
        if any(list_edited_plans(edits)):
            require_valid_plans(edits, self.get_state(config), self.team)
        return super().bulk_update_state(config, edits)

    async def abulk_update_state(
        self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]
    ) -> RunnableConfig:
        """Edit the state of a thread; `aupdate_state` and Studio call this."""
        edits = read_edits(supersteps)
        if any(list_edited_plans(edits)):
            require_valid_plans(edits, await self.aget_state(config), self.team)
        return await super().abulk_update_state(config, edits)

    async def _prepare_start(
        self,
        input: Any,
        config: RunnableConfig | None,
        context: Context | Mapping[str, Any] | None,
        *,
        is_continued: bool = False,
    ) -> RunStart:
        given = read_inherited_context(config) if context is None else read_context(context)
        around = self._merge_call_config(config)
        configurable = around["configurable"]
        is_kept = self.find_checkpointer(config) is not None and "thread_id" in configurable
        if get_run_scope(around).outer_task:  # its worker's limits are the caps
            return RunStart(given, None, given)
        if not is_kept:
            return RunStart(self.team.add_caps(given), None, given)
        resumed, is_same = is_continued or is_resumed(input, configurable), False
        if "run_id" in {**configurable, **around["metadata"]}:
            is_same = is_same_run(around, await self.aget_state(around))
        resumed = resumed or is_same
        snapshot = await self.aget_state(around, subgraphs=True) if resumed else None
        is_foreign = get_run_scope(around).ignores_saved_context
        context = given if is_foreign else merge_context(read_saved_context(snapshot), given)
        clock, saver = read_saved_clock(snapshot) if is_same else "", self.find_checkpointer(config)
        if snapshot is None or saver is None:
            return RunStart(self.team.add_caps(context), None, context)
        await list_team_changes(self.team.apply_context(context), saver, around)
        early = await read_early_outputs(saver, snapshot)
        return RunStart(
            self.team.add_caps(context),
            snapshot,
            context,
            saved_clock=clock,
            early_outputs=early,
            is_reopened=is_continued and input is not None,
        )

    async def _build_continuation(self, config: RunnableConfig | None) -> Any:
        """Return the input with which the thread's run continues."""
        around = self._merge_call_config(config)
        self._require_thread(config)
        snapshot = await self.aget_state(around)
        return None if is_same_run(around, snapshot) else build_continuation(snapshot)

    async def _read_view(self, config: RunnableConfig, saver: Saver) -> StateSnapshot | None:
        read_state = partial(self._read_last_state, config)
        views = [
            await each.read_view(config, saver, read_state, self.team.name) for each in self.around
        ]
        return next((view for view in views if view is not None), None)

    async def _read_last_state(self, config: RunnableConfig) -> StateSnapshot:
        """Return the last state of a thread, whatever checkpoint a server has put into configs."""
        plain = self.copy({"config": _drop_checkpoint(self.config or {})})
        return await plain.aget_state(_drop_checkpoint(config), subgraphs=True)

    async def _read_kept_materials(self, config: RunnableConfig | None) -> Mapping[str, str]:
        """Return the materials that a thread keeps for its next message."""
        around = self._merge_call_config(config)
        if self.find_checkpointer(config) is None or "thread_id" not in around["configurable"]:
            return {}
        materials: Mapping[str, str] = (await self.aget_state(around)).values.get("materials", {})
        return materials

    async def _assign_answer(
        self, input: Any, config: RunnableConfig | None
    ) -> tuple[Any, AnswerRecord | None]:
        """Return the input with an answer assigned to its question, and what to note of it.

        Any other input is returned as it is.
        """
        around, saver = self._merge_call_config(config), self.find_checkpointer(config)
        is_outer = {"thread_id"} == {"thread_id", RESUMING_KEY} & around["configurable"].keys()
        if saver is None or not is_outer or not (is_reply(input) or is_chat_message(input)):
            return input, None
        snapshot, run = await self.aget_state(around, subgraphs=True), get_run_id(around)
        if is_same_run(around, snapshot):  # the checkpoint came after the answer
            return None, None
        earlier = await load_answer_record(run, snapshot.config, saver) if run else None
        input, answered = build_answer_input(
            input, snapshot, earlier.questions if earlier else None
        )
        return input, earlier or (AnswerRecord(run, answered) if answered else None)

    async def _post_questions(self, config: RunnableConfig | None) -> list[AIMessage]:
        """Put the questions with which a run has ended into the chat of its thread; return them."""
        around, saver = self._merge_call_config(config), self.find_checkpointer(config)
        if saver is None or RESUMING_KEY in around["configurable"]:
            return []
        kept = {n: v for n, v in around["configurable"].items() if n != "checkpoint_id"}
        return await post_questions(await self.aget_state({**around, "configurable": kept}), saver)

    def _merge_call_config(self, config: RunnableConfig | None) -> RunnableConfig:
        """Return a call's config merged with the graph's own and with that of the calling node."""
        return ensure_config(merge_configs(self.config, config))

    def _compact_traces(self, config: RunnableConfig) -> RunnableConfig:
        merged = self._merge_call_config(config)
        traced = compact_tracers(merged)
        return config if traced is merged else {**config, "callbacks": traced["callbacks"]}

    def _require_thread(self, config: RunnableConfig | None) -> None:
        """Refuse a run with a checkpointer but without a thread_id."""
        if (
            self.find_checkpointer(config) is not None
            and "thread_id" not in self._merge_call_config(config)["configurable"]
        ):
            raise SettingsInvalid(
                "a run with a checkpointer needs a thread_id",
                next='pass config={"configurable": {"thread_id": "…"}}',
            )

    def _is_saved(self, config: RunnableConfig) -> bool:
        is_inner = TASK_ID_KEY in config.get("configurable", {})
        return not is_inner and self.find_checkpointer(config) is not None

    def _choose_durability(self, config: RunnableConfig, asked: Any) -> Any:
        """Return a run's durability; None without a checkpointer, also if a server passes one."""
        if self.find_checkpointer(config) is None:
            return None
        return asked or ("sync" if self._is_saved(config) else None)

    def find_checkpointer(self, config: RunnableConfig | None) -> BaseCheckpointSaver[Any] | None:
        """Return the checkpointer of a call: its own, or the graph's; None without one."""
        return self._resolve_checkpointer(self._merge_call_config(config))

    def _apply_checkpointer_allowlist(
        self, checkpointer: BaseCheckpointSaver[Any] | None
    ) -> BaseCheckpointSaver[Any] | None:
        """Adapt a checkpointer, wherever it comes from; LangGraph calls this before each use."""
        allowed = super()._apply_checkpointer_allowlist(checkpointer)
        return allowed and adapt_checkpointer(allowed)


def _add_entries(
    config: RunnableConfig | None, entries: Mapping[str, Any]
) -> RunnableConfig | None:
    """Return a call's config with more entries in its configurable."""
    if not entries:
        return config
    given = config or RunnableConfig()
    return {**given, "configurable": {**given.get("configurable", {}), **entries}}


def _drop_checkpoint(config: RunnableConfig) -> RunnableConfig:
    configurable = config.get("configurable", {})
    kept = {n: value for n, value in configurable.items() if not n.startswith("checkpoint_")}
    return {**config, "configurable": kept}
