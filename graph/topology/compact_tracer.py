"""What LangSmith is sent of a run: each material once, and no runs of routers.

LangGraph gives every node, router and inner graph the whole state as its input, and a tracer sends
all of it. The model calls hold what models were really sent, and are not changed.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_async_callback_manager_for_config
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langgraph.graph import START

ROUTER_PREFIX: Final = "after_"
"""Of the names of routers, whose runs are not sent: each only names the next node."""
MAX_HASHED_TEXTS: Final = 32


class CompactTracer(LangChainTracer):
    """Sends runs as the tracer does that it replaces, with smaller inputs and outputs."""

    def __init__(self, *args: Any, original: LangChainTracer | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.original = original
        self._routers: set[UUID] = set()

    @classmethod
    def replace(cls, tracer: LangChainTracer) -> "CompactTracer":
        """Return a tracer of the same project, client and runs."""
        return cls(
            original=tracer,
            example_id=tracer.example_id,
            project_name=tracer.project_name,
            address=tracer.address,
            client=tracer.client,
            tags=tracer.tags,
            metadata=tracer.tracing_metadata,
            run_map=tracer.run_map,
            order_map=tracer.order_map,
            _external_run_ids=tracer._external_run_ids,
        )

    def copy_with_metadata_defaults(self, **defaults: Any) -> "CompactTracer":
        """Return a tracer with these defaults; LangChain calls this for an agent."""
        copied = super().copy_with_metadata_defaults(**defaults)
        assert isinstance(copied, CompactTracer), "the copy is of the same class"
        copied.original, copied._routers = self.original, self._routers
        return copied

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **named: Any,
    ) -> Any:
        """Begin a run; the root's inputs are sent whole."""
        is_router = _is_router(named.get("name"), named.get("metadata") or {})
        if is_router or parent_run_id in self._routers:
            self._routers.add(run_id)
            return None
        sent = shrink_payload(inputs) if parent_run_id else inputs
        named |= {"run_id": run_id, "parent_run_id": parent_run_id}
        return _keep_inputs_sent(super().on_chain_start(serialized, sent, **named))

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> Run:
        """Begin a model call, whose inputs stay as they are."""
        return _keep_inputs_sent(super().on_chat_model_start(*args, **kwargs))

    def on_chain_end(self, outputs: dict[str, Any], *, run_id: UUID, **kwargs: Any) -> Any:
        """End a run."""
        if run_id in self._routers:
            self._routers.discard(run_id)
            return None
        return super().on_chain_end(shrink_payload(outputs), run_id=run_id, **kwargs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> Any:
        """End a run that has failed."""
        if run_id in self._routers:
            self._routers.discard(run_id)
            return None
        return super().on_chain_error(error, run_id=run_id, **kwargs)

    def _persist_run(self, run: Run) -> None:
        super()._persist_run(run)
        if self.original:  # its owner asks it for the address of the last run
            self.original.latest_run = self.latest_run


def _keep_inputs_sent(run: Run) -> Run:
    """Mark a run's inputs as sent, so that they are not sent again when it ends."""
    if not run.extra.get("defers_inputs"):
        run.extra["inputs_is_truthy"] = True
    return run


def compact_tracers(config: RunnableConfig) -> RunnableConfig:
    """Return a config in which LangSmith's tracers are compact; the same config without any."""
    manager = get_async_callback_manager_for_config(config)
    if not any(_is_replaced(handler) for handler in manager.handlers):
        return config
    made: dict[int, BaseCallbackHandler] = {}
    for handlers in (manager.handlers, manager.inheritable_handlers):
        for place, handler in enumerate(handlers):
            if _is_replaced(handler):
                assert isinstance(handler, LangChainTracer), "only tracers are replaced"
                handlers[place] = made.setdefault(id(handler), CompactTracer.replace(handler))
    return {**config, "callbacks": manager}


def _is_router(name: str | None, metadata: Mapping[str, Any]) -> bool:
    """Return whether a run only names the next node; a worker may have the name of a router."""
    is_named = name is not None and name.startswith(ROUTER_PREFIX)
    return name == START or (is_named and metadata.get("langgraph_node") != name)


def _is_replaced(handler: BaseCallbackHandler) -> bool:
    return isinstance(handler, LangChainTracer) and not isinstance(handler, CompactTracer)


def shrink_payload(payload: Any) -> Any:
    """Return a state for a trace: materials by name, size and hash, messages by their number."""
    if not isinstance(payload, Mapping):
        return payload
    shrunk = dict(payload)
    if isinstance(materials := shrunk.get("materials"), Mapping):
        shrunk["materials"] = {
            name: _hash_text(text) if isinstance(text, str) else text
            for name, text in materials.items()
        }
    if isinstance(messages := shrunk.get("messages"), list) and "request" not in shrunk:
        shrunk["messages"] = f"{len(messages)}, shown in the model calls"
    return shrunk


@lru_cache(maxsize=MAX_HASHED_TEXTS)
def _hash_text(text: str) -> str:
    digest = sha256(text.encode(errors="replace")).hexdigest()[:12]
    return f"{len(text):,} characters, sha256 {digest}…"
