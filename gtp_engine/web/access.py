"""Who may send a request: the names of this server, the origin of pages, and the token.

- `Host` has to be an address or a known name.  A page of another site whose name has been pointed at this machine
  (DNS rebinding) would carry that name here.
- `Origin`, which browsers send with every WebSocket and every request that changes something, has to be this server.
- Where a token is needed, it comes as `Authorization: Bearer TOKEN`, as `?token=TOKEN` (KaTrain has an address and no
  headers) or as the cookie that the page sets on its first visit.

Every response carries headers that keep pages of other origins out of it, and let the page load from here only.
"""

import hmac
import ipaddress
import socket
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Server": "Tengen",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every response; the list is that of OWASP's Secure Headers Project, without those of pages with other
sources."""

COOKIE_SECONDS: Final = 30 * 24 * 3600
"""How long a browser keeps the token."""


class Access:
    """Checks requests; `token` is None where none is needed, `names` are those of this server, in lower case."""

    def __init__(self, token: str | None, names: frozenset[str], *, is_encrypted: bool) -> None:
        self._token: Final = token
        self._names: Final = names | {"localhost", *_machine_names()}
        self._is_encrypted: Final = is_encrypted

    async def on_prepare(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the headers to a response."""
        response.headers.update(HEADERS)

    def middleware(self) -> Middleware:
        """Return what refuses requests before any handler sees them."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            problem = self.problem_with(request)
            if problem is not None:
                status, text = problem
                return web.Response(status=status, text=text + "\n")
            response = await handler(request)
            if self._token is not None and "token" in request.query and not response.prepared:
                response.set_cookie(
                    cookie_name(request),
                    self._token,
                    max_age=COOKIE_SECONDS,
                    httponly=True,
                    samesite="Strict",
                    secure=self._is_encrypted,
                )
            return response

        return check

    def problem_with(self, request: web.Request) -> tuple[HTTPStatus, str] | None:
        """Return the status and the sentence with which to refuse a request, None to let it through."""
        host = request.headers.get("Host", "")
        if not self._is_own(host):
            return (
                HTTPStatus.FORBIDDEN,
                "This server does not accept that name: use its address, or start it with --allowed-host.",
            )
        origin = request.headers.get("Origin")
        if origin is not None and _place(origin) != host.lower():
            return HTTPStatus.FORBIDDEN, "Pages of other sites may not use this server."
        if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and request.path != "/":
            return HTTPStatus.FORBIDDEN, "Pages of other sites may not use this server."
        if self._token is not None and not self._has_token(request, self._token):
            return (
                HTTPStatus.UNAUTHORIZED,
                "This server needs its token: open the address that it printed.",
            )
        return None

    def _is_own(self, host: str) -> bool:
        """Return whether a `Host` header names this server."""
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port
        except ValueError:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True

    @staticmethod
    def _has_token(request: web.Request, token: str) -> bool:
        scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
        given = (
            bearer.strip() if scheme.lower() == "bearer" else "",
            request.query.get("token", ""),
            request.cookies.get(cookie_name(request), ""),
        )
        return any(hmac.compare_digest(each.encode(errors="surrogateescape"), token.encode()) for each in given)


def cookie_name(request: web.Request) -> str:
    """Return the name of the cookie that holds the token: browsers send cookies to all ports of a host."""
    return f"tengen-token-{urlsplit('//' + request.host).port or 0}"


def _place(origin: str) -> str:
    """Return the host and port of an origin, in lower case; "" if it has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _machine_names() -> set[str]:
    """Return the names of this machine, as others in the local network write them."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return {name, short, f"{short}.local"} - {""}
