"""Names the models that an endpoint has, when it does not have the one that is set."""

import asyncio
import contextlib
from typing import Protocol, runtime_checkable

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelUnknown
from nodes.models.model_list import list_nearest_names
from state import Tier

LIST_TIMEOUT_S = 5.0
MAX_NAMES = 5


@runtime_checkable
class ListsModels(Protocol):
    """A client that can ask its endpoint for the names of its models."""

    model_name: str

    async def list_model_names(self) -> list[str]:
        """Return the names."""


async def name_nearest_models(error: ModelUnknown, inner: BaseChatModel, tier: Tier) -> str:
    """Return what to do next: a name that the endpoint has, or the advice of the error."""
    if not isinstance(inner, ListsModels):
        return error.next
    names: list[str] = []
    # Whatever becomes of the list, the error of the call is the one to show.
    with contextlib.suppress(Exception):
        async with asyncio.timeout(LIST_TIMEOUT_S):
            names = await inner.list_model_names()
    if not names or inner.model_name in names:
        return error.next
    near = list_nearest_names(inner.model_name, names)
    chosen = f"openai:{near[0]}" if near else "one of its models"
    some = ", ".join(names[:MAX_NAMES])
    return f"set SUPERVISE_MODEL_{tier.upper()} to {chosen}; the endpoint has {some}"
