"""Open questions of a thread: at the end of a stream, in its chat, and answered by an input."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, get_args
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot

from graph.stores.side_records import load_records, save_record
from nodes.errors import UsageError
from nodes.human.reply import FORM_FIELDS
from nodes.human.request import CLIENT_KEYS, RequestKind, build_question_message
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.planning.request import is_answer, list_attached_files, mark_answer
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code

Question = Mapping[str, Any]
"""`id`, `kind` (`plan`, `question` or `tool_call`), and the question itself."""

ASKING_NODE: Final = "approval"
"""The next node of a thread whose plan was edited in its state: it asks when the run continues, and
takes a reply that is given before."""
FILE_UNUSED: Final = "it came with the answer to a question; the next request can use it"
"""Why the task that has asked does not use a file; the run's plan can be made again with it."""
_INTERRUPT_ID: Final = Pattern(r"[0-9a-f]{32}")
_REPLY_FIELDS: Final = frozenset((*FORM_FIELDS, "decisions", "type", "goal", "tasks"))
"""Keys of a reply to one question; other keys name questions."""


class NoOpenQuestion(UsageError):
    """An answer was given, and no question is open."""

    code = "NOTHING_ASKED"


class AnswerUnclear(UsageError):
    """The answer names a question that is not open."""


def list_open_questions(snapshot: StateSnapshot) -> list[dict[str, Any]]:
    """Return the open questions of a run, in the order in which they were asked.

    In a snapshot with subgraphs, a question whose task is at work on the answer is not open.
    """
    open_ids = _collect_open_ids(snapshot)
    asked = [
        {"id": each.id, **_select_content(each.value)}
        for each in snapshot.interrupts
        if each.id in open_ids
    ]
    for question in asked:
        if (number := _number_plan(question, snapshot)) > 1:
            question["number"] = number
    return sorted(asked, key=lambda question: float(question.get("asked_s") or 0.0))


def _number_plan(question: Question, snapshot: StateSnapshot) -> int:
    """Return how many plans the request has had with the one asked about: versions count on."""
    if question.get("kind") != "plan":
        return 0
    is_inner = bool(question.get("task"))  # a team in a task counts its own
    return int(question["plan"]["version"] if is_inner else snapshot.values.get("revisions", 0) + 1)


def _collect_open_ids(snapshot: StateSnapshot) -> set[str]:
    found: set[str] = set()
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot) and task.state.tasks:
            found |= _collect_open_ids(task.state)
        else:
            found |= {each.id for each in task.interrupts}
    return found


def _select_content(value: Any) -> Mapping[str, Any]:
    """Return what a question says, without the same in the form that graphical clients show."""
    if not isinstance(value, Mapping):
        return {"is": value}
    is_ours = value.get("kind") in get_args(RequestKind)
    return {n: v for n, v in value.items() if not (is_ours and n in CLIENT_KEYS)}


def assign_answer(
    reply: Any, questions: Sequence[Question], *, is_repeated: bool = False
) -> dict[str, Any]:
    """Return an answer by the id of its question; a bare one is for the first question.

    Several questions are answered by a mapping of their ids or tasks, which may be JSON in a
    string.

    Args:
        is_repeated: some of the questions that it names may have their answer already.

    Raises:
        NoOpenQuestion: no question is open.
        AnswerUnclear: the answer names a question that is not open.
    """
    if not questions:
        raise NoOpenQuestion(
            "the thread has no open question",
            kept="the thread as it is",
            next="resume it without an answer, or send a new request",
        )
    names: dict[str, str] = {}
    for question in questions:
        names.setdefault(question.get("task") or question["id"], question["id"])
    known = {**names, **{question["id"]: question["id"] for question in questions}}
    replies = _read_replies(reply)
    if replies is None or not _names_questions(replies, known, questions[0]):
        return {questions[0]["id"]: reply}
    unknown = [str(name) for name in replies if name not in known]
    if (unknown and not is_repeated) or not replies:
        raise AnswerUnclear(
            _describe_mismatch(unknown, len(questions)),
            kept="the questions, open as they are",
            next=f"answer with a JSON object; its keys are one or more of {', '.join(names)}",
        )
    return {known[name]: answer for name, answer in replies.items() if name in known}


def _read_replies(reply: Any) -> Mapping[Any, Any] | None:
    """Return the object that a reply is, perhaps as JSON in a string; None for another reply."""
    if isinstance(reply, str) and reply.lstrip().startswith("{"):
        try:
            reply = parse_json(reply)
        except ValueError:
            return None
    return reply if isinstance(reply, Mapping) else None


def _names_questions(replies: Mapping[Any, Any], known: Mapping[str, str], first: Question) -> bool:
    """Return whether the keys of an object are names of questions, though perhaps wrong ones."""
    keys = [str(key) for key in replies]
    if any(key in known or _INTERRUPT_ID.fullmatch(key) for key in keys):
        return True
    return first.get("kind") == "question" and not _REPLY_FIELDS & set(keys)


def _describe_mismatch(unknown: Sequence[str], count: int) -> str:
    """Return what is wrong with an answer by task: an unknown name, or none at all."""
    if unknown:
        return f"no open question of {', '.join(map(repr, unknown))}"
    return f"{format_count(count, 'question')} open, and the answer names none"


def is_reply(input: Any) -> bool:
    """Return whether an input is a command that answers."""
    return isinstance(input, Command) and input.resume is not None


def is_chat_message(input: Any) -> bool:
    """Return whether an input, as `read_input` returns it, is a chat message without a request."""
    return isinstance(input, Mapping) and input.get("request") == "" and "messages" in input


def build_answer_input(
    input: Any, snapshot: StateSnapshot, answered: Sequence[str] | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Return the input with which LangGraph gives an answer to its question, and its questions.

    A chat message on a thread that waits is an answer to its first open question.

    Args:
        answered: the ids of the questions that the run has answered, where a server repeats it;
            those that are not open any more have their answer.

    Raises:
        NoOpenQuestion, AnswerUnclear: as `assign_answer`.
    """
    questions = list_open_questions(snapshot)
    if answered is not None:
        questions = [question for question in questions if question["id"] in answered]
        if not questions:
            return None, ()
    if is_reply(input) and not questions and ASKING_NODE in snapshot.next:
        return input, ()
    if isinstance(input, Command):
        answers = assign_answer(input.resume, questions, is_repeated=answered is not None)
        return replace(input, resume=answers), tuple(answers)
    *earlier, last = input["messages"]
    if answered is None and _is_given(last, snapshot):
        return None, ()
    if not questions and ASKING_NODE not in snapshot.next:
        return input, ()
    is_plan = not questions or _is_about_plan(questions[0])
    reply, why_unused = _read_message(last, is_plan), "" if is_plan else FILE_UNUSED
    answers = assign_answer(reply, questions, is_repeated=answered is not None) if questions else {}
    messages = [*earlier, mark_answer(last, *answers, why_unused=why_unused)]
    kept = {name: value for name, value in input.items() if name not in ("request", "messages")}
    update = {**kept, "messages": messages}
    return Command(resume=answers or reply, update=update), tuple(answers)


def _is_about_plan(question: Question) -> bool:
    """Return whether a question is about the run's own plan; that of an inner team has a task."""
    return question.get("kind") == "plan" and not question.get("task")


def _read_message(message: AnyMessage, is_plan: bool) -> str:
    """Return the words of a chat message; with files beside them, a plan is to be made again."""
    words, files = str(message.text), list_attached_files(message)
    if not is_plan or not files or words.lstrip().startswith(("{", "[")):
        return words
    return f"{words}\n\nUse these files: {', '.join(map(format_as_code, files))}.".lstrip()


def _is_given(message: AnyMessage, snapshot: StateSnapshot) -> bool:
    """Return whether a chat message has been the answer to a question before."""
    known = snapshot.values.get("messages", [])
    return message.id is not None and any(
        each.id == message.id and isinstance(each, HumanMessage) and is_answer(each)
        for each in known
    )


CHANNEL: Final = "__answer_record"


@dataclass(frozen=True)
class AnswerRecord:
    """What a run has answered at a checkpoint, for a server that runs it again after a crash.

    The checkpoint on which a run waits stays the thread's last one until its whole dispatch has
    ended; it does not hold the run that answers. Without the note the answer might go to another
    question.
    """

    run: str
    """Id of the run."""
    questions: tuple[str, ...]
    """Ids of the questions."""
    clock: str = ""
    """The run's start and deadline, as JSON."""


async def save_answer_record(
    record: AnswerRecord, config: RunnableConfig, saver: BaseCheckpointSaver[Any] | None
) -> None:
    """Save a record beside the checkpoint of a config; without a checkpointer do nothing."""
    if saver is None:
        return
    task_id = str(uuid5(NAMESPACE_OID, f"{CHANNEL}:{record.run}"))
    await save_record(saver, config, CHANNEL, json.dumps(asdict(record)), task_id=task_id)


async def load_answer_record(
    run: str, config: RunnableConfig, saver: BaseCheckpointSaver[Any]
) -> AnswerRecord | None:
    """Return what a run has answered at the checkpoint of a config; None if it has not."""
    for found in map(parse_json, await load_records(saver, config, CHANNEL)):
        if found["run"] == run:
            return AnswerRecord(run, tuple(found["questions"]), found["clock"])
    return None


INTERRUPTS: Final = "__interrupt__"
"""LangGraph's key of the interrupts in a part."""


class QuestionParts:
    """Holds a run's open questions back until its stream ends.

    LangGraph's last `values` part, after workers that ran beside a waiting one, has no interrupts.
    A client that shows that part would not see the question. With subgraphs the last checkpoint is
    that of such a worker; a server would take the thread for idle.
    """

    def __init__(
        self, *, stream_mode: Any = None, subgraphs: bool = False, version: str = "v1", **_: Any
    ) -> None:
        """Take the options of the stream.

        Args:
            stream_mode: a mode, several, or None for the mode of LangGraph's graphs (`updates`).
        """
        self._is_single = not isinstance(stream_mode, Sequence) or isinstance(stream_mode, str)
        self._modes = {stream_mode} if self._is_single else set(stream_mode)
        self._subgraphs, self._is_plain = subgraphs, version == "v1"
        self._last: Mapping[str, Any] = {}
        self._interrupts: dict[str, Any] = {}
        self._record: list[Any] = []

    def hold_questions(self, part: Any) -> Iterator[Any]:
        """Yield a part of the stream, unless it is one of `values` with a question, which is last.

        A server merges the questions of all parts into a run's result, so each comes once.
        """
        self._keep_record(part)
        values = self._find_values(part)
        if values is not None:
            self._last = {name: value for name, value in values.items() if name != INTERRUPTS}
            self._interrupts |= {each.id: each for each in values.get(INTERRUPTS, ())}
        if values is None or not values.get(INTERRUPTS):
            yield part

    def build_last_parts(self, questions: Sequence[AIMessage]) -> Iterator[Any]:
        """Yield the parts for open questions, and for their messages, after those of the run."""
        if not self._is_plain:
            return
        if len(self._record) > 1:
            yield from self._record
        if questions and "messages" in self._modes:
            for message in questions:
                yield self._build_part("messages", (message, {"langgraph_node": "ask_human"}))
        if self._interrupts:
            values = {**self._last, INTERRUPTS: tuple(self._interrupts.values())}
            if "messages" in values:
                values["messages"] = [*values["messages"], *questions]
            yield self._build_part("values", values)

    def _keep_record(self, part: Any) -> None:
        """Keep the run's own last checkpoint and its questions, in a stream with the workers'."""
        is_placed = self._is_plain and self._subgraphs and not self._is_single
        if not is_placed or part[:2] != ((), "debug"):
            return
        kind, payload = part[2]["type"], part[2]["payload"]
        if kind == "checkpoint":
            tasks = [dict(task) for task in payload["tasks"]]  # a server changes them
            payload = {**payload, "tasks": tasks}
            self._record = [self._build_part("debug", {**part[2], "payload": payload})]
        elif kind == "task_result" and payload["interrupts"]:
            self._record.append(part)

    def _find_values(self, part: Any) -> Mapping[str, Any] | None:
        """Return the values of the run that a part contains; None for any other part."""
        if not self._is_plain or "values" not in self._modes:
            return None
        if not isinstance(part, tuple):
            return part if isinstance(part, Mapping) else None
        *place, values = part
        if not self._is_single and place[-1] != "values":
            return None
        is_outer = not (self._subgraphs and place[0])
        return values if is_outer and isinstance(values, Mapping) else None

    def _build_part(self, mode: str, content: Any) -> Any:
        place: list[Any] = [
            *([()] if self._subgraphs else []),
            *([] if self._is_single else [mode]),
        ]
        return (*place, content) if place else content


COMMAND_TASK_ID: Final = "00000000-0000-0000-0000-000000000000"
"""LangGraph's id for writes that no task has made."""
_SPECIAL_PREFIX: Final = "__"
"""Of channels of LangGraph's own, which a saver keeps in places of their own."""


async def post_questions(
    snapshot: StateSnapshot, saver: BaseCheckpointSaver[Any]
) -> list[AIMessage]:
    """Save a message for each open question that the chat does not contain; return them.

    A node that waits has returned nothing, so its question is saved beside what it will return, as
    LangGraph saves the update of a `Command`: a reader of the state applies it, as a resume does.
    """
    known = {message.id for message in snapshot.values.get("messages", [])}
    values = {each.id: each.value for each in snapshot.interrupts}
    ordered = (question["id"] for question in list_open_questions(snapshot))
    asked = [build_question_message(name, values[name]) for name in ordered]
    messages = [message for message in asked if message and message.id not in known]
    if messages:
        await _save_messages(messages, snapshot.config, saver)
    return messages


async def _save_messages(
    messages: list[AIMessage], config: RunnableConfig, saver: BaseCheckpointSaver[Any]
) -> None:
    """Append messages to the writes of no task; a saver identifies a write by its position."""
    saved = await saver.aget_tuple(config)
    earlier = [
        (channel, value)
        for task, channel, value in (saved and saved.pending_writes) or ()
        if task == COMMAND_TASK_ID and not channel.startswith(_SPECIAL_PREFIX)
    ]
    await saver.aput_writes(config, [*earlier, ("messages", messages)], COMMAND_TASK_ID)
