"""What an answer took: its tokens, their price, and the speed of its model."""

import json
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from statistics import median
from typing import Any, Final, TypeGuard

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata

from nodes.models.settings import Price
from state import Usage

MAX_TOKENS = 10**9
"""A larger count is an error of the endpoint, and would not fit a checkpoint."""
BYTES_PER_TOKEN = 4
"""For English text and JSON; other alphabets need more tokens for the same bytes."""
UNCOUNTED = "uncounted"
"""Metadata key: the message's tokens are estimated."""
PER_MILLION: Final = 1_000_000
USUAL_TOKENS_PER_S = 30.0
"""The speed that the default limits in seconds are made for."""
MAX_FACTOR = 20.0
MIN_FACTOR = 1.5
"""A smaller factor is noise: short answers measure the prompt, too."""
MIN_OUTPUT_TOKENS = 32
"""A shorter answer measures the way to the endpoint rather than the model."""
WINDOW_ANSWERS = 9
MAX_SILENT_CALLS = 3
"""Calls without an answer, in a row, that count: a model has up to eight times the usual time."""
MAX_NOTED_RUNS = 64


def read_usage(message: AIMessage) -> Usage:
    """Return the usage of one call from its answer."""
    tokens = keep_credible_usage(message.usage_metadata)
    metadata: Mapping[str, Any] = message.response_metadata
    name = metadata.get("model") or metadata.get("model_name") or ""
    return Usage(
        model_calls=1,
        input_tokens=tokens["input_tokens"] if tokens else 0,
        output_tokens=tokens["output_tokens"] if tokens else 0,
        cost_usd=metadata.get("cost_usd"),
        seconds=metadata.get("seconds", 0.0),
        models=(name,) if name else (),
        uncounted_calls=1 if metadata.get(UNCOUNTED) else 0,
    )


def build_counts(usage: Usage) -> dict[str, Any]:
    """Return the counts of a call, as its message's metadata and its event hold them."""
    counts = usage.model_dump(include={"input_tokens", "output_tokens", "cost_usd"})
    return {**counts, **({UNCOUNTED: True} if usage.uncounted_calls else {})}


def count_cached(usage: UsageMetadata | None) -> dict[str, int]:
    """Return how many input tokens the endpoint had in its cache, as an event holds them."""
    cached = (usage.get("input_token_details") or {}).get("cache_read") if usage else None
    return {"cached_tokens": cached} if cached else {}


def keep_credible_usage(usage: UsageMetadata | None) -> UsageMetadata | None:
    """Return an endpoint's count; None when it is absent or not credible."""
    if usage is None:
        return None
    given, made = usage.get("input_tokens"), usage.get("output_tokens")
    if not (is_credible_count(given) and is_credible_count(made)) or not (given or made):
        return None
    kept = UsageMetadata(input_tokens=given, output_tokens=made, total_tokens=given + made)
    cached = (usage.get("input_token_details") or {}).get("cache_read")
    if is_credible_count(cached) and cached:
        kept["input_token_details"] = {"cache_read": min(cached, given)}
    return kept


def estimate_usage(
    messages: Sequence[BaseMessage], kwargs: Mapping[str, Any], answer: AIMessage
) -> UsageMetadata:
    """Return an estimate of a call's tokens from its bytes, for endpoints that count none."""
    schemas = kwargs.get("tools") or kwargs.get("response_format") or ""
    given = sum(map(_count_bytes, messages)) + len(str(schemas).encode())
    tokens = [-(-size // BYTES_PER_TOKEN) for size in (given, _count_bytes(answer))]
    return UsageMetadata(input_tokens=tokens[0], output_tokens=tokens[1], total_tokens=sum(tokens))


def _count_bytes(message: BaseMessage) -> int:
    """Return the number of bytes of a message's content and tool calls."""
    calls: list[Any] = []
    if isinstance(message, AIMessage):
        made = (*message.tool_calls, *message.invalid_tool_calls)
        calls = [(call["name"], call["args"]) for call in made]
    content = message.content if isinstance(message.content, str) else str(message.content)
    called = json.dumps(calls, default=str, ensure_ascii=False) if calls else ""
    return len(f"{content}{called}".encode(errors="replace"))


def is_credible_count(count: Any) -> TypeGuard[int]:
    """Return whether a value can be a count of tokens."""
    return isinstance(count, int) and 0 <= count <= MAX_TOKENS


def compute_cost_usd(
    model_name: str, usage: Mapping[str, Any] | None, prices: Mapping[str, Price] | None = None
) -> float | None:
    """Return the cost of a call's tokens; None when the price or the tokens are unknown.

    Args:
        prices: the user's own prices, which override the table's.
    """
    if model_name == "embedded":
        return 0.0
    if not usage:
        return None
    provider, _, model = model_name.partition(":") if ":" in model_name else ("", "", model_name)
    given, made = usage.get("input_tokens", 0), usage.get("output_tokens", 0)
    if own := (prices or {}).get(model_name):
        return float(given * own[0] + made * own[1]) / PER_MILLION
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    return _look_up_price(model, provider or None, given, made, min(cached, given))


def is_priced(model_name: str, prices: Mapping[str, Price] | None = None) -> bool:
    """Return whether a model's price is known."""
    return compute_cost_usd(model_name, {"input_tokens": 1, "output_tokens": 1}, prices) is not None


def preload_prices() -> None:
    """Load the price table, which takes a third of a second, before it is needed."""
    _look_up_price("gpt-5", "openai", 1, 1, 0)


@lru_cache(maxsize=4096)
def _look_up_price(
    model: str, provider: str | None, given: int, made: int, cached: int
) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=given, output_tokens=made, cache_read_tokens=cached or None)
    for named in dict.fromkeys((provider, None)):
        try:
            return float(calc_price(usage, model_ref=model, provider_id=named).total_price)
        except LookupError:
            continue
    return None


class ModelSpeed:
    """Output tokens a second of one model behind one endpoint; shared by all runs."""

    def __init__(self) -> None:
        self._speeds: deque[float] = deque(maxlen=WINDOW_ANSWERS)
        self.timeouts = 0
        """Calls without an answer in time; each counts as an answer at half the speed."""
        self._silent_calls, self._has_read = 0, False
        self._noted_runs: deque[str] = deque(maxlen=MAX_NOTED_RUNS)

    @property
    def tokens_per_s(self) -> float | None:
        """The median of the last answers, time for the prompt included; None before the first."""
        return median(self._speeds) if self._speeds else None

    @property
    def limit_factor(self) -> float:
        """By how much a limit in seconds is multiplied that was not set: at least 1."""
        speed = self.tokens_per_s
        factor = USUAL_TOKENS_PER_S / speed if speed else 1.0
        return min(MAX_FACTOR, factor) if factor >= MIN_FACTOR else 1.0

    def record_answer(
        self, output_tokens: int, seconds: float, *, has_read_little: bool = False
    ) -> None:
        """Count an answer, unless it is too short to measure the model.

        Args:
            has_read_little: most of its prompt was in the server's cache, so that it says less of
                how long others take: it counts only until a prompt was read, or after a timeout.
        """
        self._silent_calls = 0
        if output_tokens < MIN_OUTPUT_TOKENS or seconds <= 0:
            return
        if not has_read_little and not self._has_read:
            self._has_read = True
            self._speeds.clear()
        if not has_read_little or not self._has_read:
            self._speeds.append(output_tokens / seconds)

    def record_timeout(self) -> None:
        """Count a call that ended at the default limit as an answer at half the speed.

        Without this a model too slow for its first answer would never get more time. One that
        stays silent counts no further: it hangs.
        """
        self.timeouts += 1
        self._has_read = False
        self._silent_calls += 1
        if self._silent_calls <= MAX_SILENT_CALLS:
            self._speeds.append((self.tokens_per_s or USUAL_TOKENS_PER_S) / 2)

    def note_run(self, run_id: str) -> bool:
        """Return whether this is the first time that a run asks."""
        is_new = run_id not in self._noted_runs
        if is_new:
            self._noted_runs.append(run_id)
        return is_new


@cache
def get_model_speed(endpoint: str, model: str) -> ModelSpeed:
    """Return the speed of a model behind an endpoint."""
    return ModelSpeed()
