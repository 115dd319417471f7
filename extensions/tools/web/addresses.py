"""Decide which addresses a page may be fetched from: public ones, on web ports."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from nodes.errors import ToolRefused

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Awaitable[list[Address]]]

_PUBLIC_IPV6 = ip_network("2000::/3")
"""The only IPv6 range that IANA assigns public hosts from; all forms that hold an IPv4 address but
6to4 and Teredo, which are below, lie outside of it."""
_NON_PUBLIC_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("192.0.0.0/24", "2001::/23"),  # protocol assignments, Teredo among them
            *("192.88.99.0/24", "2002::/16"),  # 6to4
            *("192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),  # AS112
            "192.52.193.0/24",  # multicast tunnels
            "3fff::/20",  # documentation
            "168.63.129.16/32",  # Azure's own services, on each of its machines
        ),
    )
)
"""Special-purpose addresses of IANA that `is_global` of some Python versions counts as public."""


def is_public_address(address: Address) -> bool:
    """Return whether an address is on the public internet; an embedded one is checked too."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public_address(address.ipv4_mapped)
        if address not in _PUBLIC_IPV6:
            return False
    if any(address in network for network in _NON_PUBLIC_NETWORKS):
        return False
    return address.is_global and not address.is_multicast


async def resolve_host(host: str, port: int) -> list[Address]:
    """Resolve a name, IPv4 first.

    Raises:
        OSError: the name is not known, or no name server answers.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = {ip_address(str(entry[4][0]).partition("%")[0]) for entry in found}
    return sorted(addresses, key=lambda address: (address.version, address.packed))


@dataclass(frozen=True)
class AddressPolicy:
    """The addresses to which a request may connect."""

    ports: frozenset[int] = frozenset({80, 443})
    allows: Callable[[Address], bool] = is_public_address
    resolve: Resolver = resolve_host

    async def resolve_allowed(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a host, if every one of them is allowed.

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
