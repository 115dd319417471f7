"""`supervise doctor`: what is configured, what can be reached, and how to fix the rest."""

import platform
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from os import W_OK, access
from pathlib import Path
from typing import Any, Final, Literal

from graph.commands.doctor_probe import (
    OPENAI_URL,
    TierEndpoint,
    describe_probe,
    fetch_models,
    list_endpoints,
    probe_tiers,
)
from graph.commands.extras import describe_unused_key
from graph.commands.output import print_json, print_listing
from graph.display.labels import label_model
from graph.display.stderr_console import print_to_stderr
from graph.display.text import name_command, to_one_line
from graph.extensions import (
    DoctorCheck,
    collect,
    get_run_stores,
    list_extension_problems,
    register_extensions,
)
from graph.otel import EXTRA
from graph.setting_sources import shorten_path
from graph.settings import EMBEDDED, Settings
from graph.stores.postgres_url import format_public_address, mask_passwords
from graph.teams.team_loader import check_team, list_replaced_teams, list_teams
from graph.user_state import get_user_env_file
from graph.variables import TIERS
from nodes.errors import StoreError, UsageError
from nodes.errors.redaction import redact_value
from nodes.models.clients import list_nearest_names
from nodes.models.settings import PROVIDERS, find_extra
from nodes.models.usage import is_priced
from nodes.tools.framework.extras import list_missing_packages, write_install_command
from state import Tier


def check_models(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the models' names, packages and prices, and that each endpoint has its models."""
    models = settings.build_model_settings()
    names: dict[Tier, str] = {tier: getattr(models, tier) for tier in TIERS}
    for tier, name in names.items():
        yield _check_model(f"model {tier}", name)
    if unused := describe_unused_key(settings):
        key, _, fix = unused.partition(". next: ")
        yield DoctorCheck("note", "model", key, fix)
    for name in dict.fromkeys(names.values()):
        if not is_priced(name, models.prices):
            fix = f"set SUPERVISE_PRICES={name}=INPUT/OUTPUT, US dollars for a million tokens"
            yield DoctorCheck("note", "price", f"unknown for {name}: no cap on money", fix)
    for endpoint in list_endpoints(models):
        yield from _check_endpoint(endpoint)


def _check_model(label: str, name: str) -> DoctorCheck:
    if name == EMBEDDED:
        own = shorten_path(get_user_env_file())
        variables = "OPENAI_API_KEY, or OPENAI_BASE_URL for your own server"
        fix = f"set {variables}, in the environment or in {own}"
        return DoctorCheck("note", label, label_model(name), fix)
    provider = name.partition(":")[0]
    extra = find_extra(provider)
    package = PROVIDERS[extra].module if extra else f"langchain_{provider.split('_')[0]}"
    if find_spec(package) is None:
        fix = f"supervise install {extra}" if extra else f"install {package.replace('_', '-')}"
        return DoctorCheck("broken", label, f"{name}: {package} is not installed", fix)
    return DoctorCheck("ok", label, name)


def _check_endpoint(endpoint: TierEndpoint) -> Iterator[DoctorCheck]:
    answer, where = fetch_models(endpoint), endpoint.settings.base_url or OPENAI_URL
    if answer.problem:
        grade: Literal["note", "broken"] = "note" if answer.is_reachable else "broken"
        yield DoctorCheck(grade, "endpoint", f"{where}: {answer.problem}", answer.fix)
        return
    yield DoctorCheck("ok", "endpoint", f"{where} answers in {answer.seconds:.2f} s")
    unknown: dict[str, list[Tier]] = {}
    for tier, name in endpoint.models.items():
        if answer.models and name not in answer.models:
            unknown.setdefault(name, []).append(tier)
    for name, tiers in sorted(unknown.items()):
        yield DoctorCheck(
            "note", "endpoint", f"does not list {name}", _name_fix(tiers, name, answer.models)
        )


def _name_fix(tiers: list[Tier], name: str, models: Mapping[str, Any]) -> str:
    variables = " and ".join(f"SUPERVISE_MODEL_{tier.upper()}" for tier in tiers)
    if near := list_nearest_names(name, models):
        others = f" (or {', '.join(near[1:])})" if near[1:] else ""
        return f"set {variables} to openai:{near[0]}{others}"
    return f"set {variables} to openai:NAME; it has {', '.join([*models][:8])}"


def check_database(settings: Settings) -> Iterator[DoctorCheck]:
    """Check the file or the server, without creating anything."""
    if settings.postgres_url:
        yield _check_server(settings.postgres_url)
        yield DoctorCheck("ok", "traces", f"{settings.home} (runs begun on this machine)")
    else:
        yield _check_file(settings.resolve_database_path())


def _check_file(path: Path) -> DoctorCheck:
    from graph.stores.sqlite_file import check_database_file

    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir() or not access(folder, W_OK):
        fix = "set SUPERVISE_DATABASE_URL=sqlite:///PATH to a writable place"
        return DoctorCheck("broken", "database", f"{folder} cannot be written", fix)
    if not path.exists():
        return DoctorCheck("ok", "database", f"{path} (created by the first run)")
    try:
        check_database_file(path)
    except StoreError as error:
        return DoctorCheck("broken", "database", str(error), error.next)
    except sqlite3.Error:
        fix = "close what has it open, such as a database browser"
        return DoctorCheck("broken", "database", f"another program has locked {path}", fix)
    except OSError as error:
        fix = "fix its permissions, or set SUPERVISE_DATABASE_URL"
        return DoctorCheck("broken", "database", f"{path}: {error.strerror}", fix)
    return DoctorCheck("ok", "database", f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


def _check_server(url: str) -> DoctorCheck:
    try:
        seen = get_run_stores().describe(url)
    except (StoreError, UsageError) as error:
        return DoctorCheck("broken", "database", str(error), error.next)
    return DoctorCheck("ok", "database", f"{format_public_address(url)}: {seen}")


PACKAGES: Final = ("langgraph", "langchain", "langchain-openai", "openai", "pydantic", "langsmith")


def run_doctor(settings: Settings, *, is_probing: bool = False, as_json: bool = False) -> int:
    """Check everything and print it; return 2 if something configured is broken.

    Args:
        is_probing: call the language models too.
    """
    register_extensions()
    found = [diagnosis for look in _CHECKS for diagnosis in look(settings)]
    probes = probe_tiers(settings) if is_probing else []
    found += [line for probe in probes for line in describe_probe(probe, settings)]
    if as_json:
        checks = redact_value([asdict(diagnosis) for diagnosis in found])
        print_json({"checks": checks, "probes": redact_value([asdict(each) for each in probes])})
    else:
        followers = [*found[1:], None]
        shown = [  # three tiers may lack the same
            replace(each, fix="") if after and each.fix == after.fix else each
            for each, after in zip(found, followers, strict=True)
        ]
        print_listing([_format_row(diagnosis) for diagnosis in shown], ("", "", ""))
    broken = sum(diagnosis.level == "broken" for diagnosis in found)
    print_to_stderr(f"broken: {broken}" if broken else "nothing is broken", style="dim")
    return 2 if broken else 0


def _format_row(diagnosis: DoctorCheck) -> tuple[str, str, str]:
    fix = f"\nfix: {to_one_line(diagnosis.fix, 300)}" if diagnosis.fix else ""
    said = to_one_line(diagnosis.text, 300) + name_command(fix, sys.argv[0])
    return f"{diagnosis.level:6}", diagnosis.name, said


def _check_versions(settings: Settings) -> Iterator[DoctorCheck]:
    yield DoctorCheck("ok", "python", f"{platform.python_version()} on {platform.system()}")
    for package in PACKAGES:
        try:
            yield DoctorCheck("ok", package, version(package))
        except PackageNotFoundError:
            yield DoctorCheck("broken", package, "not installed", f"uv pip install {package}")


def _check_teams(settings: Settings) -> Iterator[DoctorCheck]:
    for folder in settings.team_folders:
        if not folder.is_dir():
            fix = "create it, or change SUPERVISE_TEAMS"
            yield DoctorCheck("broken", "teams", f"{folder} is not a folder", fix)
    for folder in list_teams(settings):
        problems = check_team(folder, settings)
        if problems:
            fix = f"supervise check {folder}"
            yield DoctorCheck("broken", f"team {folder.name}", problems[0], fix)
        elif missing := list_missing_packages(folder.name):
            text = f"packages are missing: {', '.join(missing)}"
            fix = write_install_command(folder.name)
            yield DoctorCheck("note", f"team {folder.name}", text, fix)
        else:
            yield DoctorCheck("ok", f"team {folder.name}", str(folder))


def _check_extensions(settings: Settings) -> Iterator[DoctorCheck]:
    yield from collect(lambda each: each.list_checks(settings))
    for problem in list_extension_problems():
        fix = "install a version of it that fits, or remove it"
        yield DoctorCheck("broken", "extension", problem, fix)


def _check_tracing(settings: Settings) -> Iterator[DoctorCheck]:
    if not settings.langsmith_tracing:
        only = "only in requests to models and tools"
        to = f"{only}, and as set below" if settings.otel else only
        text = f"off: run data leaves this machine {to}"
        yield DoctorCheck("ok", "LangSmith tracing", text)
    elif settings.langsmith_api_key is None:
        fix = "set LANGSMITH_API_KEY, or unset LANGSMITH_TRACING"
        yield DoctorCheck("broken", "LangSmith tracing", "on, but no key is set", fix)
    else:
        where = settings.langsmith_endpoint or "LangSmith's own endpoint"
        text = f"on: requests, prompts and answers are sent to {where}"
        yield DoctorCheck("ok", "LangSmith tracing", text)


def _check_otel(settings: Settings) -> Iterator[DoctorCheck]:
    if not settings.otel:
        return
    if missing := list_missing_packages(EXTRA):
        fix = write_install_command(EXTRA)
        yield DoctorCheck("broken", "OpenTelemetry", f"on, without {', '.join(missing)}", fix)
    else:
        address = settings.otel_endpoint or ""
        where = mask_passwords(address, address) or "OpenTelemetry's default address"
        content = "with prompts and replies" if settings.otel_content else "without content"
        yield DoctorCheck("ok", "OpenTelemetry", f"on: spans {content} are sent to {where}")


def _check_setting_sources(settings: Settings) -> Iterator[DoctorCheck]:
    """Name the files that count, what is ignored, and where keys belong."""
    sources, own = settings.sources, shorten_path(get_user_env_file())
    line = sources.describe_ignored()
    fix = f"supervise trust, if they are yours; keys belong in the environment or in {own}"
    files = ", ".join(("the environment", *sources.list_files()))
    yield DoctorCheck("note" if line else "ok", "settings", f"of {files}", fix if line else "")
    if line:
        yield DoctorCheck("note", "settings", line.partition(". next")[0])
    for folder in list_replaced_teams(settings):
        text = f"{folder} is used in place of the shipped team"
        yield DoctorCheck("note", f"team {folder.name}", text, "rename its folder")


def _check_setting_names(settings: Settings) -> Iterator[DoctorCheck]:
    for name, near in settings.find_unknown_variables().items():
        fix = f"did you mean {near}?" if near else ".env.example lists the settings"
        yield DoctorCheck("note", "setting", f"{name} is not a setting", fix)


_CHECKS: Final[tuple[Callable[[Settings], Iterator[DoctorCheck]], ...]] = (
    _check_versions,
    _check_setting_sources,
    _check_setting_names,
    check_models,
    check_database,
    _check_teams,
    _check_extensions,
    _check_tracing,
    _check_otel,
)
