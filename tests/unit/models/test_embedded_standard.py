"""The standard chat-model tests of LangChain, over the embedded model."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from nodes.models.embedded import EmbeddedModel


class TestEmbeddedUnit(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return EmbeddedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {}


class TestEmbeddedIntegration(ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return EmbeddedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {}

    @property
    def model_override_value(self) -> str:
        return "embedded-too"
