"""The list of models that an OpenAI-compatible endpoint has, and the nearest to a name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from nodes.models.usage import is_credible_count

MAX_MODELS = 2000
CONTEXT_KEYS = ("n_ctx", "max_model_len", "context_length", "context_window", "max_context_length")
"""Names of the context window: llama.cpp, vLLM, Together and OpenRouter, Groq, LM Studio."""


@dataclass(frozen=True)
class ListedModel:
    """A model of the list."""

    context_tokens: int | None = None
    """None where the server does not name its context window."""


def read_model_list(body: Any) -> dict[str, ListedModel]:
    """Return the models of a list by name; none when the body is not such a list."""
    listed = body.get("data") if isinstance(body, Mapping) else None
    models = (listed if isinstance(listed, list) else [])[:MAX_MODELS]
    named = (model for model in models if isinstance(model, Mapping) and model.get("id"))
    return {str(model["id"]): ListedModel(_find_context(model)) for model in named}


def list_nearest_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Return the names most like a name; of the last part of a path too."""
    by_key = {key: known for known in names for key in (known.rpartition("/")[2].lower(), known)}
    near = get_close_matches(name.lower(), by_key, n=2 * count, cutoff=0.4)
    return list(dict.fromkeys(by_key[key] for key in near))[:count]


def _find_context(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    places = (model, meta if isinstance(meta, Mapping) else {})
    found = (place[key] for key in CONTEXT_KEYS for place in places if place.get(key))
    return next((count for count in found if is_credible_count(count)), None)
