"""Finds the request in a caller's input."""

from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from nodes.errors import RequestInvalid
from nodes.human.request import is_question
from nodes.limits.run_scope import get_run_scope
from nodes.prompts.tags import shorten_text
from nodes.telemetry.events import build_task_path
from nodes.text.phrases import DEFAULT_LANGUAGE, say
from nodes.text.plain_text import sanitize_line, sanitize_name
from state import FINAL_STATUSES, SupervisorState

MAX_REQUEST_BYTES = 100_000
MAX_MATERIAL_BYTES = 5_000_000
"""All materials of one request together."""
MAX_HISTORY_CHARS = 6_000
MAX_REASON_CHARS = 300
ANSWER_KEY: Final = "answers"
"""Key of a chat message's `additional_kwargs`: the ids of the questions that it answered."""
ATTACHMENTS_KEY = "attachments"
"""Of a chat message's `additional_kwargs`: its files, each with `name`, and `unread` if it was not
read: the reason."""


def is_new_request(state: SupervisorState) -> bool:
    """Return whether the state contains a request that has no plan yet.

    A thread that has its answer runs again only with a new request.
    """
    if state.get("plan") is None or state.get("status") in FINAL_STATUSES:
        return True
    return find_request_text(state) != state.get("planned_for")


def read_request(state: SupervisorState) -> str:
    """Return the text of the request: the latest input, as `request` or as a chat message.

    Raises:
        RequestInvalid: the text is empty, or longer than a request may be.
    """
    request = find_request_text(state)
    if not request:
        raise RequestInvalid("empty request", next="write what the team should do")
    _check_size("the request", request, MAX_REQUEST_BYTES)
    _check_size("the materials", "".join(state.get("materials", {}).values()), MAX_MATERIAL_BYTES)
    return request


def is_last_message(state: SupervisorState, request: str) -> bool:
    """Return whether a request is the chat's last message; one sent as `request` is not yet."""
    return _read_last_human_message(state) == request


def find_request_text(state: SupervisorState) -> str:
    """Return the last message, unless a request without a plan came after it."""
    request = state.get("request", "").strip()
    if request and request != state.get("planned_for"):
        return request
    return _read_last_human_message(state) or request


def _read_last_human_message(state: SupervisorState) -> str:
    messages = state.get("messages", [])
    return str(messages[-1].text).strip() if messages and _is_request(messages[-1]) else ""


def mark_answer(message: AnyMessage, *questions: str, why_unused: str = "") -> AnyMessage:
    """Return a chat message marked as the answer to questions, by id; it is no request then.

    Args:
        why_unused: why the message's files are not used; empty if they are.
    """
    marked = {**message.additional_kwargs, ANSWER_KEY: list(questions)}
    if why_unused and ATTACHMENTS_KEY in marked:
        marked[ATTACHMENTS_KEY] = [
            {"name": name, "unread": why or why_unused} for name, why in _read_records(message)
        ]
    return message.model_copy(update={"additional_kwargs": marked})


def is_answer(message: AnyMessage) -> bool:
    """Return whether a chat message was the answer to a question."""
    return ANSWER_KEY in message.additional_kwargs


def _is_request(message: AnyMessage) -> bool:
    return isinstance(message, HumanMessage) and not is_answer(message)


def list_unread_attachments(
    state: SupervisorState, language: str = DEFAULT_LANGUAGE, phrase: str = "not_read"
) -> list[str]:
    """Return which files of the messages since the last answer were not read, and why."""
    return [
        say(language, phrase, name=name, reason=why)
        for name, why in _list_attachments(state)
        if why
    ]


def list_read_attachments(state: SupervisorState) -> list[str]:
    """Return the names of the files of the messages since the last answer that were read."""
    return [name for name, why in _list_attachments(state) if not why]


def _list_attachments(state: SupervisorState) -> list[tuple[str, str]]:
    """Return the name of each file, and why it was not read; empty for one that was."""
    found: list[tuple[str, str]] = []
    for message in reversed(state.get("messages", [])):
        if isinstance(message, AIMessage) and not is_question(message):
            break
        found += _read_records(message)
    return found


def list_attached_files(message: AnyMessage) -> list[str]:
    """Return the names of the files of a chat message that were read."""
    return [name for name, why in _read_records(message) if not why]


def _read_records(message: AnyMessage) -> list[tuple[str, str]]:
    records = message.additional_kwargs.get(ATTACHMENTS_KEY)
    return [
        (
            sanitize_line(sanitize_name(str(record.get("name"))), MAX_REASON_CHARS),
            sanitize_line(str(record.get("unread") or ""), MAX_REASON_CHARS),
        )
        for record in (records if isinstance(records, list) else ())
        if isinstance(record, dict)
    ]


def read_history(state: SupervisorState) -> str:
    """Return the earlier turns of the thread, newest kept, as text for a model."""
    turns = [
        f"{message.type}: {shorten_text(str(message.text), 2000)}"
        for message in _list_earlier(state)
    ]
    return "\n\n".join(turns)[-MAX_HISTORY_CHARS:]


def read_earlier_requests(state: SupervisorState) -> str:
    """Return what the user asked before in the thread, newest kept, a line or more a request."""
    turns = [str(message.text) for message in _list_earlier(state) if _is_request(message)]
    return "\n".join(turns)[-MAX_HISTORY_CHARS:]


def _list_earlier(state: SupervisorState) -> list[AnyMessage]:
    earlier = state.get("messages", [])
    return earlier[:-1] if earlier and _is_request(earlier[-1]) else earlier


def read_kept_materials(config: RunnableConfig) -> list[str]:
    """Return the names of the materials that a follow-up request inherits from its thread."""
    # A team that does a task has the config of the outer run.
    return [] if build_task_path(config) else list(get_run_scope(config).kept_materials)


def _check_size(what: str, text: str, max_bytes: int) -> None:
    size = len(text.encode("utf-8", errors="replace"))
    if size > max_bytes:
        raise RequestInvalid(
            f"{what} is too large",
            cause=f"{size:,} bytes of at most {max_bytes:,}",
            next="provide large texts as a folder of documents (setting: SUPERVISE_DOCUMENTS)",
        )
