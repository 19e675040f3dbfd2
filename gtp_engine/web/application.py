"""The addresses of the server and what answers them."""

from functools import partial
from typing import Final

from aiohttp import web

from gtp_engine.web.access import Access
from gtp_engine.web.analysis_socket import serve_analysis
from gtp_engine.web.client_socket import MAX_SOCKETS, Seats
from gtp_engine.web.engine_host import EngineHost
from gtp_engine.web.gtp_socket import serve_gtp

MAX_BODY: Final = 1 << 20
"""Longest body of a request, bytes: a game record has about 10 kB."""

MAX_ENGINES: Final = 8
"""GTP clients at once: each has an engine with search trees of its own."""


def new_application(host: EngineHost, access: Access) -> web.Application:
    """Return the application; requests that `access` refuses reach no handler."""
    application = web.Application(middlewares=[access.middleware()], client_max_size=MAX_BODY)
    application.on_response_prepare.append(access.on_prepare)
    sockets, engines = Seats(MAX_SOCKETS, "connection"), Seats(MAX_ENGINES, "engine")
    application.router.add_get("/analysis", partial(serve_analysis, host=host, seats=sockets))
    application.router.add_get("/gtp", partial(serve_gtp, host=host, seats=sockets, engines=engines))
    return application
