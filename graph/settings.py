"""The settings: every environment variable that the application reads is declared here.

The environment comes first, then the file of `--env-file`, then the current folder's `.env`, of
which only a part counts until the user trusts it, then the user's own file. A blank value counts
as unset.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final
from zlib import crc32

from pydantic import (
    AfterValidator,
    AliasGenerator,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from graph.setting_sources import (
    ENV_FILE_VARIABLE,
    PART_OF_ENV_FILE,
    VARIABLE_PREFIX,
    SettingSources,
    describe_setting_problem,
    find_sources,
    find_unknown_names,
    list_variables,
    map_variables,
)
from graph.stores.postgres_url import (
    format_public_address,
    is_postgres,
    list_passwords,
    mask_passwords,
)
from graph.variables import (
    TIERS,
    Address,
    ApiKey,
    LimitVariables,
    ServerVariables,
    Switch,
    TracingVariables,
    read_text_by,
    require_redis_package,
    reveal,
)
from nodes.errors import SettingsInvalid, require_type
from nodes.errors.redaction import register_secrets
from nodes.models.settings import (
    ModelSettings,
    OutputPurpose,
    Price,
    Tier,
    read_output_limits,
    read_price,
)
from nodes.security.private_files import require_no_links
from nodes.tools.framework.settings import ToolSettings

EMBEDDED: Final = "embedded"
OPENAI_MODELS: Final[Mapping[Tier, str]] = {
    "fast": "openai:gpt-6-luna",
    "standard": "openai:gpt-6.1-terra",
    "strong": "openai:gpt-6.1-sol",
}
"""Models of the tiers without a setting, if an OpenAI key or a compatible endpoint is set."""

KEY_SUFFIX: Final = "_API_KEY"
"""Of the variables that hold providers' keys, such as ANTHROPIC_API_KEY."""
DEFAULT_DATABASE: Final = Path(".supervise") / "runs.sqlite"

ModelName = Annotated[
    str | None,
    Field(
        pattern=r"^(embedded|[a-z][a-z0-9_\-]*:\S+)$",
        description="`embedded`, or provider:model such as openai:gpt-6.1-terra",
    ),
]
Folder = Annotated[
    Path | None,
    AfterValidator(lambda path: path and path.expanduser()),
    Field(description="an existing folder"),
]


def _read_folders(text: str) -> tuple[Path, ...]:
    names = (name.strip() for name in text.split(os.pathsep))
    return tuple(Path(name).expanduser() for name in names if name)


def _read_prices(text: str) -> dict[str, Price]:
    return dict(read_price(item) for item in text.split(",") if item.strip())


class Settings(LimitVariables, TracingVariables, ServerVariables):
    """The user's validated configuration.

    Raises:
        SettingsInvalid: a value is invalid; the message names the variable, never a secret.
    """

    model_config = SettingsConfigDict(
        env_file=(),  # `SettingSources` has the files
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(
            validation_alias=lambda name: f"{VARIABLE_PREFIX}{name.upper()}"
        ),
    )

    sources: SettingSources = Field(
        default_factory=SettingSources, validation_alias="sources", exclude=True, repr=False
    )
    env_file: Path | None = Field(None, validation_alias=ENV_FILE_VARIABLE, repr=False)
    """What `--env-file` names; only `SettingSources` reads it."""
    openai_api_key: ApiKey = Field(None, validation_alias="OPENAI_API_KEY")
    openai_base_url: Address = Field(None, validation_alias="OPENAI_BASE_URL")
    model_fast: ModelName = None
    model_standard: ModelName = None
    model_strong: ModelName = None
    max_output_tokens: Annotated[
        dict[OutputPurpose, int], NoDecode, read_text_by(read_output_limits)
    ] = Field(default_factory=dict, description="a number, or plan=N,turn=N,report=N,answer=N")
    prices: Annotated[dict[str, Price], NoDecode, read_text_by(_read_prices)] = Field(
        default_factory=dict,
        description="provider:model=INPUT/OUTPUT, US dollars for a million tokens, with commas",
    )
    """Prices that the price table lacks, or that replace its own."""
    stream: Switch | None = Field(None, description="true or false")
    speculate: Switch = True
    trace_content: Switch = False
    """Whether the trace holds the prompt and the reply of each model call."""
    record: Switch = True
    """Whether what a run takes from outside is kept beside its trace, for a replay."""
    database_url: str = Field(
        "",
        description="sqlite:///relative/path, sqlite:////absolute/path or postgresql://…",
        repr=False,
    )
    team_folders: Annotated[tuple[Path, ...], NoDecode, read_text_by(_read_folders)] = Field(
        (),
        validation_alias="SUPERVISE_TEAMS",
        description=f"folders that hold team folders, separated by {os.pathsep!r}",
    )
    documents: Folder = None
    sql_url: str | None = Field(
        None, description="a path, sqlite:///PATH, duckdb:///PATH or postgresql://…"
    )
    repository: Folder = None
    run_code: Switch = False
    """Whether `run_code` may run code; `sandbox/limits.py` holds its limits."""
    tavily_api_key: ApiKey = Field(None, validation_alias="TAVILY_API_KEY")
    _folder: Path = PrivateAttr(default_factory=Path.cwd)
    """Folder that relative paths begin in; asked for once, as a server's event loop may not."""

    def __init__(self, **values: Any) -> None:
        sources = values.pop("sources", None) or _find_sources(type(self), values)
        try:
            super().__init__(**{**values, "sources": sources})
        except ValidationError as error:
            whole = (name for name in sources.list_files() if name != PART_OF_ENV_FILE)
            places = " or in ".join(("the environment", *whole))
            raise SettingsInvalid(
                "; ".join(
                    describe_setting_problem(each, type(self).model_fields)
                    for each in error.errors(include_input=True, include_url=False)
                ),
                next=f"change it in {places}",
            ) from None
        except OSError as error:
            raise SettingsInvalid(
                "the current folder cannot be used", cause=str(error), next="change to another one"
            ) from None

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *_: Any, **named: PydanticBaseSettingsSource
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return one source for all layers of variables, without blank values.

        Names of fields, such as DATABASE_URL, are dropped too: other programs use them. Keys of
        providers that have no field here are registered for redaction.
        """
        given = named["init_settings"]
        assert isinstance(given, InitSettingsSource)
        known = {name.lower() for name in list_variables(cls.model_fields)}
        counted: dict[str, str | None] = {}
        for _name, variables in reversed(given.init_kwargs["sources"].layers):
            register_secrets(
                value for name, value in variables.items() if name.upper().endswith(KEY_SUFFIX)
            )
            counted |= {
                name.lower(): value
                for name, value in variables.items()
                if name.lower() in known and not _is_blank(value)
            }
        source = EnvSettingsSource(settings_cls)
        source.env_vars = counted
        return given, source

    def build_model_settings(self) -> ModelSettings:
        """Return the settings of the model client.

        Raises:
            PackageMissing: a setting needs packages that are not installed.
        """
        require_redis_package(self.redis_url)
        return ModelSettings(
            fast=self.resolve_model("fast"),
            standard=self.resolve_model("standard"),
            strong=self.resolve_model("strong"),
            base_url=self.openai_base_url,
            api_key=reveal(self.openai_api_key),
            tiers=self.build_tier_settings(),
            max_concurrency=self.max_concurrency,
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            instances=self.instances,
            redis_url=self.redis_url,
            call_timeout_s=(
                self.call_timeout_s if "call_timeout_s" in self.model_fields_set else None
            ),
            max_output_tokens=self.max_output_tokens,
            prices=self.prices,
            streaming=bool(self.stream),
            trace_content=self.trace_content,
            choices=self._list_choices(),
        )

    def build_tool_settings(self) -> ToolSettings:
        """Return the settings of the tools.

        Raises:
            SettingsInvalid: a folder does not exist.
        """
        folders = {"SUPERVISE_DOCUMENTS": self.documents, "SUPERVISE_REPOSITORY": self.repository}
        for name, folder in folders.items():
            if folder is not None and not folder.is_dir():
                raise SettingsInvalid(
                    f"{name} names {str(folder)!r}, which is not a folder",
                    next=f"create the folder, or unset {name}",
                )
        return ToolSettings(
            documents=self.documents,
            sql_url=self.sql_url,
            repository=self.repository and self._folder / self.repository,
            run_code=self.run_code,
            output=self.home / "documents",
            tavily_api_key=reveal(self.tavily_api_key),
            logs=self.home / "mcp",
            variables=self.sources.variables,
        )

    @property
    def postgres_url(self) -> str | None:
        """Address of the PostgreSQL server that stores runs; None if a file stores them."""
        return self.database_url if is_postgres(self.database_url) else None

    def resolve_database_path(self) -> Path:
        """Return the file that stores runs, or would store them without a server.

        Raises:
            StoreError: its folder came with the current one, and has links out of it.
        """
        named = "" if self.postgres_url else self.database_url.removeprefix("sqlite:///")
        path = self._folder / (named or DEFAULT_DATABASE)
        require_no_links(path, self._folder)
        return path

    @property
    def home(self) -> Path:
        """Folder for traces and locks: that of the database file, or one named after the server."""
        folder = self.resolve_database_path().parent
        if self.postgres_url is None:
            return folder
        address = mask_passwords(self.postgres_url, self.postgres_url)
        return folder / f"postgres-{crc32(address.encode()):08x}"

    def model_post_init(self, context: Any) -> None:
        """Register the keys and passwords of these settings for redaction."""
        register_secrets(self.list_secrets())

    def list_secrets(self) -> tuple[str, ...]:
        """List the secret values, which must never be written anywhere."""
        keys = (self.openai_api_key, self.tavily_api_key)
        held = tuple(key.get_secret_value() for key in keys if key)
        urls = (self.database_url, self.sql_url or "", self.redis_url or "")
        passwords = tuple(password for url in urls for password in list_passwords(url))
        own = (*self.list_tier_secrets(), *self.list_tracing_secrets(), *self.list_server_secrets())
        return (*held, *own, *passwords)

    def find_unknown_variables(self) -> dict[str, str]:
        """Return the unknown `SUPERVISE_` variables of all sources.

        Each has the nearest known name, or an empty one.
        """
        given = {**self.sources.folder_variables, **self.sources.variables}
        return find_unknown_names(given, list_variables(type(self).model_fields))

    def export_tracing(self) -> None:
        """Export the tracing settings of files, since those who send read the environment.

        LangSmith knows four names for its switch; the one set here overrides the others.
        """
        os.environ["LANGSMITH_TRACING_V2"] = "true" if self.langsmith_tracing else "false"
        for name, value in self.list_tracing_variables().items():
            if _is_blank(os.environ.get(name, "")):
                os.environ[name] = value

    def resolve_model(self, tier: Tier) -> str:
        chosen: str | None = getattr(self, f"model_{tier}")
        endpoint = (getattr(self, f"{tier}_base_url"), getattr(self, f"{tier}_api_key"))
        has_endpoint = any((self.openai_api_key, self.openai_base_url, *endpoint))
        return chosen or (OPENAI_MODELS[tier] if has_endpoint else EMBEDDED)

    def _list_choices(self) -> frozenset[str] | None:
        """Return the models that a server's users may choose; None without users."""
        if self.users_file is None:
            return None
        named = (self.resolve_model(tier) for tier in TIERS)
        return frozenset((EMBEDDED, *named, *self.user_models))

    @model_validator(mode="before")
    @classmethod
    def _drop_blank_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: v.strip(" \t") if isinstance(v, str) else v for name, v in values.items()}
        return {name: value for name, value in kept.items() if not _is_blank(value)}

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, url: str) -> str:
        if is_postgres(url):
            try:
                format_public_address(url), list_passwords(url)
            except ValueError:
                raise ValueError("is not a valid address") from None
            return url
        if (url and not url.startswith("sqlite:///")) or url in (
            "sqlite:///",
            "sqlite:///:memory:",
        ):
            raise ValueError("names no file or server that can store runs")
        return url

    @field_validator("sql_url")
    @classmethod
    def _check_sql_url(cls, url: str | None) -> str | None:
        scheme = url.partition("://")[0] if url and "://" in url else "sqlite"
        if scheme not in ("sqlite", "duckdb", "postgresql", "postgres"):
            raise ValueError(f"has the scheme {scheme!r}")
        return url


def read_settings(given: Settings | None) -> Settings:
    """Return a program's settings, or the environment's; `SettingsInvalid` for another type."""
    return require_type("settings", given, Settings) or Settings()


def choose_env_file(path: Path) -> None:
    """Let all settings of this process, and of those that it starts, use a further file."""
    os.environ[ENV_FILE_VARIABLE] = str(path.expanduser().absolute())


def _find_sources(settings: type[Settings], values: dict[str, Any]) -> SettingSources:
    """Return the sources of settings with these values.

    An `_env_file` of None leaves only the environment, a path replaces that of `--env-file`.
    """
    environment = dict(os.environ)
    named = values.pop("_env_file", environment.get(ENV_FILE_VARIABLE, "").strip())
    if named is None:
        return SettingSources((("the environment", environment),))
    fields = {name.lower(): field for name, field in map_variables(settings.model_fields).items()}
    return find_sources(environment, named, fields, lambda found: settings(**values, sources=found))


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()
