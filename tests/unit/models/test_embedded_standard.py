"""The standard unit tests of LangChain's chat models, over the built-in model."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_tests.unit_tests import ChatModelUnitTests

from nodes.models.embedded import EmbeddedModel


class TestEmbeddedUnit(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return EmbeddedModel

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {}
