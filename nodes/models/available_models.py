"""The models of one step: the tier's own, and those that take over when it cannot be reached."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from pydantic import BaseModel

from nodes.errors import BadResponse, BudgetSpent, DeadlinePassed, ModelError, ModelUnknown
from nodes.models.structured_output import ModelReply, ask_model
from nodes.telemetry.events import emit
from state import Usage

T = TypeVar("T", bound=BaseModel)


class AvailableModels:
    """Asks the first model that can be reached; one that could not is not asked again."""

    def __init__(
        self,
        first: BaseChatModel,
        load_others: Callable[[], Sequence[BaseChatModel]] = tuple,
    ) -> None:
        self._model, self._load_others = first, load_others
        self._others: list[BaseChatModel] | None = None
        self.lost_usage = Usage()
        """Of models that failed."""

    @property
    def gives_more_time(self) -> bool:
        """Whether a call that was too slow has more time when it is made again."""
        settings = getattr(self._model, "settings", None)
        return settings is not None and settings.call_timeout_s is None

    def take_next(self) -> bool:
        """Ask the next model from now on; return False when there is none."""
        if self._others is None:
            self._others = list(self._load_others())
        if not self._others:
            return False
        self._model = self._others.pop(0)
        return True

    async def ask(
        self, schema: type[T], messages: Sequence[AnyMessage], **how: Any
    ) -> ModelReply[T]:
        """Return the value of the first model that can be reached; `how` is for `ask_model`.

        Raises:
            UnreadableReply: it is not such a value.
            ModelError: no model can be reached.
        """
        while True:
            try:
                return await ask_model(self._model, schema, messages, **how)
            except (ModelError, ModelUnknown) as error:
                is_final = isinstance(error, BudgetSpent | DeadlinePassed) or (
                    isinstance(error, BadResponse) and error.reply_text
                )
                self.lost_usage += error.usage or Usage()
                if is_final or not self.take_next():
                    error.usage, self.lost_usage = self.lost_usage, Usage()
                    raise
                await emit("error", code=error.code, message=f"another tier is asked: {error}")
