"""The server as a process: starts, says where it is, what answers which address, and ends without leaving anything.

The page and what belongs to it are files in `static` and those it shares, each under its own name, the page also as
"/".  Nothing else is served, so that no path leads to any other file.  How many connections may be open is a matter of
the proxy in front of it (docs/server.md); WebSockets, which work is done for, have seats (`client_socket.Seats`).
"""

import asyncio
import gzip
import hashlib
import json
import logging
import os
import signal
import ssl
import sys
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.typedefs import Handler

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.files import data_folder, make_private, owning
from gtp_engine.base.languages import LANGUAGES, in_language, message_texts, page_texts
from gtp_engine.base.machine import keep_few_pools
from gtp_engine.base.signals import end_at_once, end_within
from gtp_engine.config import Config
from gtp_engine.people.review.finished_reviews import PAGE_PARTS
from gtp_engine.people.web.access import HEALTH, Access
from gtp_engine.people.web.client_socket import MAX_SOCKETS, Seats, close_all, first_of
from gtp_engine.people.web.engine_host import EngineHost, LoadSource, NetworkMenu
from gtp_engine.people.web.game_reviews import GameReviews, SavedReviews
from gtp_engine.people.web.open_games import OpenGames
from gtp_engine.people.web.operations import (
    DRAIN_WAIT,
    Health,
    Operations,
    ServerLog,
    give_memory_back_now_and_then,
    watch_delays,
)
from gtp_engine.people.web.play_socket import serve_page
from gtp_engine.people.web.protocol_sockets import end_commands, serve_analysis, serve_gtp
from gtp_engine.people.web.saved_games import SavedGames
from gtp_engine.people.web.server_settings import (
    HIDDEN,
    NO_TOKEN,
    PER_ADDRESS,
    ServerSettings,
    greeting,
    new_token,
    page_address,
    reading_pem,
)
from gtp_engine.protocols.gtp.session import LineQueue

MOST_THREADS: Final = 256
"""Threads for what may not block the event loop: moves and hints of all games, parsing, the end of sessions."""

SWITCH_INTERVAL: Final = 0.001
"""Seconds after which a thread lets another one run: the event loop waits for those that answer GTP."""

END_WAIT: Final = 1.0
"""Seconds that clients get to finish at the end."""

HURRY_WAIT: Final = 0.5
"""Seconds until the process ends after a second signal."""

REQUEST_WAIT: Final = 30.0
"""Seconds in which a connection has to send a whole request, the first one or another one."""

MAX_BODY: Final = 1 << 20
"""Longest body of a request, bytes: a game record has about 10 kB."""

MAX_LINE: Final = 2_000
"""Longest first line of a request, bytes: it has a token at most, and all of a path is read again for each slash."""

MAX_ENGINES: Final = 8
"""GTP clients at once: each has an engine with search trees of its own."""

ADDRESS_ENGINES: Final = 6
"""GTP clients of one address at once."""

FOLDER: Final = Path(__file__).parent / "static"
PAGE: Final = "index.html"

SHARED: Final = tuple(sorted(file for file in PAGE_PARTS.iterdir() if file.stem != "page"))
"""What the page has in common with that of a review."""

_TYPES: Final = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
    ".sgf": "application/x-go-sgf",
}

_CACHING: Final = "no-cache"
"""A browser asks each time: after an update, no old file may remain; what it has already is not sent again."""

FIRST_WAIT: Final = 10.0
"""Seconds for the TLS handshake."""


async def serve(
    config: Config,
    settings: ServerSettings,
    load: LoadSource,
    log: ServerLog,
    end_within: Callable[[float], None] = lambda seconds: None,
) -> bool:
    """Serve until SIGTERM or Ctrl-C; return whether all threads have ended too, and tell `end_within` the time for it.

    `load` returns the networks of a configuration and may take long.  One that names no network gets that which was
    chosen on a page last.  Raises ConfigError if the server cannot listen, and the error that made loading fail.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_THREADS, "web"))
    host = EngineHost(with_chosen_network(config, SavedGames(data_folder() / "games")), load, log)
    encryption = encryption_of(settings.certificate, settings.key)
    token = None if settings.token == NO_TOKEN else settings.token or new_token()
    operations = Operations(log, logs_requests=settings.access_log, patience=DRAIN_WAIT)
    access, games = Access(settings, token, log), data_folder() / "games"
    runner = new_runner(new_application(host, access, games, settings.per_address, operations))
    await runner.setup()
    over = _end_of(host, operations, end_within)
    try:
        listener = await listen(runner, settings.host, settings.port, encryption)
        try:
            shown = token if settings.token is None else HIDDEN  # who has given it knows it, and logs are kept
            place = listener.sockets[0].getsockname()
            for line in greeting(place, token and shown, is_encrypted=encryption is not None).splitlines():
                log(line)
            if settings.open:
                page = page_address(place, token, is_encrypted=encryption is not None)
                await asyncio.to_thread(webbrowser.open, page)
            host.start()
            await over
        finally:
            listener.close()  # no `async with`: from Python 3.12 on it waits for the connections, which end below
    finally:
        over.cancel()  # else it gets an error that nothing waits for
        host.stop_loading()
        await runner.cleanup()
        has_ended = await asyncio.to_thread(host.close)
    return has_ended


def with_chosen_network(config: Config, games: SavedGames) -> Config:
    """Return the configuration, which may name no network, with the one that was chosen on a page and is still here."""
    chosen = games.remembered_network() if config.network.model is None and config.wants_network else ""
    return config.with_values({"network.model": chosen}) if chosen in NetworkMenu.of(config).names else config


def new_runner(application: web.Application) -> web.AppRunner:
    """Return what serves an application; it closes connections on which no request comes."""
    log = logging.getLogger(__name__)
    log.addFilter(_is_own_error)
    return web.AppRunner(
        application,
        access_log=None,
        shutdown_timeout=END_WAIT,
        keepalive_timeout=REQUEST_WAIT,
        logger=log,
        max_line_size=MAX_LINE,
        auto_decompress=False,  # no request needs a body, and a megabyte may unpack to a gigabyte
    )


def run(config: Config, settings: ServerSettings, load: LoadSource, log: ServerLog) -> int:
    """Run the whole process; return its exit status.  Raises ConfigError while another one has the games."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    keep_few_pools()
    for name in (__name__, "asyncio"):
        logging.getLogger(name).addHandler(log)
    if os.name != "nt":  # an interrupt in the middle of it would leave half an event loop
        signal.signal(signal.SIGINT, end_at_once)
    with owning_games():
        has_ended = asyncio.run(serve(config, settings, load, log, partial(end_within, status=0)))
    if not has_ended:
        os._exit(0)  # a compiler or a loader cannot be stopped
    return 0


@contextmanager
def owning_games() -> Iterator[None]:
    """Hold the right to write to the folder of games; where that is impossible, games are not saved anyway."""
    folder = data_folder() / "games"
    with ExitStack() as held:
        try:
            held.enter_context(owning(folder, advice="end it, or set TENGEN_DATA_DIR to another folder"))
            make_private(folder)
        except (ConfigError, OSError) as error:
            if isinstance(error, ConfigError) and error.__cause__ is None:  # another process has it
                raise
        yield


def _is_own_error(record: logging.LogRecord) -> bool:
    """Return whether a line is to be logged: not for a request that is none, or whose client has gone meanwhile."""
    harmless = (HttpProcessingError, ConnectionResetError)
    return record.exc_info is None or not isinstance(record.exc_info[1], harmless)


def _end_of(host: EngineHost, operations: Operations, end_within: Callable[[float], None]) -> asyncio.Future[None]:
    """Return what is done at SIGTERM or Ctrl-C; it gets the error that makes loading fail.

    At the second signal nothing is waited for any more.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if over.done():
            operations.hurry.set()
            end_within(HURRY_WAIT)
        else:
            over.set_result(None)
            end_within(DRAIN_WAIT + END_WAIT)

    def fail(error: BaseException | None) -> None:
        if error is not None and not over.done():
            over.set_exception(error)

    if os.name != "nt":  # there Ctrl-C cancels the coroutine that waits
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end)
    host.loading.add_done_callback(lambda loading: loop.call_soon_threadsafe(fail, loading.exception()))
    return over


def new_application(
    host: EngineHost, access: Access, games: Path, per_address: int = PER_ADDRESS, operations: Operations | None = None
) -> web.Application:
    """Return the application, with its files in the folder `games`; what `access` refuses reaches no handler."""
    operations = operations or Operations(ServerLog())
    application = web.Application(middlewares=[operations.note, access.check], client_max_size=MAX_BODY)
    application.on_response_prepare.append(access.on_prepare)
    sockets = Seats(MAX_SOCKETS, per_address, "connection")
    engines = Seats(MAX_ENGINES, ADDRESS_ENGINES, "engine")
    queues, open_games = set[LineQueue](), OpenGames(host, SavedGames(games))
    reviews = GameReviews(host, open_games, SavedReviews(games / "reviews"))
    health = Health(operations, host, open_games, access, {"socket": sockets, "engine": engines})
    handlers: dict[str, Handler] = {
        "/invitation": access.invite,
        "/gtp": partial(serve_gtp, host=host, seats=sockets, engines=engines, operations=operations, queues=queues),
        "/analysis": partial(serve_analysis, host=host, seats=sockets, records=open_games.records),
        "/play": partial(serve_page, reviews=reviews, seats=sockets),
        HEALTH: health.health,
        "/metrics": health.metrics,
    }
    for path, handler in (*handlers.items(), *static_pages()):
        application.router.add_get(path, handler)

    async def run_parts(_: web.Application) -> AsyncIterator[None]:
        watching = asyncio.create_task(first_of(watch_delays(operations.delays), give_memory_back_now_and_then()))
        yield
        watching.cancel()
        await reviews.close()
        await open_games.close()

    async def close_sockets(_: web.Application) -> None:
        await operations.end(open_games.end_moves, partial(end_commands, queues))
        await close_all(sockets)

    application.cleanup_ctx.append(run_parts)
    application.on_shutdown.append(close_sockets)
    return application


def static_pages() -> Iterator[tuple[str, Handler]]:
    """Yield paths, with what answers them."""
    for file in (*sorted(FOLDER.iterdir()), *SHARED):
        if file.suffix in _TYPES:
            body = file.read_bytes()
            handler = _handler(in_language(body.decode()).encode() if file.name == PAGE else body, _TYPES[file.suffix])
            yield f"/{file.name}", handler
            if file.name == PAGE:
                yield "/", handler
    for language in LANGUAGES:
        texts = {"texts": page_texts(language), "messages": message_texts(language)}
        yield f"/texts-{language}.json", _handler(json.dumps(texts).encode(), "application/json")


def _handler(body: bytes, kind: str) -> Handler:
    charset = None if kind == _TYPES[".png"] else "utf-8"
    packed = gzip.compress(body, mtime=0)
    tag = hashlib.sha256(body).hexdigest()[:16]

    async def answer(request: web.Request) -> web.StreamResponse:
        if "token" in request.query:  # now in a cookie, and out of the browser's history
            here = request.path.rpartition("/")[2] or "./"  # a proxy may have taken a prefix off
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": here})
        headers = {"Cache-Control": _CACHING, "Vary": "Accept-Encoding", "ETag": f'W/"{tag}"'}
        if any(known.value == tag for known in request.if_none_match or ()):
            return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
        is_packed = len(packed) < len(body) and "gzip" in request.headers.get("Accept-Encoding", "")
        headers |= {"Content-Encoding": "gzip"} if is_packed else {}
        return web.Response(body=packed if is_packed else body, content_type=kind, charset=charset, headers=headers)

    return answer


async def listen(
    runner: web.AppRunner, host: str, port: int, encryption: ssl.SSLContext | None = None
) -> asyncio.Server:
    """Return the socket on which the server answers; raises ConfigError if it cannot listen."""
    assert runner.server is not None, "it has been set up"
    patience = None if encryption is None else FIRST_WAIT
    try:
        return await asyncio.get_running_loop().create_server(
            runner.server, host, port, ssl=encryption, ssl_handshake_timeout=patience
        )
    except (OSError, OverflowError, UnicodeError) as error:  # the last one for what can be no name of a machine
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(
            f"cannot listen on {host} port {port}: {reason}", advice="name another one with --host or --port"
        ) from None


def encryption_of(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    """Return the encryption with a certificate, None without one; raises ConfigError for files that do not serve."""
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with reading_pem(certificate, key, expected="PEM files of a certificate and its key"):
        context.load_cert_chain(certificate, key)
    return context
