"""The settings of `gtp-engine serve`: where it listens, who may connect, how it encrypts, what it says about that.

Does not import aiohttp.
"""

import contextlib
import io
import ipaddress
import re
import secrets
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gtp_engine.base.errors import ConfigError, shown, shown_path
from gtp_engine.base.files import open_regular
from gtp_engine.config.option import Section, option

DEFAULT_PORT: Final = 8361
"""A port that is registered for nothing; 361 are the points of the board."""

HIDDEN: Final = "…"
"""Printed for a token that the user has given."""

LEAST_TOKEN: Final = 16
"""Characters of a token that cannot be guessed over a network, if it is random."""

TOKEN_VARIABLE: Final = "TENGEN_TOKEN"
"""The environment variable for the token, of the server and of `gtp-engine connect`."""

NO_TOKEN: Final = "off"
"""Given as the token, it says that none is needed."""

PER_ADDRESS: Final = 64
"""WebSockets from one address at once; a window with the page has two."""

_TOKEN: Final = re.compile(rf"[A-Za-z0-9_-]{{{LEAST_TOKEN},}}")
_TOKEN_BYTES: Final = 24


@dataclass(frozen=True)
class ServerSettings(Section, name="serve"):
    """Where the server listens and who may connect; raises ConfigError for values that do not go together."""

    host: str = option("127.0.0.1", unit="address")
    """Address to listen on. With 0.0.0.0 (or one address of this machine) other machines can connect."""
    port: int = option(DEFAULT_PORT, "Port to listen on; 0 takes any that is free.", bounds=(0, 65535))
    open: bool = option(False, "Open the page in this machine's browser.")
    token: str | None = option(
        None,
        f"Let in only clients that give this token, of {LEAST_TOKEN} characters or more. Other users of this machine "
        f"can see it here, but not in the environment variable {TOKEN_VARIABLE}. Not set: a random one is printed. "
        f"{NO_TOKEN}: let every user of this machine in without one.",
        unit="text",
    )
    allowed_host: str | None = option(None, unit="names")
    """Names by which others reach the server, separated by commas, besides localhost, the name of this machine and
    every address."""
    per_address: int = option(PER_ADDRESS, low=1)
    """WebSockets from one address at once, which may be that of a whole home or club."""
    proxy: str | None = option(None, unit="addresses")
    """Addresses of reverse proxies in front of the server, separated by commas. The server believes what they say about
    their clients' addresses (X-Forwarded-For) and about encryption (X-Forwarded-Proto)."""
    access_log: bool = option(False, "Log every request, with address and role, without the token.")
    log_format: str = option("text", choices=("text", "json"))
    """Form of the log on stderr; json has one object per line."""
    certificate: str | None = option(None, unit="path")
    """Encrypt (https, wss) with this certificate, a PEM file; its key may be in the same file."""
    key: str | None = option(None, "The key of the certificate, a PEM file.", unit="path")

    def __post_init__(self) -> None:
        """Check values that depend on each other."""
        super().__post_init__()
        if not self.host:  # would be every address of this machine
            raise ConfigError("no host", expected="an address, such as 127.0.0.1 or 0.0.0.0")
        if self.token != NO_TOKEN:
            check_token(self.token)
        elif not self.is_local:
            given = f"token {NO_TOKEN} where other machines can connect"
            raise ConfigError(given, expected=f"a token of {LEAST_TOKEN} characters or more")
        for address in listed(self.proxy):
            if parsed_address(address) is None:
                raise ConfigError(f"proxy {shown(address)}", expected="an IP address")
        if self.key is not None and self.certificate is None:
            raise ConfigError("a key without a certificate", advice="name that with --certificate")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        address = parsed_address(self.host)
        return self.host.lower() == "localhost" if address is None else address.is_loopback


def listed(text: str | None) -> frozenset[str]:
    """Return the names or addresses of an option, between commas, in lower case."""
    return frozenset(filter(None, (each.strip().lower() for each in (text or "").split(","))))


def parsed_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address as a value, None for what is none."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(text)
    return None


def check_token(token: str | None) -> None:
    """Raise ConfigError for what cannot be a token; None is none."""
    if token is not None and not _TOKEN.fullmatch(token):
        expected = f"{LEAST_TOKEN} or more letters, digits, - and _, as it is part of addresses"
        raise ConfigError("this token", expected=expected)


@contextlib.contextmanager
def reading_pem(*paths: str | None, expected: str) -> Iterator[None]:
    """Let the block read PEM files, first a certificate; raises ConfigError if one cannot be read or does not serve."""
    for path in filter(None, paths):
        try:
            open_regular(path).close()
        except OSError as error:
            reason = error.strerror or error
            raise ConfigError(f"{shown_path(path)} cannot be read: {reason}", expected=expected) from None
    try:
        yield
    except (OSError, ValueError) as error:  # SSLError is an OSError
        given = f"certificate {shown_path(paths[0] or '')}: {getattr(error, 'reason', None) or error}"
        raise ConfigError(given, expected=expected) from None


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def page_address(address: tuple[str, int], token: str | None, *, is_encrypted: bool) -> str:
    """Return the page's address with the token; a server that listens everywhere is this machine's."""
    name, port = address[:2]
    host = "localhost" if name in ("0.0.0.0", "::") else name
    return f"{'https' if is_encrypted else 'http'}://{_place(host, port)}/{'' if token is None else f'?token={token}'}"


def greeting(address: tuple[str, int], token: str | None, *, is_encrypted: bool) -> str:
    """Return what the user has to know to connect; a terminal also gets a QR code for a phone."""
    name, port = address[:2]
    others = machine_addresses() if name in ("0.0.0.0", "::") else []
    query = "" if token is None else f"?token={token}"
    peer = "wss" if is_encrypted else "ws"
    pages = [page_address((each, port), token, is_encrypted=is_encrypted) for each in (name, *others)]
    place = _place(others[0] if others else name, port)
    lines = [
        f"Open  {pages[0]}",
        *(f"From other machines  {each}" for each in pages[1:]),
        *([_qr_code(pages[1])] if others and token != HIDDEN and sys.stderr.isatty() else []),
        f"Remote engine for KaTrain: {peer}://{place}/analysis{query}",
        f'Command for other Go programs: gtp-engine connect "{peer}://{place}/gtp{query}"',
        "Ctrl-C ends the server.",
    ]
    return "\n".join(filter(None, lines))


def _place(name: str, port: int) -> str:
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def machine_addresses() -> list[str]:
    """Return the addresses under which other machines may reach this one, the one of its usual network first."""
    found: list[str] = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # an address of no machine; nothing is sent
        found.append(probe.getsockname()[0])
    with contextlib.suppress(OSError):
        found += [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [each for each in dict.fromkeys(found) if not ipaddress.ip_address(each).is_loopback]


def _qr_code(text: str) -> str:
    """Return a text as a QR code for a terminal."""
    import segno

    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(out=drawn, border=2, compact=True)
    return drawn.getvalue().rstrip("\n")
