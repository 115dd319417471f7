"""The address of a PostgreSQL database, and its form without passwords."""

from urllib.parse import parse_qs, unquote, urlsplit

POSTGRES_SCHEMES = ("postgresql://", "postgres://")


def is_postgres(url: str) -> bool:
    """Return whether an address names a PostgreSQL server."""
    return url.startswith(POSTGRES_SCHEMES)


def list_passwords(url: str) -> tuple[str, ...]:
    """List the passwords in an address, as written and unquoted."""
    if "://" not in url:
        return ()
    parts = urlsplit(url)
    written = [parts.netloc.rpartition("@")[0].partition(":")[2]]
    for name in ("password", "sslpassword"):
        written += parse_qs(parts.query).get(name, [])
    return tuple(dict.fromkeys(form for one in written if one for form in (one, unquote(one))))


def format_public_address(url: str) -> str:
    """Return an address without passwords."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return f"postgresql://{name + '@' if name else ''}{host}{parts.path}"


def mask_passwords(text: str, url: str) -> str:
    """Return a text in which an address's passwords are masked."""
    for password in list_passwords(url):
        text = text.replace(password, "[secret]")
    return text
