"""Which machine a name leads to, asked once, and whether that one may be spoken to."""

import ipaddress
import queue
import socket
import threading
from ipaddress import IPv4Address, IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Azure's machines ask theirs for secrets there; no other cloud's lies among public addresses.
_METADATA = frozenset({IPv4Address("168.63.129.16")})


class AddressError(Exception):
    """A name leads nowhere; says why."""


class NotPublicError(AddressError):
    """A name leads only to machines that may not be spoken to."""


def find_addresses(host: str, port: int, seconds: float, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host, as numbers, in the order of the system.

    Who connects to one of them connects to what was looked at here: a name that leads elsewhere
    when it is asked again changes nothing.

    Args:
        seconds: after which the name counts as unknown.
        allow_private: also addresses of this machine and of private networks.

    Raises:
        AddressError: it has none.
        NotPublicError: it has none that is allowed.
    """
    found = [each for each in _ask(host, port, seconds) if allow_private or is_public(each)]
    if not found:
        raise NotPublicError(f"{host} is an address of this machine or of a private network")
    return found


def is_public(address: str) -> bool:
    """Say whether an address belongs to the open internet, whatever it is wrapped in."""
    parsed = _unwrapped(ipaddress.ip_address(address))
    return parsed.is_global and not (
        parsed.is_multicast
        or parsed.is_reserved
        or parsed.is_unspecified
        or parsed.is_loopback
        or parsed.is_link_local
        or parsed.is_private
        or (isinstance(parsed, IPv6Address) and parsed.is_site_local)
        or parsed in _METADATA
    )


def _unwrapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 one stands for, where it stands for one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (address,))[-1]


def _ask(host: str, port: int, seconds: float) -> list[str]:
    # The system's resolver knows no time-out: it is asked in a thread that may be left behind.
    answers: queue.Queue[list[str] | OSError | UnicodeError] = queue.Queue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put(list(dict.fromkeys(str(each[4][0]) for each in found)))
        except (OSError, UnicodeError) as error:  # also a label of more than 63 characters
            answers.put(error)

    threading.Thread(target=ask, name="resolver", daemon=True).start()
    try:
        answer = answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise AddressError(f"the name {host} was not resolved in time") from None
    if isinstance(answer, OSError | UnicodeError):
        raise AddressError(f"the name {host} is not known ({answer})") from None
    return answer
