"""A download that ends at its time and its size, whatever the other side does."""

import base64
import io
import ipaddress
import queue
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address
from typing import BinaryIO
from urllib.parse import SplitResult, unquote, unquote_to_bytes, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2

from rag_assets.model import hide_credentials

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


_PIECE_BYTES = 1 << 16
_MOST_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Seconds without a byte from the other side after which it is given up.
_SILENCE_SECONDS = 30.0
_PORTS = {"http": 80, "https": 443}
_PRINTABLE = range(0x21, 0x7F)
_GZIP = b"\x1f\x8b"


class DownloadError(Exception):
    """A download was given up; says why in some words, without what is secret in an address."""


class PrivateAddressError(DownloadError):
    """It leads to this machine or into a private network, which was not allowed."""


class TooLargeError(DownloadError):
    """More came than was wanted."""


class TooSlowError(DownloadError):
    """It was not done in its time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a download may take.

    Args:
        bytes: of the content, unpacked.
        seconds: by the clock for everything: names, connections, redirects, content.
        allow_private: also addresses of this machine and of private networks, at first and after
            each redirect.
        use_proxy: go through the proxy that the environment names (HTTPS_PROXY, NO_PROXY), which
            then resolves the names; no address is compared any more.
    """

    bytes: int
    seconds: float
    allow_private: bool = False
    use_proxy: bool = False

    def __post_init__(self) -> None:
        if self.use_proxy and not self.allow_private:
            raise ValueError("behind a proxy no address can be refused: allow_private is False")


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What came, and from where; `headers` have names in lower case, `url` holds no secret."""

    status: int
    url: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the status says so; `data` is empty where it does not."""
        return 200 <= self.status < 300


def download(url: str, limits: Limits, clock: Callable[[], float] = time.monotonic) -> Downloaded:
    """Return what an http(s) address holds, after redirects.

    User and password of the address are sent to its own host alone.

    Raises:
        DownloadError: the address is bad, nobody answers, or what comes is no HTTP.
        PrivateAddressError: it, or what it sends on to, is none that is allowed.
        TooLargeError, TooSlowError: it would take more than the limits.
    """
    whole = io.BytesIO()
    answer = download_into(whole, url, limits, clock)
    return replace(answer, data=whole.getvalue())


def download_into(
    target: BinaryIO, url: str, limits: Limits, clock: Callable[[], float] = time.monotonic
) -> Downloaded:
    """Write what an address holds to `target`, as `download` does; the answer has no `data`."""
    backend = _LimitedBackend(clock() + limits.seconds, limits, clock)
    first = _split(url)
    here = first
    try:
        for _ in range(_MOST_REDIRECTS + 1):
            headers = _headers(here, has_user=_origin(here) == _origin(first), user=first)
            with (
                _open_pool(here, limits, backend) as pool,
                pool.stream("GET", _target(here), headers=headers) as answer,
            ):
                said = _read_headers(answer.headers)
                if answer.status not in _REDIRECTS or "location" not in said:
                    if 200 <= answer.status < 300:
                        _read(answer.iter_stream(), target, said, limits, backend)
                    return Downloaded(answer.status, hide_credentials(here.geturl()), said, b"")
                # Some servers send UTF-8 though none should.
                here = _joined(here, said["location"].encode("latin-1").decode("utf-8", "replace"))
    except NotPublicError as error:
        raise PrivateAddressError(_with_place(str(error), here, first)) from None
    except AddressError as error:
        raise DownloadError(_with_place(str(error), here, first)) from None
    except httpcore2.TimeoutException:
        backend.require_time()
        raise TooSlowError(f"nothing came for {_SILENCE_SECONDS:g} seconds") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError, zlib.error) as error:
        words = hide_credentials(str(error)) or type(error).__name__
        raise DownloadError(_with_place(words, here, first)) from None
    except httpcore2.ProxyError as error:
        raise DownloadError(f"the proxy refuses ({hide_credentials(str(error))})") from None
    raise DownloadError(f"it was sent on more than {_MOST_REDIRECTS} times")


def _open_pool(
    here: SplitResult, limits: Limits, backend: "_LimitedBackend"
) -> httpcore2.ConnectionPool:
    named = getproxies().get(here.scheme) if limits.use_proxy else None
    if not named or proxy_bypass(here.hostname or ""):
        return httpcore2.ConnectionPool(network_backend=backend)
    proxy = _split(named if "://" in named else f"http://{named}")
    auth = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
    return httpcore2.HTTPProxy(_target(proxy), auth, network_backend=backend)


def _with_place(words: str, here: SplitResult, first: SplitResult) -> str:
    if here == first:
        return words
    return f"it was sent on to {hide_credentials(here.geturl())}: {words}"


def _split(url: str) -> SplitResult:
    """Return the parts of an address that can be asked for."""
    shown = hide_credentials(url)
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise DownloadError(f"'{shown}' is not an address ({error})") from None
    if parts.scheme not in _PORTS:
        raise DownloadError(f"'{shown}' is not an http or https address")
    if not parts.hostname or port == 0:
        raise DownloadError(f"'{shown}' names no host and port that could be asked")
    return parts


def _joined(here: SplitResult, location: str) -> SplitResult:
    """Return where a redirect leads, which may be written without its host."""
    try:
        return _split(urljoin(here.geturl(), location))
    except ValueError:
        return _split(location)  # which says what is wrong with it


def _target(parts: SplitResult) -> httpcore2.URL:
    path = parts.path or "/"
    target = f"{path}?{parts.query}" if parts.query else path
    return httpcore2.URL(
        scheme=parts.scheme.encode(),
        host=_host(parts),
        port=parts.port,
        target=b"".join(
            bytes([byte]) if byte in _PRINTABLE else b"%%%02X" % byte for byte in target.encode()
        ),
    )


def _host(parts: SplitResult) -> bytes:
    """Return a host as it is asked for: names of other scripts in their form for machines."""
    host = parts.hostname or ""
    try:
        return host.encode("ascii") if host.isascii() else host.encode("idna")
    except UnicodeError:
        raise DownloadError(f"'{host}' cannot be the name of a host") from None


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def _headers(
    parts: SplitResult, *, has_user: bool, user: SplitResult
) -> dict[bytes | str, bytes | str]:
    from rag_assets import __version__

    host = _host(parts).decode()
    bracketed = f"[{host}]" if ":" in host else host
    named = f":{parts.port}" if parts.port else ""
    headers: dict[bytes | str, bytes | str] = {
        "Host": bracketed + named,
        "User-Agent": f"rag-assets/{__version__}",
        "Accept": "*/*",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "close",
    }
    if has_user and user.username is not None:
        given = b":".join(unquote_to_bytes(each or "") for each in (user.username, user.password))
        headers["Authorization"] = f"Basic {base64.b64encode(given).decode()}"
    return headers


def _read_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


def _read(
    pieces: Iterable[bytes],
    target: BinaryIO,
    headers: Mapping[str, str],
    limits: Limits,
    backend: "_LimitedBackend",
) -> None:
    stated = headers.get("content-length", "")
    if stated.isdigit() and int(stated) > limits.bytes:
        raise TooLargeError
    size = 0
    for piece in _unpacked(pieces, headers.get("content-encoding", ""), backend):
        backend.require_time()
        size += len(piece)
        if size > limits.bytes:
            raise TooLargeError
        target.write(piece)


def _unpacked(
    pieces: Iterable[bytes], encoding: str, backend: "_LimitedBackend"
) -> Iterator[bytes]:
    """Yield a body unpacked, in pieces of bounded size however well it was packed."""
    kind = encoding.strip().lower()
    if kind in {"", "identity"}:
        yield from pieces
        return
    if kind not in {"gzip", "x-gzip", "deflate"}:
        raise DownloadError(f"it is packed as '{encoding[:40]}', which was not asked for")
    unpacker = None
    for piece in pieces:
        left, is_more = piece, bool(piece)
        while is_more:
            backend.require_time()
            unpacker = unpacker or _unpacker(kind, left)
            unpacked = unpacker.decompress(left, _PIECE_BYTES)
            yield unpacked
            if unpacker.eof:  # gzip may go on with another member; what else follows is no content
                left, unpacker = unpacker.unused_data, None
                is_more = kind != "deflate" and left.startswith(_GZIP)
            else:
                left = unpacker.unconsumed_tail
                is_more = bool(left) or len(unpacked) == _PIECE_BYTES
    if unpacker is not None:
        raise DownloadError("the packed content breaks off")


def _unpacker(kind: str, begin: bytes) -> "zlib._Decompress":
    if kind != "deflate":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    # Some servers leave out the two bytes that the standard wants in front.
    has_frame = begin[0] & 0x0F == 8
    return zlib.decompressobj(zlib.MAX_WBITS if has_frame else -zlib.MAX_WBITS)


class _LimitedBackend(httpcore2.NetworkBackend):
    """Connections to allowed addresses, of which no operation lasts beyond one moment."""

    def __init__(self, until: float, limits: Limits, clock: Callable[[], float]) -> None:
        self._until, self._limits, self._clock = until, limits, clock
        self._system = httpcore2.SyncBackend()

    def require_time(self) -> float:
        """Return the seconds that are left for the next operation.

        Raises:
            TooSlowError: none are.
        """
        left = self._until - self._clock()
        if left <= 0:
            raise TooSlowError(f"not done after {self._limits.seconds:g} seconds")
        return min(left, _SILENCE_SECONDS)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to one of the addresses that the host has now, the first that answers."""
        found = find_addresses(
            host, port, self.require_time(), allow_private=self._limits.allow_private
        )
        trouble: Exception = AddressError(f"{host} has no address")
        for address in found:
            try:
                stream = self._system.connect_tcp(
                    address, port, self.require_time(), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
            else:
                return _LimitedStream(stream, self)
        raise trouble


class _LimitedStream(httpcore2.NetworkStream):
    """A connection that asks before each operation how long that may last."""

    def __init__(self, stream: httpcore2.NetworkStream, backend: _LimitedBackend) -> None:
        self._stream, self._backend = stream, backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, self._backend.require_time())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, self._backend.require_time())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._backend.require_time())
        return _LimitedStream(stream, self._backend)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)
