"""The server as a process: starts, says where it is, and ends without leaving anything behind."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from gtp_engine.config import Config
from gtp_engine.files import data_folder
from gtp_engine.streams import write_log
from gtp_engine.web.access import Access
from gtp_engine.web.application import new_application
from gtp_engine.web.engine_host import EngineHost, EngineSource
from gtp_engine.web.listener import encryption_of, listen
from gtp_engine.web.server_settings import ServerSettings, new_token

MOST_THREADS: Final = 64
"""Threads for what may not block the event loop: moves and hints of all games, parsing, the end of sessions."""

END_WAIT: Final = 1.0
"""Seconds that clients get to finish at the end."""

REQUEST_WAIT: Final = 30.0
"""Seconds in which a connection has to send a whole request, the first one or another one."""


async def serve(
    config: Config, settings: ServerSettings, load: Callable[[], EngineSource], log: Callable[[str], None] = write_log
) -> bool:
    """Serve until SIGTERM or Ctrl-C; return whether all threads have ended too.

    `load` returns the networks and may take long.  Raises ConfigError if the server cannot listen, and the error that
    made loading fail.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_THREADS, "web"))
    host = EngineHost(config, load, log)
    encryption = encryption_of(settings.certificate, settings.key)
    token = settings.token or (None if settings.is_local else new_token())
    access = Access(token, settings.names | {settings.host.lower()}, is_encrypted=encryption is not None)
    runner = new_runner(new_application(host, access, data_folder() / "games"))
    await runner.setup()
    assert runner.server is not None
    over = _end_of(host)
    try:
        listener = await listen(runner.server, settings.host, settings.port, encryption)
        async with listener:
            log(_greeting(listener.sockets[0].getsockname(), token, is_encrypted=encryption is not None))
            host.start()
            await over
    finally:
        over.cancel()  # else it gets an error that nothing waits for
        host.stop_loading()
        await runner.cleanup()
        has_ended = await asyncio.to_thread(host.close)
    return has_ended


def new_runner(application: web.Application) -> web.AppRunner:
    """Return what serves an application; it closes connections on which no request comes."""
    log = logging.getLogger(__name__)
    log.addFilter(_is_own_error)
    return web.AppRunner(
        application, access_log=None, shutdown_timeout=END_WAIT, keepalive_timeout=REQUEST_WAIT, logger=log
    )


def run(config: Config, settings: ServerSettings, load: Callable[[], EngineSource]) -> int:
    """Run the whole process; return its exit status."""
    if not asyncio.run(serve(config, settings, load)):
        os._exit(0)  # a compiler or a loader cannot be stopped
    return 0


def _is_own_error(record: logging.LogRecord) -> bool:
    """Return whether a line is to be logged: not for a request that is none, which anyone can send."""
    return record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError)


def _end_of(host: EngineHost) -> asyncio.Future[None]:
    """Return what is done at SIGTERM or Ctrl-C; it gets the error that makes loading fail."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if not over.done():
            over.set_result(None)

    def fail(error: BaseException) -> None:
        if not over.done():
            over.set_exception(error)

    def failed(error: BaseException) -> None:
        loop.call_soon_threadsafe(fail, error)

    if os.name != "nt":  # there Ctrl-C cancels the coroutine that waits
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, end)
    host.when_failed(failed)
    return over


def _greeting(address: tuple[str, int], token: str | None, *, is_encrypted: bool) -> str:
    """Return what the user has to know to connect."""
    name, port = address[:2]
    if name in ("0.0.0.0", "::"):
        name = "localhost"
    place = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    query = "" if token is None else f"?token={token}"
    page, socket = ("https", "wss") if is_encrypted else ("http", "ws")
    return (
        f"Open  {page}://{place}/{query}\n"
        f"Remote engine for KaTrain: {socket}://{place}/analysis{query}\n"
        f'Command for other Go programs: gtp-engine connect "{socket}://{place}/gtp{query}"\n'
        "Ctrl-C ends the server."
    )
