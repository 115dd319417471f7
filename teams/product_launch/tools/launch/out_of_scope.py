"""Distinguish a request about a product launch from one about something else."""

import re
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.framework.out_of_scope import escalate_out_of_scope

_LAUNCH_TERMS = Pattern(
    r"product|launch|pric(?:e|ing)|elastic|demand|margin|break-?\s?even|profit|revenue|sales?\b|sell"
    r"|market|customer|buyer|compet|rival|\bcopy\b|headline|slogan|\bads?\b|advert|campaign|subject"
    r"|\bsms\b|text message|tweet|\bposts?\b|channel|brand|\bapp\b|\bstore\b|segment"
    r"|survey|willing|\bcosts?\b",
    re.IGNORECASE,
)


def reject_if_out_of_scope(request: str) -> dict[str, Any] | None:
    """Escalate a request that is not about a launch; None if it is for this team."""
    if _LAUNCH_TERMS.search(request) or not request.strip():
        return None
    return escalate_out_of_scope(
        "this team researches a market, works out a price and checks launch copy; the request asks "
        "for something else"
    )
