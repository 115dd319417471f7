"""A serializer that writes no secret into a checkpoint, whatever the state holds."""

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from nodes.errors.redaction import redact_bytes


class RedactingSerializer(JsonPlusSerializer):
    """LangGraph's serializer; known secrets are overwritten in what it has written."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Encode a value of a checkpoint."""
        kind, data = super().dumps_typed(obj)
        return kind, redact_bytes(data)
