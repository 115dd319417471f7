"""The types that a checkpoint may hold, ours and LangGraph's own: no code, no known secret."""

import inspect
from typing import Any, Final
from zlib import crc32

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

import state
from nodes.errors.redaction import redact_bytes


class RedactingSerializer(JsonPlusSerializer):
    """LangGraph's serializer; known secrets are overwritten in its output."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Encode a value of a checkpoint."""
        kind, data = super().dumps_typed(obj)
        return kind, redact_bytes(data)


_CHECKSUM_SUFFIX: Final = "+crc32"
_CHECKSUM_BYTES: Final = 4
_FORMS: Final = ("null", "bytes", "bytearray", "msgpack")
"""Of LangGraph's, those that it writes; `json` and `pickle` can name classes to call."""


def list_checkpoint_types() -> list[tuple[str, str]]:
    """List our classes that a checkpoint may hold, by module and name."""
    return sorted(
        (cls.__module__, cls.__qualname__)
        for cls in vars(state).values()
        if inspect.isclass(cls) and issubclass(cls, BaseModel) and cls.__module__ == state.__name__
    )


_MODULES: Final = ("state", "supervisor_worker.state")
"""Where our types are: in a checkout, and in an installed package, which read each other's."""
_FOREIGN: Final = next(name for name in _MODULES if name != state.__name__)


def _move_types(code: int, data: bytes) -> ormsgpack.Ext:
    """Return a part of LangGraph's form in which our types are where this program has them."""
    value = ormsgpack.unpackb(data, ext_hook=_move_types, option=ormsgpack.OPT_NON_STR_KEYS)
    if isinstance(value, list) and value[:1] == [_FOREIGN]:
        value[0] = state.__name__
    return ormsgpack.Ext(code, _pack(value))


def _pack(value: Any) -> bytes:
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


class StrictSerializer(RedactingSerializer):
    """Reads only known types, never runs code, and refuses damaged bytes.

    LangGraph's serializer may build a value from damaged bytes, which would fail later elsewhere.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Encode a value, followed by a checksum of its bytes."""
        kind, data = super().dumps_typed(obj)
        return kind + _CHECKSUM_SUFFIX, data + crc32(data).to_bytes(_CHECKSUM_BYTES)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Decode a value; one that was written without a checksum is not checked.

        Raises:
            ValueError: the checksum does not match, or the form can name code.
        """
        kind, content = data
        if kind.endswith(_CHECKSUM_SUFFIX):
            kind = kind.removesuffix(_CHECKSUM_SUFFIX)
            content, written = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
            if crc32(content).to_bytes(_CHECKSUM_BYTES) != written:
                raise ValueError("the checksum does not match")
        if kind not in _FORMS:
            raise ValueError(f"the form {kind[:40]!r} is not read")
        if kind == "msgpack" and ormsgpack.packb(_FOREIGN) in content:
            option = ormsgpack.OPT_NON_STR_KEYS
            content = _pack(ormsgpack.unpackb(content, ext_hook=_move_types, option=option))
        return super().loads_typed((kind, content))


def build_strict_serializer() -> StrictSerializer:
    """Build the serializer for our own types and LangGraph's."""
    return StrictSerializer(allowed_msgpack_modules=list_checkpoint_types())
