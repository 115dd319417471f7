"""Validates what a caller passes to a run: its input, its settings, edits of its state."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from difflib import get_close_matches
from functools import cache
from typing import Any, get_type_hints

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage, convert_to_messages
from langchain_core.runnables import RunnableConfig
from langgraph.errors import InvalidUpdateError
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, Overwrite
from pydantic import TypeAdapter, ValidationError

from graph.extensions import register_extensions
from nodes.errors import RequestInvalid, SettingsInvalid, describe_invalid
from nodes.errors.redaction import redact_value
from nodes.limits.run_scope import SCOPE_KEY, RunScope
from nodes.models.json_reading import require_storable
from nodes.planning.certificates import lower_to_certificate
from nodes.schemas.team import Team
from nodes.text.plain_text import sanitize_line, sanitize_name
from nodes.tools.framework.catalog import list_shipped_tools
from state import Context, RequestInput, SupervisorState

MAX_MATERIAL_NAME_CHARS = 1000
"""Limit for the name of a material."""
MAX_CAUSE_CHARS = 200
MAX_NAME_CHARS = 80


def read_input(given: Any) -> Any:
    """Return an input without its empty fields, secrets and other forms of messages.

    Any other value is returned unchanged.

    A form, such as Studio's, sends null for a field that was left empty. A chat message replaces
    an earlier request, whether that was planned or not.

    Raises:
        RequestInvalid: a field has the wrong type, or a value that no checkpoint can hold.
    """
    if isinstance(given, Command):
        _require_storable("the answer", given.resume)
        if isinstance(given.update, Mapping):
            _read_messages(given.update.get("messages"))
    if not isinstance(given, Mapping):
        return given
    filled = {name: redact_value(value) for name, value in given.items() if value is not None}
    request, materials = filled.get("request", ""), filled.get("materials", {})
    require_texts(request, materials)
    _require_storable("the request", request)
    if materials:
        filled["materials"] = _clean_material_names(materials)
    if messages := _read_messages(filled.get("messages")):
        filled["messages"] = messages
        if not request and isinstance(messages[-1], HumanMessage):
            filled["request"] = ""
    return filled


def require_texts(request: object, materials: object) -> None:
    """Refuse a request and materials that are not text.

    Raises:
        RequestInvalid: one of them has another type.
    """
    if not isinstance(request, str):
        raise RequestInvalid(
            "request must be a string", cause=f"it is {request!r:.40}", next="send it as text"
        )
    if not isinstance(materials, Mapping) or not all(
        isinstance(text, str) for item in materials.items() for text in item
    ):
        raise RequestInvalid(
            "materials must map names to strings", next='send them as {"name": "text"}'
        )


def _clean_material_names(materials: Mapping[str, str]) -> dict[str, str]:
    """Return materials with names that a model may read: one line, no invisible characters.

    Raises:
        RequestInvalid: a text cannot be stored, a name is too long, or two cleaned names are equal.
    """
    named: dict[str, str] = {}
    for given, text in materials.items():
        name = sanitize_name(given)
        if len(name) > MAX_MATERIAL_NAME_CHARS or name in named:
            problem = "has the same name as another" if name in named else "has a name too long"
            raise RequestInvalid(
                f"the material {name[:80]!r} {problem}",
                next=f"give each material a unique name of at most {MAX_MATERIAL_NAME_CHARS} "
                "characters",
            )
        _require_storable(f"the material {name!r}", text)
        named[name] = text
    return named


def read_context(given: Context | Mapping[str, Any] | None) -> Context:
    """Return the settings of a run as a `Context`.

    Raises:
        SettingsInvalid: a key is not a setting, or a value is not allowed.
    """
    if given is None:
        return Context()
    values = asdict(given) if isinstance(given, Context) else given
    if not isinstance(values, Mapping):
        raise SettingsInvalid(
            f"context is a {type(given).__name__}, not a Context or its values by name",
            next="pass it as {'deadline_s': 60}",
        )
    known = {field.name for field in fields(Context)}
    if unknown := sorted(map(str, set(values) - known)):
        raise SettingsInvalid(
            f"unknown setting {unknown[0]!r} in the context", next=f"use one of {sorted(known)}"
        )
    try:
        context = _get_context_adapter().validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SettingsInvalid(
            f"{first['loc'][0]} in the context",
            cause=f"{first['msg']}; it is {first['input']!r:.40}",
            next="leave it out to use the value of the team or the environment",
        ) from None
    if context.certificate is not None:
        register_extensions()  # one of them reads it
    return lower_to_certificate(context)


def require_grant(team: Team, context: Context, is_server_user: bool = False) -> None:
    """Refuse a grant to specialists with a tool that is unknown, or that a worker holds.

    Modules are named in `team.md` alone: to name one here would be to run it.

    Args:
        is_server_user: a user of a server chooses from the tools that the team's file grants.

    Raises:
        SettingsInvalid: a tool cannot be granted.
    """
    if not context.recruit:
        return
    if (context.strategy or team.strategy) == "single":
        raise SettingsInvalid(
            "a single agent has the tools of its team, and recruits no specialist",
            next="leave the grant out, or choose another strategy",
        )
    holders = {tool: worker.name for worker in team.workers for tool in worker.tools}
    known = set(team.grant) if is_server_user else {*team.grant, *team.own_tools}
    known |= set() if is_server_user else set(list_shipped_tools())
    free = sorted(known - holders.keys())
    for name in context.recruit:
        if name in free:
            continue
        near = get_close_matches(name[:MAX_NAME_CHARS], free, 1)
        cause = f"did you mean {near[0]!r}?" if near else "there is no such tool"
        if name in holders:
            cause = f"worker {holders[name]} has it, and no two workers share a tool"
        raise SettingsInvalid(
            f"tool {name[:MAX_NAME_CHARS]!r} cannot be granted to specialists",
            cause=cause,
            next=f"grant some of {', '.join(free)}" if free else "name it in `grant` of team.md",
        )


def reject_foreign_scope(config: RunnableConfig) -> None:
    """Refuse a `configurable` in which a client has set the scope of the run.

    Raises:
        SettingsInvalid: the scope is set.
    """
    if isinstance(config.get("configurable", {}).get(SCOPE_KEY, RunScope()), RunScope):
        return
    raise SettingsInvalid(
        f"{SCOPE_KEY!r} in the configurable is reserved for the run",
        next="remove it; set deadline and budget in the context",
    )


def read_state_edit(values: Any) -> Any:
    """Return an edit of a run's state as our own types; Studio and other clients send JSON.

    Raises:
        InvalidUpdateError: a value is invalid, such as a plan with a cycle; a server returns the
            message to its client.
    """
    if not isinstance(values, Mapping):
        return values
    readers = _get_state_adapters()
    try:
        return {
            name: readers[name].validate_python(value) if name in readers else value
            for name, value in values.items()
        }
    except ValidationError as error:
        raise InvalidUpdateError(f"{error.title} {describe_invalid(error)}") from None


def _read_messages(given: Any) -> list[AnyMessage]:
    """Return the messages of an input.

    Raises:
        RequestInvalid: one cannot be read, or removes another. LangGraph would save it before it
            finds that out, and could never read the thread again.
    """
    if given is None or isinstance(given, Overwrite):
        return []
    try:
        found: list[Any] = convert_to_messages(given if isinstance(given, list) else [given])
    except (ValueError, TypeError, LookupError, AttributeError, NotImplementedError) as error:
        raise RequestInvalid(
            "a message cannot be read",
            cause=_describe_problem(error),
            kept="the thread as it is",
            next='send messages as {"role": "user", "content": "…"}',
        ) from None
    if any(isinstance(each, RemoveMessage) and each.id != REMOVE_ALL_MESSAGES for each in found):
        raise RequestInvalid(
            "an input cannot remove a message",
            kept="the thread as it is",
            next="edit the state of the thread (update_state)",
        )
    return found


def _describe_problem(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return sanitize_line(str(error).partition("\n")[0], MAX_CAUSE_CHARS)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'][:1]))}: {first['msg']}"


def _require_storable(what: str, value: Any) -> None:
    """Refuse lone surrogates and numbers beyond 64 bits, which no checkpoint can hold."""
    try:
        require_storable(value)
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except (ValueError, TypeError) as error:
        raise RequestInvalid(f"{what} cannot be kept", cause=str(error)) from None


@cache
def _get_context_adapter() -> TypeAdapter[Context]:
    return TypeAdapter(Context)


@cache
def _get_state_adapters() -> Mapping[str, TypeAdapter[Any]]:
    """Return what reads a channel, for each of ours; the others are the chat's, or hold texts."""
    kinds = get_type_hints(SupervisorState)
    own = kinds.keys() - RequestInput.__annotations__.keys() - {"ui"}
    return {name: TypeAdapter(kinds[name]) for name in own}
