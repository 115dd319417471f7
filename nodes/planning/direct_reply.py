"""Messages that ask for no work, and the reply: what the team does, or what it still needs."""

from collections.abc import Sequence
from typing import Final, Literal

from langchain_core.runnables import RunnableConfig

from nodes.limits.patterns import Pattern
from nodes.limits.run_scope import get_run_scope
from nodes.planning.request import (
    find_request_text,
    list_read_attachments,
    list_unread_attachments,
)
from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team
from nodes.telemetry.events import build_task_path
from nodes.text.plain_text import format_as_code
from state import SupervisorState

THANKS_REPLY: Final = "You are welcome."
MAX_EXAMPLE_CHARS: Final = 400


def find_direct_reply(state: SupervisorState, config: RunnableConfig, team: Team) -> str | None:
    """Return the reply to a message that asks for no work; None for a request.

    The request of a team that does a task, and one that comes with a plan, is never small talk.
    """
    if build_task_path(config) or get_run_scope(config).given_plan is not None:
        return None
    request = find_request_text(state)
    read, unread = list_read_attachments(state), list_unread_attachments(state)
    if not request and (read or unread):
        return _ask_what_to_do(read, unread)
    kind = recognize_small_talk(request)
    if kind is None:
        return None
    reply = THANKS_REPLY if kind == "thanks" else _introduce_team(team)
    return "\n\n".join([reply, _ask_what_to_do(read, unread)]) if read or unread else reply


def _introduce_team(team: Team) -> str:
    """Return what the team does, its workers, and a request that it was made for."""
    workers = [f"- **{worker.name}**: {worker.description}" for worker in team.workers]
    lines = [
        f"This is the team **{team.name}**. {team.description}".strip(),
        "A supervisor plans the work, and these workers do it:",
        "\n".join(workers),
    ]
    if team.examples:
        example = shorten_text(team.examples[0].request, MAX_EXAMPLE_CHARS)
        lines.append(f"An example of a request: {format_as_code(example)}")
    return "\n\n".join([*lines, "What should the team do?"])


def _ask_what_to_do(read: Sequence[str], unread: Sequence[str]) -> str:
    """Return a question about files that came without a request."""
    known = f"These files were read: {', '.join(map(format_as_code, read))}." if read else ""
    lost = "\n".join(f"- {line}" for line in unread)
    asked = "What should be done with them?" if read else "What should the team do?"
    return "\n\n".join(filter(None, [known, lost, asked]))


SmallTalk = Literal["greeting", "thanks"]

MAX_CHARS: Final = 200
_WHO = r"(?: (?:there|all|everyone|everybody|team|folks|guys|again|friend|supervisor|assistant))?"
_GREETING = Pattern(
    r"(?:hi|hello|hey|hey hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)"
    rf"|welcome){_WHO}"
    r"|how are you(?: (?:doing|today|all))*|how is it going|hows it going|whats up"
    r"|nice to meet you|pleased to meet you|hola|hallo|bonjour"
)
_ABOUT = Pattern(
    r"(?:so |and |but )?(?:please )?(?:"
    r"(?:(?:can|could|would) you )?(?:please )?(?:tell me |explain |say )?"
    r"(?:what you can do|what you do|who you are|how you work|help(?: me)?)(?: please)?"
    r"|what (?:can|could|do|does|will) (?:you|this team|the team) (?:do|offer)"
    r"(?: for me| for us| here)?"
    r"|what are you(?: able to do(?: for me)?| capable of| good at)?|who are you"
    r"|what (?:is|are) your (?:name|skills|capabilities|abilities|role|job|purpose)"
    r"|what (?:kind|kinds|sort|sorts) of (?:things|questions|requests|tasks|work) "
    r"(?:can|could|do) you (?:do|answer|handle|take)"
    r"|what (?:can|could|should) i ask(?: you)?|how (?:can|could|do) you help(?: me| us)?"
    r"|what can you help(?: me| us)?(?: with)?|how do you work|tell me about yourself"
    r"|introduce yourself|which workers do you have|who(?: i)?s (?:in|on) (?:your|the|this) team"
    r")(?: please)?"
)
_THANKS = Pattern(
    r"(?:ok |okay |great |perfect |cool |nice )?(?:many )?(?:thanks|thank you|thx|cheers)"
    r"(?: (?:a lot|so much|very much|again|for (?:your|the|all your) (?:help|work|answer)"
    r"|all|everyone|everybody|team|guys|folks|man|mate|friend))*"
    r"|(?:that is|thats|this is|it is|its) (?:all|great|perfect|very helpful|helpful)"
    r"|much appreciated|well done|good job|great job|great work"
    r"|(?:good ?)?bye|see you(?: later| soon| tomorrow)?|good night"
    r"|have a (?:nice|good|great) (?:day|evening|weekend)"
)
_INTERJECTION = Pattern(r"ok|okay|great|perfect|cool|nice|wow|super|no|yes|oh|ah")
"""Small talk only beside other small talk: alone it may be the reply to a question."""
_BREAK = Pattern(r"[.!?,;:\n\u2026]+|(?<= )(?:-|\u2013|\u2014)(?= )")
_DROPPED = Pattern(r"['\u2019\u2018`\"()*_\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]")


def recognize_small_talk(request: str) -> SmallTalk | None:
    """Return what a request is that asks for no work; None for all others.

    Each of its sentences must be in a short list: anything else makes it a request, so that none is
    lost; an unusual greeting is planned.
    """
    if len(request) > MAX_CHARS:
        return None
    words = _DROPPED.sub("", request.casefold())
    parts = [" ".join(part.split()) for part in _BREAK.split(words)]
    sentences = [piece for part in parts for piece in part.split(" and ") if piece]
    greetings = [each for each in sentences if _GREETING.fullmatch(each) or _ABOUT.fullmatch(each)]
    thanks = [each for each in sentences if _THANKS.fullmatch(each)]
    others = {*sentences} - {*greetings, *thanks}
    if not all(map(_INTERJECTION.fullmatch, others)):
        return None
    return "greeting" if greetings else "thanks" if thanks else None
