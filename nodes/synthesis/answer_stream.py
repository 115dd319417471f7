"""Streams the answer's text as the run's chat message, while a model still writes it.

Model calls are not streamed to those who listen to messages: their JSON is not for a reader. The
text of the answer alone is, under the id of the message that ends the run.
"""

from typing import Any, Final
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackHandler, CallbackManager
from langchain_core.callbacks.manager import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from nodes.models.reply_stream import AnswerTextListener
from nodes.models.run_context import TextListener
from nodes.telemetry.events import build_task_path
from nodes.text.markdown import find_active_markdown
from nodes.text.plain_text import make_printable

RUN_NAME: Final = "answer"


class AnswerStream:
    """The growing text of one answer, for the handlers that stream messages.

    Only whole words are sent, without secrets; nothing from a picture or HTML on, which is escaped
    when the answer is complete. What has been sent is not taken back: an answer that is written
    again is sent on where its beginning is the same, else as a message of its own.
    """

    def __init__(self, config: RunnableConfig) -> None:
        callbacks = config.get("callbacks")
        handlers: list[Any] = [  # the marker class is no callback handler itself
            handler
            for handler in (getattr(callbacks, "handlers", None) or ())
            if isinstance(handler, _StreamingCallbackHandler)
            and not isinstance(handler, AsyncCallbackHandler)
        ]
        # The answer of a team inside a task is a report of the outer run.
        self._handlers = [] if build_task_path(config) else handlers
        self._metadata = dict(config.get("metadata", {}))
        self._run: CallbackManagerForLLMRun | None = None
        self._sent, self._id = "", str(uuid4())

    @property
    def listener(self) -> TextListener | None:
        """Takes the reply so far of the model that writes the answer; None if there is no reader.

        Such a listener makes the model stream its reply.
        """
        return AnswerTextListener(self.send_text) if self._handlers else None

    def send_text(self, text: str) -> None:
        """Send what is new in the text so far."""
        shown = make_printable(text).lstrip()
        whole_words = shown[: max(shown.rfind(" "), shown.rfind("\n"), 0)]
        self._send(whole_words[: find_active_markdown(whole_words)].rstrip())

    def finish(self, text: str) -> AIMessage:
        """Send the rest of the message, and return it."""
        if self._run is None or not text.startswith(self._sent):
            return AIMessage(text)
        self._send(text)
        message = AIMessage(text, id=self._id)
        self._send_event({"event": "content-block-finish", "index": 0, "content": _block(text)})
        self._send_event({"event": "message-finish"})
        self._run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
        return message

    def _send(self, text: str) -> None:
        if len(text) <= len(self._sent) or not text.startswith(self._sent):
            return
        added, self._sent = text[len(self._sent) :], text
        if self._run is None:
            self._begin()
        assert self._run is not None, "the message has begun"
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=added, id=self._id))
        self._run.on_llm_new_token(added, chunk=chunk)
        delta = {"type": "text-delta", "text": added}
        self._send_event({"event": "content-block-delta", "index": 0, "delta": delta})

    def _begin(self) -> None:
        manager = CallbackManager(self._handlers, metadata=self._metadata)
        self._run = manager.on_chat_model_start({"name": RUN_NAME}, [[]])[0]
        # LangGraph looks for `message_id`, LangChain for `id`.
        ids = {"id": self._id, "message_id": self._id}
        self._send_event({"event": "message-start", "role": "ai", **ids})
        self._send_event({"event": "content-block-start", "index": 0, "content": _block("")})

    def _send_event(self, event: Any) -> None:  # its type is a union of private ones
        """Send an event of LangChain's content-block protocol; others take the chunks."""
        assert self._run is not None, "the message has begun"
        self._run.on_stream_event(event)


def _block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
