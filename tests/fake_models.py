"""The fake model of `supervisor_worker.testing`."""

from supervisor_worker.testing.fake_models import (
    COST_USD,
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    FakeCall,
    FakeCatalog,
    FakeChatModel,
    Reply,
    make_models,
)

__all__ = [
    "COST_USD",
    "INPUT_TOKENS",
    "OUTPUT_TOKENS",
    "FakeCall",
    "FakeCatalog",
    "FakeChatModel",
    "Reply",
    "make_models",
]
