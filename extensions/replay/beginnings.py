"""What a part of a record begins with, as values of this program: no other than the run had."""

from typing import Any, Final

from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send

from extensions.replay.record_file import Entry, decode_value
from extensions.replay.record_form import RecordRefused
from extensions.replay.run_state import OWN_SETTINGS, RECORDED_SETTINGS
from graph.settings import Settings
from graph.topology.input_validation import read_context
from nodes.errors import SettingsInvalid
from state import Context

_MODEL_FIELDS: Final = ("model_fast", "model_standard", "model_strong")
MAX_SENT: Final = 5_000
"""Tasks that are to begin at once."""


def read_begun_context(begun: Entry) -> Context:
    """Return the context of a run, without its models.

    Raises:
        RecordRefused: it is none.
    """
    try:
        return read_context({**begun["context"], **dict.fromkeys(_MODEL_FIELDS)})
    except SettingsInvalid as error:
        raise RecordRefused(str(error)) from None


def read_begun_settings(begun: Entry) -> Settings:
    """Return the settings with those of a run in their place; no other is the record's to set.

    Raises:
        RecordRefused: one has a value that it cannot have.
        SettingsInvalid: the user's own have.
    """
    known, own = {*RECORDED_SETTINGS, *OWN_SETTINGS}, Settings()
    recorded = {name: value for name, value in begun["settings"].items() if name in known}
    try:
        return Settings(**recorded, sources=own.sources)
    except SettingsInvalid as error:
        raise RecordRefused(str(error)) from None


def read_input(begun: Entry) -> Any:
    """Return what the graph was given: an input, an answer, or what reopens it.

    Raises:
        RecordRefused: it is something else.
    """
    given = decode_value(begun["input"])
    # A command that reopens a run begins at the supervisor.
    goto: tuple[Any, ...] = ((), [], "supervisor")
    is_command = isinstance(given, Command) and not given.graph and given.goto in goto
    if not (given is None or isinstance(given, dict) or is_command):
        raise RecordRefused("the input of the run is none")
    return given


def load_checkpoints(saver: InMemorySaver, begun: Entry) -> None:
    """Put the state in which a segment began into a saver.

    Raises:
        RecordRefused: very many tasks would begin at once.
    """
    sent = 0
    for encoded in begun["checkpoints"]:
        ns, checkpoint, metadata, writes = decode_value(encoded)
        values = [*checkpoint["channel_values"].values(), *(value for *_, value in writes)]
        sent += sum(map(_count_sent, values))
        if sent > MAX_SENT:
            raise RecordRefused(f"it begins with more than {MAX_SENT:,} tasks at once")
        place = {"thread_id": begun["thread"], "checkpoint_ns": ns}
        saved = saver.put(
            {"configurable": place}, checkpoint, metadata, checkpoint["channel_versions"]
        )
        for task_id, channel, value in writes:
            _add_write(saver, saved, task_id, channel, value)


def _count_sent(value: Any) -> int:
    return sum(isinstance(each, Send) for each in value) if isinstance(value, list | tuple) else 0


def _add_write(saver: InMemorySaver, config: Any, task: str, channel: str, value: Any) -> None:
    """Add one write beside a checkpoint; a saver numbers those of one call, so keep their order."""
    place = config["configurable"]
    outer = place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]
    kept = saver.writes[outer]
    number = WRITES_IDX_MAP.get(channel, len(kept))
    kept[task, number] = (task, channel, saver.serde.dumps_typed(value), "")
