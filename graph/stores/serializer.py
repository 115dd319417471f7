"""What a checkpoint may hold: our vocabulary and LangGraph's own types, and nothing that runs."""

import inspect
from typing import Any, Final
from zlib import crc32

from pydantic import BaseModel

import state
from graph.stores.redacting_serializer import RedactingSerializer

_CHECKSUM_SUFFIX: Final = "+crc32"
_CHECKSUM_BYTES: Final = 4


def list_checkpoint_types() -> list[tuple[str, str]]:
    """List the classes that a checkpoint of ours may hold, by module and name."""
    return sorted(
        (cls.__module__, cls.__qualname__)
        for cls in vars(state).values()
        if inspect.isclass(cls) and issubclass(cls, BaseModel) and cls.__module__ == "state"
    )


class StrictSerializer(RedactingSerializer):
    """Reads back what it knows, never runs anything, and refuses bytes that are not those written.

    LangGraph's builds something out of a damaged value too, which fails later, somewhere else.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Write a value, and a sum of its bytes behind it."""
        kind, data = super().dumps_typed(obj)
        return kind + _CHECKSUM_SUFFIX, data + crc32(data).to_bytes(_CHECKSUM_BYTES)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Read a value back; one from before the sums is taken as it is.

        Raises:
            ValueError: its bytes are not those that were written.
        """
        kind, content = data
        if kind.endswith(_CHECKSUM_SUFFIX):
            kind = kind.removesuffix(_CHECKSUM_SUFFIX)
            content, written = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
            if crc32(content).to_bytes(_CHECKSUM_BYTES) != written:
                raise ValueError("its bytes are not those that were written")
        return super().loads_typed((kind, content))


def build_strict_serializer() -> StrictSerializer:
    """Read back our vocabulary and LangGraph's own types, and never run anything else."""
    return StrictSerializer(allowed_msgpack_modules=list_checkpoint_types())
