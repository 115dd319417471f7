"""Separates what the users of a server own: threads, runs, crons, assistants and store items.

A server asks a handler for each resource. Its answer is a filter on metadata, and it changes the
value that is about to be stored: the owner there is always the caller, whatever a client sent.
What has no handler here is refused.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from langgraph_sdk import Auth

from extensions.server.authentication import CRONS

OWNER: Final = "owner"
CREATOR: Final = "created_by"
SYSTEM: Final = "system"
"""The creator of the assistants that a server makes itself, one for each team, for all users."""

Admit = Callable[[str], Awaitable[None]]
Context = Auth.types.AuthContext
Value = dict[str, Any]  # what a server is about to store: JSON
Filter = dict[str, Any]  # of metadata, in the servers' language


def add_ownership(auth: Auth, admit: Admit, admit_thread: Admit) -> None:
    """Register the handlers of all resources.

    Args:
        admit: called with a user's identity before a run of theirs is stored; raises to refuse it.
        admit_thread: the same for a thread.
    """

    async def own_new_thread(ctx: Context, value: Value) -> Filter:
        own = await own_thread(ctx, value)
        await admit_thread(str(ctx.user.identity))
        return own

    async def own_run(ctx: Context, value: Value) -> Filter:
        own = await own_thread(ctx, value)
        _refuse_webhook(value.get("kwargs"))
        if value.get("thread_id") is None or value.get("if_not_exists") == "create":
            await admit_thread(str(ctx.user.identity))
        await admit(str(ctx.user.identity))
        return own

    auth.on(refuse_unknown)
    auth.on.threads(own_thread)
    auth.on(resources="threads", actions="create")(own_new_thread)
    auth.on(resources="threads", actions="create_run")(own_run)
    auth.on.assistants(own_assistant)
    auth.on.crons(own_cron)
    auth.on.store(own_namespace)


async def refuse_unknown(ctx: Context, value: Value) -> bool:
    """Refuse whatever has no handler of its own."""
    return False


async def own_thread(ctx: Context, value: Value) -> Filter:
    """Return the filter of the caller's threads; a new one becomes the caller's."""
    _require_user(ctx)
    if ctx.action in ("create", "update", "create_run"):
        _stamp_owner(ctx, value)
    return {OWNER: ctx.user.identity}


async def own_assistant(ctx: Context, value: Value) -> Filter:
    """Return the filter of the caller's assistants; those of the server can be read by all."""
    _require_user(ctx)
    own = {OWNER: ctx.user.identity}
    if ctx.action in ("read", "search"):
        return {"$or": [own, {CREATOR: SYSTEM}]}
    if ctx.action in ("create", "update"):
        _stamp_owner(ctx, value)[CREATOR] = ctx.user.identity
    return own


async def own_cron(ctx: Context, value: Value) -> Filter:
    """Return the filter of the caller's crons; creating one takes a permission."""
    _require_user(ctx)
    if ctx.action in ("create", "update"):
        if CRONS not in ctx.permissions:
            raise _refuse("this user may not create runs that repeat (crons)")
        _refuse_webhook(value.get("payload"))
        _refuse_webhook(value)
        _stamp_owner(ctx, value)
    return {OWNER: ctx.user.identity}


async def own_namespace(ctx: Context, value: Value) -> None:
    """Put a namespace of the store below the caller's identity."""
    _require_user(ctx)
    parts = tuple(value.get("namespace") or ())
    is_own = parts[:1] == (ctx.user.identity,)
    value["namespace"] = parts if is_own else (ctx.user.identity, *parts)


def _stamp_owner(ctx: Context, value: Value) -> dict[str, Any]:
    """Make the caller the owner of what is stored; return its metadata."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        metadata = value["metadata"] = {}
    metadata[OWNER] = ctx.user.identity
    return metadata


def _require_user(ctx: Context) -> None:
    """Refuse callers without a token, such as Studio's where a server lets it in by itself."""
    if not ctx.user.is_authenticated:
        raise _refuse("a valid token is needed")


def _refuse_webhook(asked: object) -> None:
    """Refuse a run that would send its result to an address that the client names."""
    if isinstance(asked, dict) and asked.get("webhook"):
        raise _refuse("webhooks are not available on this server")


def _refuse(what: str) -> Exception:
    refusal: Exception = Auth.exceptions.HTTPException(status_code=403, detail=what)
    return refusal
