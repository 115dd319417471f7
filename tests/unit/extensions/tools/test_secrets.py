"""Keys and passwords, told from the words around them."""

import pytest

from extensions.tools.logs.secrets import MASK, is_secret_name, looks_secret, mask_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter22 failed", f"password={MASK} failed"),
        ('{"api_key": "abc-def", "a": 1}', f'{{"api_key": {MASK}, "a": 1}}'),
        ("passphrase='it is long' x", f"passphrase={MASK} x"),
        ("Authorization: Bearer abcdefgh", f"Authorization: Bearer {MASK}"),
        ("redis://:hunter22@cache:6379/0", f"redis://:{MASK}@cache:6379/0"),
        ("postgres://me:hunter22@db/x", f"postgres://me:{MASK}@db/x"),
        ("sent eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc on", f"sent {MASK} on"),
        ("key AKIAIOSFODNN7EXAMPLE", f"key {MASK}"),
    ],
)
def test_secrets_are_hidden_and_the_rest_is_unchanged(text: str, shown: str) -> None:
    assert mask_secrets(text) == shown


@pytest.mark.parametrize(
    "text",
    ["max_tokens=4096", "a token is missing", "http://a.example:8080/x", "desk-top-of-it-all"],
)
def test_text_without_secrets_is_unchanged(text: str) -> None:
    assert mask_secrets(text) == text and not looks_secret(text)


def test_the_name_of_a_setting_tells_a_secret() -> None:
    assert is_secret_name("DB_PASSWORD") and is_secret_name("signing-key")
    assert not is_secret_name("author") and not is_secret_name("timeout")


@pytest.mark.parametrize(
    "text", ["://a" * 20_000, "password=" * 20_000, "token='" * 20_000, "-" * 99]
)
def test_long_texts_are_read_at_once(text: str) -> None:
    assert mask_secrets(text)
