"""How data is put into a prompt: inside a tag that it cannot close, on one line, or cut."""

import json

from pydantic import BaseModel


def wrap_in_tag(tag: str, text: str, **attributes: str) -> str:
    """Return text inside a tag that the text itself cannot close."""
    attribute_text = "".join(
        f' {key}="{_escape_attribute(value)}"' for key, value in attributes.items()
    )
    safe = text.replace("</", "<\\/")
    return f"<{tag}{attribute_text}>\n{safe}\n</{tag}>"


def format_json_line(value: BaseModel) -> str:
    """Return a value as one line of JSON, without what has its default."""
    return json.dumps(value.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)


def shorten_text(text: str, max_chars: int) -> str:
    """Return a text cut to a length; a mark shows where it was cut."""
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}\n[cut {len(text) - max_chars} of {len(text)} characters]"


def _escape_attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
