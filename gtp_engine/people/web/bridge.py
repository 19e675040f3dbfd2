"""The GTP engine of a server as a local process: `gtp-engine connect` passes lines there and replies back.

Nothing is interpreted here.  The process ends with the server's connection; when the input has ended, the server first
answers what it has received, and when the reader of the output is gone, its search ends at once.
"""

import asyncio
import contextlib
import ssl
from concurrent.futures import CancelledError
from typing import BinaryIO, Final
from urllib.parse import urlsplit, urlunsplit

import aiohttp

from gtp_engine.base.errors import ConfigError, TengenError, shown
from gtp_engine.base.streams import claim_streams, trouble_of, write_all
from gtp_engine.people.web.client_socket import END_WAIT, HEARTBEAT, NO_MORE, first_of
from gtp_engine.people.web.server_settings import DEFAULT_PORT, check_token, reading_pem
from gtp_engine.protocols.line_session import reading

QUEUED_LINES: Final = 1000
"""Lines read ahead of the network; beyond this the controller has to wait."""

MAX_MESSAGE: Final = 64 << 20
"""Longest piece of a reply, bytes."""

CONNECT_WAIT: Final = 15.0
"""Seconds for the server to answer at all."""

_ADDRESS: Final = "HOST, HOST:PORT or wss://HOST:PORT"

_REFUSALS: Final = {
    401: "it needs a token; give the one that it printed with --token or in TENGEN_TOKEN",
    403: "it does not accept that name; use its address, or start it with --allowed-host",
    404: "there is no GTP server",
    503: "all its engines are in use; try again later",
}


def server_url(text: str) -> str:
    """Return the WebSocket address for "HOST", "HOST:PORT" or a whole address; raises ConfigError."""
    given = text if "://" in text else f"ws://{text}"
    try:
        parts = urlsplit(given)
        has_port = parts.port is not None
        (parts.hostname or "").encode("idna")  # fails for what can be no name of a machine
    except ValueError as error:
        raise ConfigError(f"server {shown(text)}: {error}", expected=_ADDRESS) from None
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    if scheme not in ("ws", "wss") or not parts.hostname:
        raise ConfigError(f"server {shown(text)}", expected=_ADDRESS)
    place = parts.netloc if has_port or "://" in text else f"{parts.netloc.rstrip(':')}:{DEFAULT_PORT}"
    path = parts.path if parts.path not in ("", "/") else "/gtp"
    return urlunsplit((scheme, place, path, parts.query, ""))


async def _pass_on(socket: aiohttp.ClientWebSocketResponse, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Pass lines and messages until the server closes the connection or the reader of `stdout` is gone.

    Raises TengenError if the connection is lost.
    """
    loop, hung_up = asyncio.get_running_loop(), asyncio.Event()
    lines: asyncio.Queue[bytes] = asyncio.Queue(QUEUED_LINES)

    def put(line: bytes) -> None:
        """Put a line into the queue, waiting for room; drop it if the event loop has ended."""
        putting = lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, loop).result()
        except (RuntimeError, CancelledError):
            putting.close()

    def hang_up() -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(hung_up.set)

    async def send() -> None:
        """Send lines as they come; never ends."""
        try:
            while True:
                await socket.send_bytes(await lines.get())
        except (aiohttp.ClientError, OSError):  # the receiver finds out why
            await asyncio.Event().wait()

    with reading(stdin, stdout, lambda line: put(line + b"\n"), ended=lambda: put(NO_MORE), gone=hang_up):
        await first_of(_receive(socket, stdout), send(), hung_up.wait())


async def _receive(socket: aiohttp.ClientWebSocketResponse, stdout: BinaryIO) -> None:
    """Write what the server sends until it closes the connection; raises TengenError if that is lost."""
    async for message in socket:
        data = message.data.encode() if message.type is aiohttp.WSMsgType.TEXT else message.data
        try:
            await asyncio.to_thread(write_all, stdout, data)
        except (OSError, ValueError) as error:
            if trouble_of(stdout, error):
                raise
            return  # the controller has gone
    if socket.close_code != aiohttp.WSCloseCode.OK:
        raise TengenError("the connection to the server was lost")


async def connect(url: str, token: str | None, certificate: str | None, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Be the engine at `url` on two streams until the session is over.

    `certificate` is a PEM file to trust besides those that the system trusts.  Raises TengenError and ConfigError.
    """
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        try:
            async with asyncio.timeout(CONNECT_WAIT):
                socket = await session.ws_connect(
                    url,
                    headers=headers,
                    ssl=_trust(certificate),
                    heartbeat=HEARTBEAT,
                    max_msg_size=MAX_MESSAGE,
                    timeout=aiohttp.ClientWSTimeout(ws_close=END_WAIT),
                )
        except (aiohttp.ClientError, OSError) as error:
            # The query may be the token.
            raise TengenError(f"cannot connect to {url.partition('?')[0]}: {_reason(error)}") from None
        async with socket:
            await _pass_on(socket, stdin, stdout)


def run(url: str, token: str | None, certificate: str | None) -> int:
    """Run the whole process on the real stdin and stdout; return its exit status.  Raises TengenError, ConfigError."""
    address = server_url(url)
    check_token(token)
    _trust(certificate)  # a mistake is reported before the streams are claimed
    streams = claim_streams()
    if streams is not None:
        asyncio.run(connect(address, token, certificate, *streams))
    return 0


def _trust(certificate: str | None) -> ssl.SSLContext | bool:
    """Return what makes a server trusted; raises ConfigError."""
    if certificate is None:
        return True
    context = ssl.create_default_context()
    with reading_pem(certificate, expected="a PEM file"):
        context.load_verify_locations(certificate)
    return context


def _reason(error: Exception) -> str:
    """Return why a connection could not be made."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return _REFUSALS.get(error.status, f"it answers {error.status} {error.message}")
    if isinstance(error, TimeoutError):
        return f"it does not answer within {CONNECT_WAIT:g} seconds"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "its certificate is not trusted; name the certificate with --certificate"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    return str(error) or type(error).__name__
