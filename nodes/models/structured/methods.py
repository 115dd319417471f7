"""The ways to ask a model for JSON of a schema, and which of them an endpoint supports.

No way works everywhere: llama.cpp leaves it to a model's template whether `tool_choice` is
enforced, DeepSeek refuses to be forced while it thinks, and Ollama does not enforce it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

OutputMethod = Literal["json_schema", "required_tool", "json_prompt"]
"""`json_schema` is a response format, `required_tool` a value of `tool_choice`, and `json_prompt`
shows the schema in the prompt and relies on nothing else."""
EndpointKind = Literal["openai", "compatible", "ollama", "other"]
"""OpenAI's own service, another server of its protocol, Ollama's own client, or any other one."""
Purpose = Literal["value", "tools"]
"""What is asked for: one value of one schema, or a call of any of several tools."""

_BY_TOOL: Sequence[OutputMethod] = ("required_tool", "json_schema", "json_prompt")
_BY_FORMAT: Sequence[OutputMethod] = ("json_schema", "required_tool", "json_prompt")


@dataclass
class OutputMethods:
    """The methods of one model behind one endpoint; the first that worked stays in use."""

    orders: dict[Purpose, Sequence[OutputMethod]]
    _current: dict[Purpose, OutputMethod] = field(default_factory=dict)
    has_called: bool = False
    """The model has called a tool as its endpoint's protocol says; until then it may run on."""
    refused_parameters: set[str] = field(default_factory=set)
    """Names of optional request parameters, such as `temperature`, that are left out."""

    def list_from_current(self, purpose: Purpose) -> Sequence[OutputMethod]:
        """Return the methods to try: the one in use, then those after it."""
        order = self.orders[purpose]
        return order[order.index(self.get_current(purpose)) :]

    def keep(self, purpose: Purpose, method: OutputMethod) -> bool:
        """Use a method from now on, unless a later one is in use; return whether it changes."""
        order, before = self.orders[purpose], self.get_current(purpose)
        if order.index(method) <= order.index(before):
            return False
        self._current[purpose] = method
        return True

    def list_after(self, purpose: Purpose, method: OutputMethod) -> Sequence[OutputMethod]:
        """Return the methods after one."""
        return self.orders[purpose][self.orders[purpose].index(method) + 1 :]

    def get_current(self, purpose: Purpose) -> OutputMethod:
        """Return the method in use."""
        return self._current.get(purpose, self.orders[purpose][0])


@cache
def get_output_methods(endpoint: str, model: str, kind: EndpointKind) -> OutputMethods:
    """Return the methods of a model; shared by all runs of the process."""
    return OutputMethods(_order_methods(kind))


def _order_methods(kind: EndpointKind) -> dict[Purpose, Sequence[OutputMethod]]:
    if kind == "openai":
        return {"value": _BY_TOOL, "tools": _BY_TOOL}
    if kind == "compatible":
        # A grammar holds even a model to the schema that was never trained to call tools.
        return {"value": _BY_FORMAT, "tools": _BY_TOOL}
    # Ollama's own client takes a schema, which its server enforces; a forced call it ignores.
    order = _BY_FORMAT if kind == "ollama" else _BY_TOOL
    return {"value": order, "tools": order}
