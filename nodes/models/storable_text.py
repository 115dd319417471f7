"""Makes a reply's text storable: JSON can spell half a character, which UTF-8 cannot hold."""

import json

from langchain_core.messages import AIMessage

from nodes.limits.nesting import parse_json


def replace_lone_surrogates(message: AIMessage) -> AIMessage:
    """Return a reply whose words and arguments can be encoded, with `?` for half a character."""
    found = {"content": message.content, "tool_calls": message.tool_calls}
    text = json.dumps(found, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        return message.model_copy(update=parse_json(text.encode(errors="replace")))
    return message
