"""Finding the request in what a caller gave."""

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from nodes.errors import RequestInvalid
from nodes.limits.run_scope import get_run_scope
from nodes.prompts.messages import shorten_text
from nodes.telemetry.events import build_task_path
from state import SupervisorState

MAX_REQUEST_BYTES = 100_000
MAX_MATERIAL_BYTES = 5_000_000
"""All materials of one request together."""
MAX_HISTORY_CHARS = 6_000
FINAL_STATUSES = ("done", "partial", "failed")


def is_new_request(state: SupervisorState) -> bool:
    """Return whether the state holds a request that has no plan yet.

    A thread that has its answer is entered again only with a new request.
    """
    if state.get("plan") is None or state.get("status") in FINAL_STATUSES:
        return True
    return _find_request_text(state) != state.get("planned_for")


def read_request(state: SupervisorState) -> str:
    """Return the words of the request: what was given last, as `request` or as a chat message.

    Raises:
        RequestInvalid: there are no words, or more than a request may have.
    """
    request = _find_request_text(state)
    if not request:
        raise RequestInvalid("empty request", next="say in words what the team should do")
    _check_size("the request", request, MAX_REQUEST_BYTES)
    _check_size("the materials", "".join(state.get("materials", {}).values()), MAX_MATERIAL_BYTES)
    return request


def is_last_message(state: SupervisorState, request: str) -> bool:
    """Return whether a request is the last message of the chat; one given in words is not yet."""
    return _read_last_human_message(state) == request


def _find_request_text(state: SupervisorState) -> str:
    """Return the last message, unless a request that is not planned yet was given after it."""
    request = state.get("request", "").strip()
    if request and request != state.get("planned_for"):
        return request
    return _read_last_human_message(state) or request


def _read_last_human_message(state: SupervisorState) -> str:
    messages = state.get("messages", [])
    is_open = bool(messages) and isinstance(messages[-1], HumanMessage)
    return str(messages[-1].text).strip() if is_open else ""


def read_history(state: SupervisorState) -> str:
    """Return the earlier turns of the thread, newest kept, as text for a model."""
    earlier = state.get("messages", [])
    if earlier and isinstance(earlier[-1], HumanMessage):
        earlier = earlier[:-1]
    said = [f"{message.type}: {shorten_text(str(message.text), 2000)}" for message in earlier]
    return "\n\n".join(said)[-MAX_HISTORY_CHARS:]


def read_kept_materials(config: RunnableConfig) -> list[str]:
    """Return the names of the materials that a further request has from its thread."""
    # A team that does a task has the config of the run around it.
    return [] if build_task_path(config) else list(get_run_scope(config).kept_materials)


def _check_size(what: str, text: str, max_bytes: int) -> None:
    size = len(text.encode("utf-8", errors="replace"))
    if size > max_bytes:
        raise RequestInvalid(
            f"{what} is too large",
            cause=f"{size:,} bytes of at most {max_bytes:,}",
            next="hand large texts over as documents (SUPERVISE_DOCUMENTS)",
        )
