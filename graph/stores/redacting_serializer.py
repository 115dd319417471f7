"""A serializer that writes no known secret into a checkpoint."""

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from nodes.errors.redaction import redact_bytes


class RedactingSerializer(JsonPlusSerializer):
    """LangGraph's serializer; known secrets are overwritten in its output."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Encode a value of a checkpoint."""
        kind, data = super().dumps_typed(obj)
        return kind, redact_bytes(data)
