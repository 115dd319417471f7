"""The child process that checks a bundle against the models of FHIR R4, for `bundle.py`."""

from typing import Any

from fhir.resources.R4B import get_fhir_model_class
from pydantic import ValidationError

from nodes.errors import ToolRefused
from nodes.limits.nesting import NestedTooDeeply, parse_json

MAX_ENTRIES = 5000
MAX_REASONS = 2
MAX_REASON_CHARS = 160


def validate_bundle(text: str) -> list[tuple[int, str]]:
    """Return the indexes of the invalid entries, each with its reason.

    R4B is R4 with changed definitions of medicines; the clinical resources are the same.
    """
    try:
        bundle = parse_json(text, parse_constant=_reject_constant)
    except NestedTooDeeply as error:
        raise ToolRefused(str(error)) from None
    except ValueError as error:
        raise ToolRefused(f"it is not JSON: {error}") from error
    kind = bundle.get("resourceType") if isinstance(bundle, dict) else None
    if kind != "Bundle":
        found = f"one {kind[:60]} resource" if isinstance(kind, str) else "JSON, but not of FHIR"
        raise ToolRefused(f"it is {found}")
    entries = bundle.get("entry", [])
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise ToolRefused(f"its entry must be a list, of at most {MAX_ENTRIES} entries")
    reasons = ((index, _explain_invalid_entry(entry)) for index, entry in enumerate(entries))
    return [(index, reason) for index, reason in reasons if reason]


def _explain_invalid_entry(entry: object) -> str:
    """Return why an entry's resource is not valid; empty if it is."""
    resource = entry.get("resource") if isinstance(entry, dict) else None
    if not isinstance(resource, dict):
        return "the entry has no resource"
    kind = resource.get("resourceType")
    try:
        get_fhir_model_class(str(kind)).model_validate(resource)
    except ValidationError as error:
        told = [_format_error(detail) for detail in error.errors(include_url=False)[:MAX_REASONS]]
        return "; ".join(told)[:MAX_REASON_CHARS]
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        return str(error)[:MAX_REASON_CHARS] or type(error).__name__
    return ""


def _format_error(detail: Any) -> str:  # pydantic's own type, which it does not export
    place = ".".join(map(str, detail["loc"]))
    reason = str(detail["msg"]).removeprefix("Value error, ")
    return f"{place}: {reason}" if place else reason


def _reject_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")
