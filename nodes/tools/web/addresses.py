"""Which addresses a page may be fetched from: public ones, on the web's ports."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from nodes.errors import ToolRefused

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[Address]]]

_NOT_PUBLIC = tuple(
    map(ip_network, ("64::/16", "2002::/16", "::/96", "fec0::/10", "5f00::/16", "2001::/32"))
)


def is_public(address: Address) -> bool:
    """Tell whether an address belongs to the open internet; an embedded one must not hide."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if any(address in network for network in _NOT_PUBLIC):
            return False
    return address.is_global and not address.is_multicast


async def resolve(host: str, port: int) -> list[Address]:
    """Look a name up, IPv4 first.

    Raises:
        OSError: the name is not known, or no name server answers.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = {ip_address(str(entry[4][0]).partition("%")[0]) for entry in found}
    return sorted(addresses, key=lambda address: (address.version, address.packed))


@dataclass(frozen=True)
class AddressPolicy:
    """What a request may connect to."""

    ports: frozenset[int] = frozenset({80, 443})
    allows: Callable[[Address], bool] = is_public
    resolve: Resolve = resolve

    async def addresses(self, host: str, port: int) -> list[Address]:
        """Give the addresses of a host, when every one of them is allowed.

        Raises:
            ToolRefused: the port or one of the addresses is not allowed.
            OSError: the name cannot be resolved.
        """
        if port not in self.ports:
            raise ToolRefused(f"port {port} is not allowed: pages are fetched from 80 and 443")
        try:
            found = [ip_address(host)]
        except ValueError:
            found = await self.resolve(host, port)
        if not found or not all(map(self.allows, found)):
            raise ToolRefused(f"{host!r} is not a public web address; fetch a public page")
        return found
