"""The providers whose clients come by an extra: their names, keys and parameters.

Any other provider that LangChain's `init_chat_model` knows works too, once its package is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


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
"""By the name of the extra."""


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
