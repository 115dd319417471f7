"""Settings of the models, as plain data; `graph/settings.py` reads them from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, Literal, get_args
from urllib.parse import parse_qsl, urlsplit

from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.models.json_reading import InvalidJson, require_storable

Tier = Literal["fast", "standard", "strong"]
"""As in `state`, which imports LangGraph; an error before that needs settings too."""

EMBEDDED = "embedded"
"""The name of the built-in model, which quotes and computes."""
DEFAULT_CALL_TIMEOUT_S = 120.0
"""Of a model at the usual speed; a slower one has more time."""
DEFAULT_OUTPUT_TOKENS = 4096
"""Limit for one answer; OpenAI's own models have more."""
OutputPurpose = Literal["plan", "turn", "report", "answer"]
"""What an answer of a model is for."""
Price = tuple[float, float]
"""US dollars for a million tokens: input, output."""
OWN_PARAMETERS = frozenset(
    {"function_call", "functions", "messages", "model", "n", "response_format", "stop", "stream"}
    | {"stream_options", "tool_choice", "tools"}
)
"""Request parameters that the application sets itself."""
_HEADER_NAME = Pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OUTPUT_PURPOSES: tuple[OutputPurpose, ...] = get_args(OutputPurpose)
SCHEMES: Final = ("redis", "rediss", "unix")
OPTIONS: Final = ("ssl_cert_reqs", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
"""Of an address, after its `?`: those of TLS; a socket also has `db`."""


@dataclass(frozen=True, kw_only=True)
class TierSettings:
    """The endpoint of one tier; what is None or empty is that of all tiers."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every request, such as those of a gateway."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of every request, such as `temperature` and `seed`."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Names, endpoint and rates; the rates are shared by all workers of a process."""

    fast: str = EMBEDDED
    """`provider:model`, or `embedded` for the built-in one, which quotes and computes."""
    standard: str = EMBEDDED
    strong: str = EMBEDDED
    base_url: str | None = None
    """The address of an OpenAI-compatible endpoint, with its `/v1`; None for the provider's own."""
    api_key: str | None = field(default=None, repr=False)
    tiers: Mapping[Tier, TierSettings] = field(default_factory=dict)
    """Tiers with an endpoint or parameters of their own."""
    max_concurrency: int = 16
    """Limit for the model calls in flight."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    rate_period_s: float = 60.0
    """The minute of the rates; tests shorten it."""
    instances: int = 1
    """Processes that divide the rates between them while they do not share a Redis."""
    redis_url: str | None = field(default=None, repr=False)
    """The Redis through which all instances share the rates; None: each has its part."""
    call_timeout_s: float | None = None
    """Total for one call, its retries and waits included; None: the default for its speed."""
    max_tries: int = 4
    """Limit for the tries of one request, the first included."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By `provider:model`; a price named here overrides the price table."""
    max_output_tokens: Mapping[OutputPurpose, int] = field(default_factory=dict)
    """Limit for one answer; a retry doubles it."""
    streaming: bool = False
    """Request a stream even without a listener for tokens."""
    trace_content: bool = False
    """Put the prompt and the reply of each call into its event."""
    choices: frozenset[str] | None = None
    """Models that a run may choose in its context; None: any."""

    def find_redis(self, endpoint: str) -> str | None:
        """Return the Redis that shares the rates of an endpoint; None where none does."""
        return None if endpoint == EMBEDDED else self.redis_url

    def get_tier(self, tier: Tier) -> TierSettings:
        """Return a tier's endpoint; a key is not sent to an address that it was not set for."""
        own = self.tiers.get(tier) or TierSettings()
        if own.base_url:
            return own
        return TierSettings(
            base_url=self.base_url,
            api_key=own.api_key or self.api_key,
            headers=own.headers,
            parameters=own.parameters,
        )


@dataclass(frozen=True)
class Provider:
    """What is known of a provider; its extra has the same name."""

    name: str
    """As LangChain's `init_chat_model` calls it."""
    module: str
    keys: tuple[str, ...] = ()
    """Variables that hold its key; one is enough."""
    example: str = ""
    """A model of it that can plan."""
    takes_retries: bool = True
    """Its client takes `max_retries`; retries are made by the program."""


PROVIDERS: Final[Mapping[str, Provider]] = {
    "anthropic": Provider(
        "anthropic", "langchain_anthropic", ("ANTHROPIC_API_KEY",), "claude-sonnet-4-5"
    ),
    "google": Provider(
        "google_genai",
        "langchain_google_genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "gemini-2.5-pro",
    ),
    "bedrock": Provider(
        "bedrock_converse",
        "langchain_aws",
        ("AWS_BEARER_TOKEN_BEDROCK",),
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        takes_retries=False,
    ),
    "mistral": Provider(
        "mistralai", "langchain_mistralai", ("MISTRAL_API_KEY",), "mistral-large-latest"
    ),
    "ollama": Provider("ollama", "langchain_ollama", (), "qwen3:8b", takes_retries=False),
}
"""By the name of the extra. Any other provider that `init_chat_model` knows works too, once its
package is there."""


def find_extra(provider: str) -> str:
    """Return the extra of a provider by either of its names; empty for a provider without one."""
    return next((extra for extra, each in PROVIDERS.items() if provider in (extra, each.name)), "")


def find_unused_key(environment: Mapping[str, str]) -> tuple[str, str]:
    """Return a variable that holds a provider's key, and the provider's extra; empty without."""
    for extra, provider in PROVIDERS.items():
        for key in provider.keys:
            if environment.get(key, "").strip():
                return key, extra
    return "", ""


def read_price(item: str) -> tuple[str, Price]:
    """Return the model and price of `openai:some-model=0.15/0.6`.

    Raises:
        ValueError: the format is invalid.
    """
    model, equals, price = item.rpartition("=")
    given, slash, made = price.partition("/")
    try:
        read = (float(given), float(made))
    except ValueError:
        read = (-1.0, -1.0)
    if not equals or not slash or ":" not in model or not all(0 <= each < inf for each in read):
        raise ValueError(f"contains {item.strip()[:80]!r}")
    return model.strip(), read


def read_output_limits(value: str) -> dict[OutputPurpose, int]:
    """Return the limits of `plan=4000,report=2000` by purpose, or those of one number.

    Raises:
        ValueError: a purpose is unknown, or a limit is not a whole number above 0.
    """
    if value.strip().isdigit():
        value = ",".join(f"{purpose}={value.strip()}" for purpose in OUTPUT_PURPOSES)
    known: dict[str, OutputPurpose] = {purpose: purpose for purpose in OUTPUT_PURPOSES}
    limits: dict[OutputPurpose, int] = {}
    for item in filter(None, map(str.strip, value.split(","))):
        purpose, _, limit = (part.strip() for part in item.partition("="))
        if purpose not in known or not limit.isdecimal() or not 0 < int(limit) < 10**9:
            raise ValueError(f"contains {item[:80]!r}")
        limits[known[purpose]] = int(limit)
    return limits


def read_origins(value: str) -> tuple[str, ...]:
    """Return the origins of `http://localhost:3000, https://studio.example`.

    Raises:
        ValueError: one of them is not the address of a host only.
    """
    origins = tuple(part.strip().rstrip("/") for part in value.split(",") if part.strip())
    for origin in origins:
        if problem := find_address_problem(origin):
            raise ValueError(problem)
        if origin.count("/") != 2:
            raise ValueError("continues after the host")
    return origins


def find_address_problem(url: str) -> str:
    """Return the problem of an endpoint's address; empty when it is valid."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host or any(character.isspace() for character in url):
        return "has no host"
    if parts.username or parts.password:
        return "contains a password: a key belongs in the variable for the key"
    if parts.query or parts.fragment:
        return "continues after the path with '?' or '#'"
    if "/v1/v1" in parts.path:
        return "contains /v1 twice"
    if parts.path.rstrip("/").endswith(("/chat/completions", "/responses", "/models")):
        return "continues after /v1, where it must end"
    return ""


def find_key_problem(key: str) -> str:
    """Return the problem of an API key; empty when it is valid or blank."""
    if key.strip() and (not (key.isascii() and key.isprintable()) or " " in key):
        return "contains a line break, a space or another character invalid in a key"
    return ""


def read_headers(value: Any) -> dict[str, str]:
    """Return the HTTP headers of a JSON object; a problem never quotes a value.

    Raises:
        ValueError: one of them cannot be sent.
    """
    headers = _read_object(value)
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"has {name[:80]!r}, which is not the name of a header")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable():
            raise ValueError(f"has {name[:80]!r}, whose value is not a printable text")
    return headers


def read_parameters(value: Any) -> dict[str, Any]:
    """Return the request parameters of a JSON object.

    Raises:
        ValueError: the application sets one of them itself, or a number cannot be sent.
    """
    parameters = _read_object(value)
    if own := sorted(OWN_PARAMETERS & set(parameters)):
        raise ValueError(f"has {own[0]!r}, which the application sets itself")
    try:
        require_storable(parameters)
    except InvalidJson as error:
        raise ValueError(f"cannot be sent: {error}") from None
    return parameters


def _read_object(value: Any) -> dict[str, Any]:
    try:
        found = parse_json(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("is not JSON") from None
    if not isinstance(found, Mapping):
        raise ValueError("is JSON, but not an object")
    return dict(found)


def find_redis_problem(url: str) -> str:
    """Return what is wrong with an address; empty if nothing is."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "is not a valid address"
    if parts.scheme not in SCHEMES:
        return "is not the address of a Redis"
    if not (parts.path.strip("/") if parts.scheme == "unix" else host) or port == 0:
        return "names no server"
    options = dict(parse_qsl(parts.query))
    is_socket = parts.scheme == "unix"
    number = options.pop("db", "") if is_socket else parts.path.strip("/")
    if number and not number.isdecimal():
        return "has a database that is not a number"
    unknown = [name for name in options if is_socket or name not in OPTIONS]
    return f"has an unknown option: {unknown[0][:40]!r}" if unknown else ""


def format_redis_address(url: str) -> str:
    """Return an address without its user, passwords and options."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
