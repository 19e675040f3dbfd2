"""The page and what belongs to it: `static` and what it shares, each file under its own name, the page also as "/".

Nothing else is served, so that no path leads to any other file.
"""

from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web

from gtp_engine.review.finished_reviews import PAGE_PARTS

FOLDER: Final = Path(__file__).parent / "static"
PAGE: Final = "index.html"

SHARED: Final = tuple(PAGE_PARTS / name for name in ("position.js", "board.js", "board.css", "graph.js"))
"""What the page has in common with that of a review."""

_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

_CACHING: Final = "no-cache"
"""A browser asks each time: after an update, no old file may remain."""


def static_pages() -> Iterator[tuple[str, Callable[[web.Request], Awaitable[web.StreamResponse]]]]:
    """Yield paths, with what answers them."""
    for file in (*sorted(FOLDER.iterdir()), *SHARED):
        if file.suffix in _TYPES:
            handler = _handler(file.read_bytes(), _TYPES[file.suffix])
            yield f"/{file.name}", handler
            if file.name == PAGE:
                yield "/", handler


def _handler(body: bytes, kind: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(request: web.Request) -> web.StreamResponse:
        if "token" in request.query:  # now in a cookie, and out of the browser's history
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": request.path})
        return web.Response(body=body, content_type=kind, charset="utf-8", headers={"Cache-Control": _CACHING})

    return answer
