"""Recognizes messages that ask for no work: a greeting, thanks, or what the team can do.

A message is one only where all of it is: each of its sentences must be in a short list. Anything
else in it makes it a request, so no request is lost; an unusual greeting is planned.
"""

from typing import Final, Literal

from nodes.limits.patterns import Pattern

SmallTalk = Literal["greeting", "thanks"]
Kind = Literal["greeting", "thanks", "interjection"]

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
    """Return what a request is that asks for no work; None for all others."""
    if len(request) > MAX_CHARS:
        return None
    words = _DROPPED.sub("", request.casefold())
    parts = [" ".join(part.split()) for part in _BREAK.split(words)]
    sentences = [piece for part in parts for piece in part.split(" and ") if piece]
    kinds = {_classify(sentence) for sentence in sentences}
    if None in kinds or not kinds - {"interjection"}:
        return None
    return "greeting" if "greeting" in kinds else "thanks"


def _classify(sentence: str) -> Kind | None:
    if _INTERJECTION.fullmatch(sentence):
        return "interjection"
    if _THANKS.fullmatch(sentence):
        return "thanks"
    is_greeting = _GREETING.fullmatch(sentence) or _ABOUT.fullmatch(sentence)
    return "greeting" if is_greeting else None
