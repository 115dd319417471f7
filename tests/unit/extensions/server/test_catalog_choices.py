"""Which models a run may choose on a server that has users."""

from pathlib import Path

import pytest

from extensions.server.users.users_file import add_user
from graph.settings import Settings
from nodes.errors import SettingsInvalid
from nodes.models.catalog import ModelCatalog
from state import Context


@pytest.fixture
def catalog(tmp_path: Path) -> ModelCatalog:
    path = tmp_path / "users.json"
    add_user(path, "bob")
    settings = Settings(
        users_file=path,
        model_fast="openai:small",
        model_strong="openai:large",
        user_models="openai:other, anthropic:claude",
    )
    return ModelCatalog(settings.build_model_settings())


@pytest.mark.parametrize(
    "name", ["openai:small", "openai:large", "openai:other", "anthropic:claude", "embedded"]
)
def test_a_run_chooses_among_the_models_of_the_server(catalog: ModelCatalog, name: str) -> None:
    assert catalog.get_name("strong", Context(model_strong=name)) == name


@pytest.mark.parametrize("name", ["anthropic:other", "ollama:small", "openai:small@evil", "x"])
def test_no_other_model_is_chosen_for_any_tier(catalog: ModelCatalog, name: str) -> None:
    with pytest.raises(SettingsInvalid, match="not one of this server's models"):
        catalog.get_name("fast", Context(model_strong=name))


def test_without_users_a_run_chooses_freely() -> None:
    catalog = ModelCatalog(Settings().build_model_settings())

    assert catalog.get_name("fast", Context(model_fast="ollama:any")) == "ollama:any"
