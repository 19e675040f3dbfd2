"""Who may send a request and what for: the names of this server, the origin of pages, tokens and their roles.

- `Host` has to be an address or a known name.  A page of another site whose name has been pointed at this machine
  (DNS rebinding) would carry that name here.
- `Origin`, which browsers send with every WebSocket and every request that changes something, has to be this server.
- Where a token is needed, it comes as `Authorization: Bearer TOKEN`, as `?token=TOKEN` (KaTrain has an address and no
  headers) or as the cookie that the page sets on its first visit.  The token of the server lets do everything; those
  for less follow from it (`Tokens`), so that links that carry them last as long as it does.

Every response carries headers that keep pages of other origins out of it, and let the page load from here only.
"""

import hashlib
import hmac
import ipaddress
import socket
import time
from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Final, TypeVar
from urllib.parse import SplitResult, urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from gtp_engine.base.languages import translator
from gtp_engine.base.streams import Log, write_log
from gtp_engine.people.web.server_settings import ServerSettings, listed, machine_addresses, parsed_address


class Role(IntEnum):
    """What a client may do; each role includes those before it."""

    WATCH = 1
    """See games and reviews whose addresses it knows."""
    PLAY = 2
    """Play games against the engine."""
    COMPUTE = 3
    """Use the processor: analyses, engines, reviews."""


ROLE: Final = web.RequestKey("role", Role)
"""The role of the client that sent a request."""

ADDRESS: Final = web.RequestKey("address", str)
"""The address of that client, even behind a proxy."""

HEALTH: Final = "/health"
"""The path that needs no token."""

_NEEDED: Final[Mapping[str, Role]] = {"/analysis": Role.COMPUTE, "/gtp": Role.COMPUTE}
"""Roles that paths need, if not `WATCH`; what a page may ask for is a matter of its socket."""

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
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


MOST_GUESSES: Final = 10
"""Wrong tokens of an address at once; beyond them no token that is new there is looked at."""

GUESS_SECONDS: Final = 10.0
"""Seconds after which an address may give another wrong token."""

MOST_ADDRESSES: Final = 1000
"""Addresses whose tokens are remembered."""


class Pace:
    """Lets pass so much at once, and `rate` in a second; what comes faster has to wait."""

    def __init__(self, burst: float, rate: float, now: Callable[[], float] = time.monotonic) -> None:
        self._burst: Final = burst
        self._rate: Final = rate
        self._now: Final = now
        self._left = burst
        self._since = now()

    @property
    def left(self) -> float:
        """How much may pass now; less than 0 while something has to wait."""
        return min(self._burst, self._left + (self._now() - self._since) * self._rate)

    def delay(self, amount: float = 1.0) -> float:
        """Let an amount pass; return the seconds to wait for the next one."""
        self._left, self._since = self.left - amount, self._now()
        return max(0.0, -self._left / self._rate)

    def refusal(self) -> float:
        """Let one pass and return 0, or else the seconds to wait for that."""
        return (1.0 - self.left) / self._rate if self.left < 1.0 else self.delay()


T = TypeVar("T")


def by_address(make: Callable[[], T]) -> Callable[[str], T]:
    """Return what keeps for each client, by its address, what `make` returns; the one seen longest ago is forgotten."""
    known = lru_cache(MOST_ADDRESSES)(lambda network: make())
    return lambda address: known(network_of(address))


class Tokens:
    """The token `secret`, which lets do everything, and those for less that follow from it; only hashes are kept.

    Counts the wrong tokens of each address, so that none can be found by trying; `log` is told.  A token that was wrong
    before is no guess: a browser repeats that of an earlier server.
    """

    def __init__(self, secret: str, log: Log = write_log, now: Callable[[], float] = time.monotonic) -> None:
        self._key: Final = _hash(secret)
        self._hashes: Final = {role: _hash(self.for_role(role)) for role in (Role.WATCH, Role.PLAY)}
        self._hashes[Role.COMPUTE] = self._key
        self._log: Final = log
        self._paces: Final = by_address(lambda: Pace(MOST_GUESSES, 1 / GUESS_SECONDS, now))
        self._wrong: Final = by_address(lambda: deque[bytes](maxlen=MOST_GUESSES))  # hashes
        self._right: Final = by_address(set[bytes])  # one for each role at most
        self.guesses = 0
        """Wrong tokens so far."""

    def for_role(self, role: Role) -> str:
        """Return the token for watching or for playing."""
        return urlsafe_b64encode(hmac.digest(self._key, role.name.encode(), "sha256")[:24]).decode("ascii")

    def role_of(self, token: str) -> Role | None:
        """Return the role of a token, None for a wrong one."""
        given = _hash(token)
        return max((role for role, known in self._hashes.items() if hmac.compare_digest(given, known)), default=None)

    def may_try(self, address: str, token: str) -> bool:
        """Return whether a token of this address is to be looked at; one that was right before always is."""
        return self._paces(address).left >= 1.0 or _hash(token) in self._right(address)

    def tried(self, address: str, token: str) -> Role | None:
        """Return the role of a token of this address, None for a wrong one, and remember whether it was right."""
        role, given, pace = self.role_of(token), _hash(token), self._paces(address)
        if role is not None:
            self._right(address).add(given)
        elif given not in (wrong := self._wrong(address)):
            wrong.append(given)
            pace.delay()
            self.guesses += 1
            rest = "" if pace.left >= 1.0 else f"; no new one is looked at for {GUESS_SECONDS:g} seconds"
            self._log(f"wrong token from {address or 'an unknown address'}{rest}")
        return role


class Access:
    """Checks requests to a server with these settings; `token` is None where none is needed."""

    def __init__(self, settings: ServerSettings, token: str | None, log: Log = write_log) -> None:
        self.tokens: Final = None if token is None else Tokens(token, log)
        own = socket.gethostname().lower()  # as others in the local network write it, or the first part of it
        short = own.partition(".")[0]
        others = {"localhost", settings.host.lower(), own, short, f"{short}.local"}
        self._names: Final = (listed(settings.allowed_host) | others) - {""}
        self._is_encrypted: Final = settings.certificate is not None
        self._proxies: Final = listed(settings.proxy)
        self._host: Final = None if settings.is_local else next(iter(machine_addresses()), None)

    async def on_prepare(self, request: web.Request, response: web.StreamResponse) -> None:
        """Add the headers to a response."""
        response.headers.update(HEADERS)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests before any handler sees them."""
        request[ADDRESS] = self.address_of(request)
        request[ROLE] = found = self.role_of(request)
        response = await handler(request)
        given, tokens = request.query.get("token"), self.tokens
        # Where the token's role is less, a cookie allows more.
        if given and tokens and not response.prepared and tokens.role_of(given) == found:
            proxied = request.remote in self._proxies and request.headers.get("X-Forwarded-Proto") == "https"
            response.set_cookie(
                cookie_name(request, found),
                given,
                max_age=COOKIE_SECONDS,
                httponly=True,
                samesite="Strict",
                secure=self._is_encrypted or proxied,
            )
        return response

    async def invite(self, request: web.Request) -> web.Response:
        """Answer with a token for `role`, watch or play, and a host for localhost, to pass on; null where needless."""
        role = {"watch": Role.WATCH, "play": Role.PLAY}.get(request.query.get("role", ""))
        if role is None:
            raise web.HTTPBadRequest(text="role: expected watch or play\n")
        if role > request[ROLE]:
            raise web.HTTPForbidden(text="Your token allows less than that.\n")
        token = None if self.tokens is None else self.tokens.for_role(role)
        found = {"role": role.name.lower(), "token": token, "host": self._host}
        return web.json_response(found, headers={"Cache-Control": "no-store"})

    def address_of(self, request: web.Request) -> str:
        """Return the address of the client, "" if it is unknown: that which the nearest proxy of ours has seen."""
        address = request.remote or ""
        if address in self._proxies:
            forwarded = ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")
            for each in reversed([one.strip() for one in forwarded if one.strip()]):
                address = each if parsed_address(each) else ""
                if address not in self._proxies:
                    break
        return address

    def role_of(self, request: web.Request) -> Role:
        """Return the role in which a request is let through; raises HTTPException for one that is refused."""
        if problem := self._foreign(request):
            raise web.HTTPForbidden(text=f"{problem}\n")
        if request.path == HEALTH:
            return Role.WATCH
        needed = _NEEDED.get(request.path, Role.WATCH)
        if self.tokens is None:
            return Role.COMPUTE
        address, found, is_refused = self.address_of(request), None, False
        for token in filter(None, _tokens_in(request)):
            if not self.tokens.may_try(address, token):
                is_refused = True
            elif (role := self.tokens.tried(address, token)) is not None:
                found = max(role, found or role)
        if found is None and is_refused:
            text = "Too many wrong tokens have come from your address: wait a minute.\n"
            raise web.HTTPTooManyRequests(text=text)
        if found is None and "text/html" in request.headers.get("Accept", ""):
            raise web.HTTPUnauthorized(text=_question(request), content_type="text/html")
        if found is None:
            raise web.HTTPUnauthorized(text="This server needs its token: open the address that it printed.\n")
        if found < needed:
            raise web.HTTPForbidden(text=f"Your token does not allow this, only to {found.name.lower()}.\n")
        return found

    def _foreign(self, request: web.Request) -> str:
        """Return why a request seems to come from another site, "" if it does not."""
        host = request.headers.get("Host", "")
        name = _parts(f"//{host}").hostname or ""
        if name not in self._names and parsed_address(name) is None:
            return "This server does not accept that name: use its address, or start it with --allowed-host."
        origin = request.headers.get("Origin")
        is_sent = request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and request.path != "/"
        if is_sent or (origin is not None and _parts(origin).netloc.lower() != host.lower()):
            return "Pages of other sites may not use this server."
        return ""


def cookie_name(request: web.Request, role: Role) -> str:
    """Return the name of the cookie that holds the token for a role: browsers send cookies to all ports of a host.

    A link that allows less, on a page of another site, must not replace the token that allows more, which the browser
    does not send then.
    """
    port = urlsplit("//" + request.host).port or 0
    return f"tengen-token-{port}" if role is Role.COMPUTE else f"tengen-token-{port}-{role.name.lower()}"


def _parts(address: str) -> SplitResult:
    """Return the parts of an address, none of one whose host or port is nonsense."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # ValueError for words
    except ValueError:
        return urlsplit("")
    return parts


def _question(request: web.Request) -> str:
    """Return the page that asks a person for the token; it leads to where it stands, whatever a proxy calls that."""
    _ = translator(request.headers.get("Accept-Language", ""))
    title = _("This token is wrong") if "token" in request.query else _("Tengen asks for its token")
    text, label, button = (
        _("The server printed an address with the token when it started. Open that address, or enter the token here."),
        _("Token"),
        _("Open"),
    )
    return (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta name="color-scheme" content="light dark"><title>Tengen</title><h1>{title}</h1><p>{text}</p>'
        '<form method="get"><label>'
        f'{label} <input name="token" type="password" autocomplete="current-password" required autofocus></label> '
        f"<button>{button}</button></form>"
    )


def _tokens_in(request: web.Request) -> tuple[str, ...]:
    """Return the tokens in the places where a request may have one, "" where it has none."""
    scheme, _, bearer = request.headers.get("Authorization", "").partition(" ")
    cookies = f"; {request.headers.get('Cookie', '')}"  # not parsed: thousands of others may stand there
    return (
        bearer.strip() if scheme.lower() == "bearer" else "",
        request.query.get("token", ""),
        *(cookies.partition(f"; {cookie_name(request, role)}=")[2].partition(";")[0] for role in Role),
    )


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


def network_of(address: str) -> str:
    """Return what belongs to one client: the address, or the network of 64 bits of one that has 128."""
    parsed = parsed_address(address)
    if parsed is None or parsed.version == 4:
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
