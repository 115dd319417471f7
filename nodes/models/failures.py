"""Translates the exceptions of model clients into our errors, without keys and noise."""

import json
import math
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import ValidationError

from nodes.errors import (
    BadResponse,
    CallTimedOut,
    ContextTooSmall,
    EndpointFailed,
    EndpointUnreachable,
    ModelError,
    ModelUnknown,
    QuotaSpent,
    RateLimited,
    RequestRefused,
    ResponseCut,
    SupervisorError,
    Unauthorized,
)
from nodes.limits.patterns import Pattern
from nodes.models.usage import is_credible_count

OUTAGE_ERRORS = (EndpointUnreachable, EndpointFailed, CallTimedOut, BadResponse, ResponseCut)
"""Errors that a working endpoint does not cause."""
MAX_QUOTE_CHARS = 200
"""Limit for quoting an endpoint's message."""

_CUT_ERRORS = {"ReadError", "RemoteProtocolError", "IncompleteRead"}
_TIMEOUT_ERRORS = {"APITimeoutError", "TimeoutException", "TimeoutError"}
_UNREACHABLE_ERRORS = set(
    [
        "ConnectTimeout",
        "ConnectError",
        "APIConnectionError",
        "TransportError",
        "ConnectionError",
        "ClientError",
    ]
)
_SECRETS = Pattern(r"(?i)\b(?:sk|pk|key|tok)-[\w*.\-]{6,}|\bbearer\s+\S+")
_REFUSED_FEATURES = Pattern(r"(?i)--jinja|tool_choice|response_format|grammar|chat template")
"""llama.cpp answers with status 500 when it refuses one of these."""
_UNSUPPORTED_TOOLS = Pattern(r"(?i)support (?:for )?tool|tool_choice|tool use")
"""OpenRouter answers with status 404 when no provider of a model can call tools."""
_TAGS = Pattern(r"<[^<>]{0,200}>")
_RATE_CODES = {"rate_limit_exceeded", "rate_limit_error", "requests", "tokens"}
_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}
_UNKNOWN_MODEL = Pattern(
    r"(?i)\bmodel:? ?[\"'`]?[\w./:@+-]{0,80}[\"'`]? ?(?:is |was |does )?not (?:found|exist)"
    r"|(?:invalid|unknown|no such) model\b|not a valid model\b"
)
_NOT_JSON = Pattern(r"Expected a dict or openai.BaseModel, got str: (?P<body>.*)")
_ADDRESS_ADVICE = (
    "check that the model's address is that of an OpenAI-compatible server and ends in /v1 "
    "(setting: OPENAI_BASE_URL, or the tier's own) (on the command line: supervise doctor)"
)
_NAME_ADVICE = "check the model's name and address (setting: SUPERVISE_MODEL_*, OPENAI_BASE_URL)"
_CLIENT_ADVICE = "check the client of the model: its parameters, its address, and what it raises"
_NETWORK_ADVICE = (
    "check the model's address (setting: OPENAI_BASE_URL) and the network "
    "(on the command line: supervise doctor)"
)
_TOO_LONG_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""Of OpenAI and of llama.cpp."""
_NEEDED_THEN_LIMIT = Pattern(
    r"(?i)(?P<needed>[\d,]+) tokens?\)? (?:exceeds the available context size \(|> )"
    r"(?P<limit>[\d,]+)"
)
_LIMIT_THEN_NEEDED = Pattern(
    r"(?i)maximum context length (?:is|of) (?P<limit>[\d,]+)(?: tokens)?"
    r"(?:.{0,80}?(?:resulted in|requested|contains at least|has) (?P<needed>[\d,]+))?"
)
_WORDS = Pattern(r"(?i)prompt is too long|exceeds the (?:available )?context|context the overflows")


def translate_error(
    error: Exception, *, model: str, secret: str | None = None, is_openai: bool = True
) -> SupervisorError:
    """Return what went wrong at an endpoint as one of our errors, without the secret.

    Args:
        is_openai: False for a client of another protocol, which has no OPENAI_BASE_URL.
    """
    translated = _translate_error(error, model=model, secret=secret)
    if not is_openai and translated.next in (_ADDRESS_ADVICE, _NETWORK_ADVICE, _NAME_ADVICE):
        translated.next = _CLIENT_ADVICE
    return translated


def _translate_error(error: Exception, *, model: str, secret: str | None) -> SupervisorError:
    for link in _walk_causes(error):
        if isinstance(link, SupervisorError):
            return link
    status, code = _read_status(error), _read_code(error)
    said = clean_text(_read_message(error), secret)
    if too_long := _read_context_error(_read_body(error), code, said, model):
        return too_long
    if status is not None and status >= 300:
        target = clean_text(_read_header(error, "location"), secret)
        return _translate_status(status, code, said or target, model, read_retry_after_s(error))
    if failed := _translate_kind(error, said, model):
        return failed
    if code in _QUOTA_CODES | _RATE_CODES:
        return _build_limit_error(said, model, code in _QUOTA_CODES, None)
    if code or "APIError" in _list_kinds(error):
        return EndpointFailed(f"{model} answered with an error", cause=said)
    what, cause = f"the answer of {model} cannot be read", _describe_other_protocol(said)
    return _translate_validation_error(error, model) or BadResponse(
        what, cause=cause, next=_ADDRESS_ADVICE
    )


def _translate_kind(error: Exception, said: str, model: str) -> ModelError | None:
    """Return the error for a connection that failed, by the names of the client's exceptions."""
    kinds = _list_kinds(error)
    if any(isinstance(link, zlib.error) for link in _walk_causes(error)):
        return BadResponse(
            f"the answer of {model} cannot be read",
            cause="its compression is broken",
            next="check the proxy or gateway in front of the endpoint",
        )
    if kinds & _CUT_ERRORS:
        return ResponseCut(f"the answer of {model} broke off", cause=said)
    if kinds & _TIMEOUT_ERRORS and not kinds & {"ConnectTimeout"}:
        return CallTimedOut(f"no answer from {model} in time", cause=said)
    if kinds & _UNREACHABLE_ERRORS or isinstance(error, OSError):
        return EndpointUnreachable(f"cannot reach {model}", cause=said, next=_NETWORK_ADVICE)
    return None


def _list_kinds(error: Exception) -> set[str]:
    return {base.__name__ for link in _walk_causes(error) for base in type(link).__mro__}


def _describe_other_protocol(said: str) -> str:
    """Return the cause for an answer that is not OpenAI's JSON, without the client's own words."""
    if found := _NOT_JSON.search(said):
        return f"it is not JSON: {found['body']}"
    if "null value for 'choices'" in said or "'choices'" in said:
        return "its JSON has no choices, as another protocol's"
    return said


def is_endpoint_alive(raised: Exception, error: SupervisorError) -> bool:
    """Return whether the endpoint works, and only refused the request or its rate."""
    status = _read_status(raised)
    is_refused = status is not None and 400 <= status < 500
    return is_refused or not isinstance(error, OUTAGE_ERRORS)


def read_failed_generation(error: Exception) -> str:
    """Return what a model wrote when its endpoint could not read a tool call in it.

    Groq sends it with status 400 and the code `tool_use_failed`.
    """
    written = _read_body(error).get("failed_generation")
    return written if isinstance(written, str) else ""


def read_retry_after_s(error: Exception) -> float | None:
    """Return the seconds of the Retry-After header; None without one."""
    milliseconds = _parse_seconds(_read_header(error, "retry-after-ms"))
    seconds = milliseconds / 1000 if milliseconds else None
    seconds = seconds or _parse_seconds(_read_header(error, "retry-after"))
    return seconds if seconds and seconds > 0 else None


def clean_text(text: str, secret: str | None = None) -> str:
    """Return an endpoint's message for display: short, on one line, without tags and keys."""
    text = text[: MAX_QUOTE_CHARS * 20]
    if secret and len(secret) > 3:
        text = text.replace(secret, "[key]")
    text = _SECRETS.sub("[key]", _TAGS.sub(" ", text))
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 3] + "..."


def _translate_status(
    status: int, code: str, said: str, model: str, wait_s: float | None
) -> SupervisorError:
    cause = f"{status} {said}".strip()
    match status:
        case 401 | 403:
            remedy = "set OPENAI_API_KEY, or the key of the model's own provider"
            return Unauthorized(f"{model} refuses the key", cause=cause, next=remedy)
        case 404 if _UNSUPPORTED_TOOLS.search(said):
            return RequestRefused(f"{model} refuses the request", cause=cause)
        case _ if status == 404 or (
            status == 400 and (code == "model_not_found" or _UNKNOWN_MODEL.search(said))
        ):
            what = f"the endpoint does not know {model}"
            return ModelUnknown(what, cause=cause, next=_NAME_ADVICE)
        case _ if status < 400 or status in (405, 415, 501):
            what = f"the address of {model} takes no chat completions"
            return RequestRefused(what, cause=cause, next=_ADDRESS_ADVICE)
        case 402 | 429:
            return _build_limit_error(cause, model, status == 402 or code in _QUOTA_CODES, wait_s)
        case 408 | 409 | 425:
            return EndpointFailed(f"{model} could not answer now", cause=cause)
        case _ if status < 500 or _REFUSED_FEATURES.search(said):
            return RequestRefused(f"{model} refuses the request", cause=cause)
        case _:
            return EndpointFailed(f"{model} failed", cause=cause)


def _translate_validation_error(error: Exception, model: str) -> BadResponse | None:
    """Return the error for tool arguments that are JSON but not an object."""
    for problem in error.errors() if isinstance(error, ValidationError) else ():
        if problem["loc"][:1] == ("tool_calls",):
            arguments = str(problem["input"])
            what = f"{model} called a tool with arguments that are not a JSON object"
            return BadResponse(what, cause=clean_text(arguments)[:80], said=arguments)
    return None


def _build_limit_error(
    cause: str, model: str, is_quota: bool, wait_s: float | None
) -> QuotaSpent | RateLimited:
    if is_quota:
        remedy = "raise the account's quota, or name another model"
        return QuotaSpent(f"the quota for {model} is spent", cause=cause, next=remedy)
    when = (
        f"try again in {format_duration(wait_s)}"
        if wait_s
        else "ask less often (setting: SUPERVISE_RPM, SUPERVISE_TPM)"
    )
    return RateLimited(f"{model} is rate limited", retry_after_s=wait_s, cause=cause, next=when)


def format_duration(seconds: float) -> str:
    """Return a duration in its largest suitable unit."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(1, math.ceil(seconds))} s"


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(10):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _read_header(error: Exception, name: str) -> str:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return str(headers.get(name) or "") if isinstance(headers, Mapping) else ""


def _read_status(error: Exception) -> int | None:
    places = (error, getattr(error, "response", None))
    found = (getattr(place, "status_code", None) for place in places)
    return next((status for status in found if isinstance(status, int)), None)


def _read_body(error: Exception) -> Mapping[str, Any]:
    body = getattr(error, "body", None)
    if not isinstance(body, Mapping) and error.args:
        body = error.args[0]
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return body if isinstance(body, Mapping) else {}


def _read_code(error: Exception) -> str:
    body = _read_body(error)
    return str(body.get("code") or body.get("type") or "")


def _read_message(error: Exception) -> str:
    message = _read_body(error).get("message")
    if isinstance(message, str):
        return message
    body = getattr(error, "body", None)
    if isinstance(body, str):
        return body
    links = list(_walk_causes(error))
    for link in links:
        if isinstance(link, json.JSONDecodeError):
            return f"it is not JSON ({link.msg} at character {link.pos})"
    last = links[-1]
    name = type(last).__name__
    return f"{name}: {last}" if str(last) else name


def _parse_seconds(value: str) -> float | None:
    """Return the seconds of a header, which may be a date; None where it is neither."""
    with suppress(ValueError):
        seconds = float(value)
        return seconds if math.isfinite(seconds) else None
    with suppress(ValueError, TypeError, OverflowError):
        return parsedate_to_datetime(value).timestamp() - time.time()
    return None


def _read_context_error(
    body: Mapping[str, Any], code: str, said: str, model: str
) -> ContextTooSmall | None:
    """Return the error of a request that is too long; None for another refusal."""
    found = _NEEDED_THEN_LIMIT.search(said) or _LIMIT_THEN_NEEDED.search(said)
    if not found and code not in _TOO_LONG_CODES and not _WORDS.search(said):
        return None
    named = found.groupdict() if found else {}
    return ContextTooSmall(
        model,
        needed=_read_count(body.get("n_prompt_tokens") or named.get("needed")),
        limit=_read_count(body.get("n_ctx") or named.get("limit")),
        cause=said,
    )


def _read_count(value: Any) -> int | None:
    if isinstance(value, str):
        digits = value.replace(",", "")
        value = int(digits) if digits.isdigit() and len(digits) < 12 else None
    return value if is_credible_count(value) and value else None
