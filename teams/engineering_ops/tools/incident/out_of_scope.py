"""Distinguish a request about running software from one about something else."""

import re
from collections.abc import Mapping
from typing import Any

from nodes.limits.patterns import Pattern
from nodes.tools.framework.out_of_scope import escalate_out_of_scope
from nodes.tools.framework.tool_report import join_names

from .material_types import sort_materials

_INCIDENT_TERMS = Pattern(
    r"\bbugs?\b|\berrors?\b|exception|trace|crash|incident|outage|fail|broke|defect|\bfix"
    r"|\bcode\b|\bsource\b|function|\bclass\b|symbol|\bdefined\b|\bcalls?\b|\bmodule\b"
    r"|\blogs?\b|metric|latency|\bslow|percentile|\bp9\d|\brates?\b|requests?\b|time-?outs?\b"
    r"|config|setting|\benv|staging|production|\bprod\b|deploy|release|rolled|version"
    r"|service|server|\b50\d\b|\b5xx\b|impact|status note|post-?mortem|\bpage[dr]\b|regression",
    re.IGNORECASE,
)


def reject_if_out_of_scope(
    request: str, materials: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Escalate what is not about running software; None if the team may work on it."""
    if request.strip() and not _INCIDENT_TERMS.search(request):
        return escalate_out_of_scope(
            "this team looks into code, logs and configuration of a service; the request asks for "
            "something else"
        )
    held = materials or {}
    if held and not sort_materials(held).is_technical:
        return escalate_out_of_scope(
            f"none of the files is code, a log or a configuration: {join_names(held)}; give "
            "those of "
            "the service with --file"
        )
    return None
