"""A SQLite checkpointer that saves each large channel value once a thread, by its hash.

LangGraph's writes the values of all channels into every checkpoint: documents, plan and reports of
a run again after each superstep. Here a checkpoint refers to a large value by its hash. The table
is ours; checkpoints without references, of earlier releases, are read as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.sqlite import SqliteSaver

VALUES_TABLE: Final = "supervise_values"
CREATE_VALUES_TABLE: Final = (
    f"CREATE TABLE IF NOT EXISTS {VALUES_TABLE} (thread_id TEXT NOT NULL, hash BLOB NOT NULL, "
    "type TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (thread_id, hash))"
)
MIN_BYTES: Final = 200
"""Of an encoded value that is saved on its own; a reference takes about 50 bytes."""
_REFERENCES_KEY: Final = "supervise_values"
"""In a checkpoint: hash by channel."""
_HASH_BYTES: Final = 16


class ValueSaver(SqliteSaver):
    """Saves checkpoints whose large values are in a table of their own."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint, and those of its large values that the thread does not have yet."""
        thread = str(config["configurable"]["thread_id"])
        small, references = dict[str, Any](), dict[str, bytes]()
        with self.cursor() as cursor:
            for channel, value in checkpoint["channel_values"].items():
                kind, data = self.serde.dumps_typed(value)
                if len(data) < MIN_BYTES:
                    small[channel] = value
                    continue
                digest = blake2b(kind.encode() + data, digest_size=_HASH_BYTES).digest()
                references[channel] = digest
                cursor.execute(
                    f"INSERT OR IGNORE INTO {VALUES_TABLE} VALUES (?, ?, ?, ?)",
                    (thread, digest, kind, data),
                )
        kept = {**checkpoint, "channel_values": small, _REFERENCES_KEY: references}
        return super().put(config, cast(Checkpoint, kept), metadata, new_versions)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint."""
        found = super().get_tuple(config)
        return found and self._resolve_references(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first."""
        for found in super().list(config, filter=filter, before=before, limit=limit):
            yield self._resolve_references(found)

    def delete_thread(self, thread_id: str) -> None:
        """Remove all that a thread has saved."""
        super().delete_thread(thread_id)
        with self.cursor() as cursor:
            cursor.execute(f"DELETE FROM {VALUES_TABLE} WHERE thread_id = ?", (str(thread_id),))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return the history of delta channels; the library's query reads values in place."""
        return BaseCheckpointSaver.get_delta_channel_history(self, config=config, channels=channels)

    def _resolve_references(self, found: CheckpointTuple) -> CheckpointTuple:
        """Put a checkpoint's large values in their place.

        Raises:
            ValueError: one is missing.
        """
        references = cast(dict[str, Any], found.checkpoint).pop(_REFERENCES_KEY, {})
        thread = found.config["configurable"]["thread_id"]
        for channel, digest in references.items():
            row = self.conn.execute(
                f"SELECT type, value FROM {VALUES_TABLE} WHERE thread_id = ? AND hash = ?",
                (str(thread), digest),
            ).fetchone()
            if row is None:
                raise ValueError(f"the value of {channel} is missing")
            found.checkpoint["channel_values"][channel] = self.serde.loads_typed(row)
        return found
