"""The limit of tokens in one answer, by what the answer is for.

Without one, a small model that does not find its end writes until its context is full.
"""

from collections.abc import Mapping
from typing import Any, get_args

from nodes.models.run_context import REPORT, name_requested_schema
from nodes.models.settings import DEFAULT_OUTPUT_TOKENS, OutputPurpose
from nodes.models.structured.methods import EndpointKind

DEFAULT_LIMITS: Mapping[OutputPurpose, int] = dict.fromkeys(
    get_args(OutputPurpose), DEFAULT_OUTPUT_TOKENS
)
OPENAI_FACTOR = 4
"""OpenAI's models count their thoughts as output."""
_PURPOSES: Mapping[str, OutputPurpose] = {"Plan": "plan", "Decision": "plan", "Answer": "answer"}


def choose_output_limit(
    kwargs: Mapping[str, Any], chosen: Mapping[OutputPurpose, int], kind: EndpointKind
) -> int:
    """Return the most tokens that the answer to a request may have.

    Args:
        kwargs: arguments of the call, with its tools.
        chosen: limits from the settings.
    """
    schema = name_requested_schema(kwargs)
    purpose = _PURPOSES.get(schema, "turn")
    if schema == REPORT and len(kwargs.get("tools") or ()) == 1:
        purpose = "report"
    factor = OPENAI_FACTOR if kind == "openai" else 1
    return chosen.get(purpose) or DEFAULT_LIMITS[purpose] * factor
