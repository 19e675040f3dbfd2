"""The listening socket: connections beyond a limit are refused before any of their bytes is read."""

import asyncio
import ssl
from collections.abc import Callable
from typing import Final

from aiohttp import web

from gtp_engine.errors import ConfigError, problem

MAX_CONNECTIONS: Final = 256
"""Connections at once; a browser opens six."""

HANDSHAKE_WAIT: Final = 10.0
"""Seconds for the TLS handshake; connections count towards the limit only after it."""

_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 22\r\nConnection: close\r\n\r\n"
    b"Too many connections.\n"
)


class Gate(asyncio.Protocol):
    """Hands a new connection to `server`, or answers it with 503 and closes it while `most` are open."""

    def __init__(self, server: web.Server, most: int) -> None:
        self._server: Final = server
        self._most: Final = most

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Decide; not earlier, as several connections are accepted before the first of them is made."""
        assert isinstance(transport, asyncio.Transport)
        if len(self._server.connections) >= self._most:
            transport.write(_REFUSAL)
            transport.close()
            return
        handler = self._server()
        transport.set_protocol(handler)
        handler.connection_made(transport)


def limited(server: web.Server, most: int = MAX_CONNECTIONS) -> Callable[[], asyncio.BaseProtocol]:
    """Return what makes protocols for new connections, of which `most` are served at once."""
    return lambda: Gate(server, most)


async def listen(server: web.Server, host: str, port: int, encryption: ssl.SSLContext | None) -> asyncio.Server:
    """Return the socket on which `server` listens; raises ConfigError if it cannot."""
    wait = None if encryption is None else HANDSHAKE_WAIT
    try:
        return await asyncio.get_running_loop().create_server(
            limited(server), host, port, ssl=encryption, ssl_handshake_timeout=wait
        )
    except (OSError, OverflowError, UnicodeError) as error:  # the last one for what can be no name of a machine
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(
            problem(f"cannot listen on {host} port {port}: {reason}", advice="name another one with --host or --port")
        ) from None


def encryption_of(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    """Return the encryption with a certificate, None without one; raises ConfigError for files that do not serve."""
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        raise ConfigError(
            problem(f"certificate {certificate}: {error}", expected="PEM files of a certificate and its key")
        ) from None
    return context
