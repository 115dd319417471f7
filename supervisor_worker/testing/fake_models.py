"""A chat model for unit tests, and the catalog that passes it to a node."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, Field, field_validator

from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from nodes.models.settings import ModelSettings
from state import Context, Tier

Reply = BaseModel | Mapping[str, Any] | str | Exception
"""A value for the schema, prose, or the error that is raised instead."""

INPUT_TOKENS, OUTPUT_TOKENS, COST_USD = 100, 10, 0.01
"""Of each call of the fake model."""


@dataclass(frozen=True)
class FakeCall:
    """One call of the fake model."""

    schema: str
    text: str
    """All messages, joined."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema that the model was shown."""


class FakeChatModel(BaseChatModel):
    """Answers by schema name, with one reply or a list; the last reply of a list is repeated."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    # Any, since pydantic would make models of the replies that are mappings.
    replies: dict[str, Any] = Field(default_factory=dict)
    """Lists of `Reply` by the name of a schema; a single reply is made one."""
    name_in_metadata: str = "fake"
    calls: list[FakeCall] = Field(default_factory=list)

    @field_validator("replies")
    @classmethod
    def _make_lists(cls, replies: dict[str, Any]) -> dict[str, list[Any]]:
        return {
            name: list(reply) if isinstance(reply, list) else [reply]
            for name, reply in replies.items()
        }

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Remember the names of the tools, which are also the names of the schemas."""
        shown = [convert_to_openai_tool(tool)["function"] for tool in tools]
        parameters = {tool["name"]: tool.get("parameters", {}) for tool in shown}
        return self.bind(
            tool_names=list(parameters), tool_choice=tool_choice, tool_parameters=parameters
        )

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        names = kwargs.get("tool_names") or []
        schema = next(
            (name for name in [kwargs.get("tool_choice"), *names] if name in self.replies), None
        )
        if schema is None:
            raise SettingsInvalid(
                f"FakeChatModel has no reply for {' or '.join(names) or 'words'}",
                cause=f"replies has {', '.join(self.replies) or 'none'}",
                next="add a value for it to replies, by the name of the schema",
            )
        text = "\n".join(str(message.text) for message in messages)
        shown = kwargs.get("tool_parameters", {}).get(schema, {})
        self.calls.append(FakeCall(schema, text, shown))
        replies = self.replies[schema]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Exception):
            raise reply
        return ChatResult(
            generations=[
                ChatGeneration(
                    message=_build_message(schema, reply, len(self.calls), self.name_in_metadata)
                )
            ]
        )

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, **kwargs)


class FakeCatalog(ModelCatalog):
    """A catalog whose tiers have names, and all share one fake model."""

    def __init__(self, model: FakeChatModel, **names: str) -> None:
        tiers = {tier: f"openai:{tier}" for tier in ("fast", "standard", "strong")}
        super().__init__(ModelSettings(**{**tiers, **names}))  # type: ignore[arg-type]  # names of tiers
        self.model = model
        self.asked_tiers: list[Tier] = []

    def get_chat_model(self, tier: Tier, context: Context | None = None) -> BaseChatModel:
        """Return the fake model, and record the tier."""
        self.asked_tiers.append(tier)
        return self.model


def make_models(**replies: Reply | list[Reply]) -> FakeCatalog:
    """Return a catalog whose model has these replies, by schema name."""
    return FakeCatalog(FakeChatModel(replies=replies))


def _build_message(
    schema: str, reply: BaseModel | Mapping[str, Any] | str, number: int, name: str
) -> Any:
    usage = UsageMetadata(
        input_tokens=INPUT_TOKENS,
        output_tokens=OUTPUT_TOKENS,
        total_tokens=INPUT_TOKENS + OUTPUT_TOKENS,
    )
    common: dict[str, Any] = {
        "usage_metadata": usage,
        "response_metadata": {"model": name, "cost_usd": COST_USD},
    }
    if isinstance(reply, str):
        return AIMessage(reply, **common)
    fields = (
        reply.model_dump(mode="json", exclude_unset=True)
        if isinstance(reply, BaseModel)
        else dict(reply)
    )
    call = tool_call(name=schema, args=fields, id=f"call_{number}")
    return AIMessage("", tool_calls=[call], **common)
