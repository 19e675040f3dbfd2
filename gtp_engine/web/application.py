"""The addresses of the server and what answers them."""

from functools import partial
from pathlib import Path
from typing import Final

from aiohttp import web

from gtp_engine.web.access import Access
from gtp_engine.web.analysis_socket import serve_analysis
from gtp_engine.web.client_socket import MAX_SOCKETS, Seats, close_all
from gtp_engine.web.engine_host import EngineHost
from gtp_engine.web.game_reviews import GameReviews
from gtp_engine.web.gtp_socket import serve_gtp
from gtp_engine.web.open_games import OpenGames
from gtp_engine.web.play_socket import serve_page
from gtp_engine.web.saved_games import SavedGames
from gtp_engine.web.saved_reviews import SavedReviews
from gtp_engine.web.static_pages import static_pages

MAX_BODY: Final = 1 << 20
"""Longest body of a request, bytes: a game record has about 10 kB."""

MAX_ENGINES: Final = 8
"""GTP clients at once: each has an engine with search trees of its own."""


def new_application(host: EngineHost, access: Access, games: Path) -> web.Application:
    """Return the application, with its files in the folder `games`; what `access` refuses reaches no handler."""
    application = web.Application(middlewares=[access.middleware()], client_max_size=MAX_BODY)
    application.on_response_prepare.append(access.on_prepare)
    sockets, engines = Seats(MAX_SOCKETS, "connection"), Seats(MAX_ENGINES, "engine")
    application.router.add_get("/analysis", partial(serve_analysis, host=host, seats=sockets))
    application.router.add_get("/gtp", partial(serve_gtp, host=host, seats=sockets, engines=engines))
    open_games = OpenGames(host, SavedGames(games))
    reviews = GameReviews(host, open_games, SavedReviews(games / "reviews"))
    application.router.add_get("/play", partial(serve_page, games=open_games, reviews=reviews, seats=sockets))
    for path, handler in static_pages():
        application.router.add_get(path, handler)

    async def close_sockets(_: web.Application) -> None:
        await close_all(sockets)

    async def close_games(_: web.Application) -> None:
        await reviews.close()
        await open_games.close()

    application.on_shutdown.append(close_sockets)
    application.on_cleanup.append(close_games)
    return application
