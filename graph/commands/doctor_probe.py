"""The lines of `supervise doctor --probe`."""

import asyncio
from collections.abc import Iterator

from graph.commands.doctor_models import fetch_models, list_endpoints
from graph.commands.model_probe import ModelProbe, probe_models
from graph.extensions import DoctorCheck
from graph.settings import Settings
from nodes.models.failures import format_duration
from nodes.models.usage import USUAL_TOKENS_PER_S

SMALL_CONTEXT_TOKENS = 8192
"""Prompts of planners and workers are 1,000 to 4,000 tokens; results and materials add to them."""
USUAL_OUTPUT_TOKENS = 1000
"""A plan, or a long report."""


def probe_tiers(settings: Settings) -> list[ModelProbe]:
    """Call the model of each tier that has a language model."""
    models = settings.build_model_settings()
    contexts: dict[str, int | None] = {}
    for endpoint in list_endpoints(models):
        listed = fetch_models(endpoint).models
        for tier, name in endpoint.models.items():
            contexts[tier] = listed.get(name)
    return asyncio.run(probe_models(models, contexts))


def describe_probe(probe: ModelProbe, settings: Settings) -> Iterator[DoctorCheck]:
    """Return the lines of one model."""
    tiers = ", ".join(probe.tiers)
    if probe.error:
        yield DoctorCheck("broken", f"probe {tiers}", f"{probe.model}: {probe.error}", probe.fix)
        return
    yield _describe_methods(probe, tiers)
    yield _describe_speed(probe, tiers, "call_timeout_s" in settings.model_fields_set)
    is_slow = probe.tokens_per_s is not None and probe.tokens_per_s < USUAL_TOKENS_PER_S / 2
    if is_slow and "max_concurrency" not in settings.model_fields_set:
        yield DoctorCheck(
            "note",
            f"calls {tiers}",
            f"up to {settings.max_concurrency} at a time; a slow server that answers one at a "
            "time reads each prompt again when tasks take turns",
            "SUPERVISE_MAX_CONCURRENCY=1, unless the server has several slots",
        )
    yield _describe_context(probe, tiers)


def _describe_methods(probe: ModelProbe, tiers: str) -> DoctorCheck:
    failed = f"; without a result: {', '.join(probe.failed_methods)}"
    text = (
        f"{probe.model}: a value by {probe.value_method or 'no method'}, "
        f"a tool call by {probe.tools_method or 'no method'}"
        f"{failed if probe.failed_methods else ''}"
    )
    if probe.value_method and probe.tools_method:
        return DoctorCheck("ok", f"probe {tiers}", text)
    fix = "use a larger model, or one that is trained to call tools"
    return DoctorCheck("note", f"probe {tiers}", text, fix)


def _describe_speed(probe: ModelProbe, tiers: str, is_set: bool) -> DoctorCheck:
    label, speed = f"speed {tiers}", probe.tokens_per_s
    if speed is None:
        return DoctorCheck("note", label, "its answers were too short to measure")
    room = int(probe.call_timeout_s * speed)
    text = (
        f"{speed:.1f} output tokens a second; a call has {probe.call_timeout_s:.0f} s, about "
        f"{room:,} tokens; an attempt has {probe.attempt_timeout_s:.0f} s, where its worker sets "
        "no timeout"
    )
    if room >= USUAL_OUTPUT_TOKENS:
        return DoctorCheck("ok", label, text)
    needed = format_duration(USUAL_OUTPUT_TOKENS / speed)
    fix = f"{USUAL_OUTPUT_TOKENS:,} tokens need {needed}: " + (
        "unset SUPERVISE_CALL_TIMEOUT_S, so that the limit follows the speed"
        if is_set
        else "use a smaller or faster model"
    )
    return DoctorCheck("note", label, text, fix)


def _describe_context(probe: ModelProbe, tiers: str) -> DoctorCheck:
    label, size = f"context {tiers}", probe.context_tokens
    if size is None:
        return DoctorCheck("ok", label, "the server does not name its context window")
    text = f"{size:,} tokens for one request and its answer"
    if size >= SMALL_CONTEXT_TOKENS:
        return DoctorCheck("ok", label, text)
    fix = (
        f"start the server with at least {SMALL_CONTEXT_TOKENS:,} tokens a request; llama.cpp "
        "divides -c by its --parallel"
    )
    return DoctorCheck("note", label, text, fix)
