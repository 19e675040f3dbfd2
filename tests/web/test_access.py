"""Who may send requests: names of the server, origins of pages, tokens; and what every response carries."""

import asyncio
import re

import pytest
from click.testing import CliRunner
from web.serving import TOKEN, Client, serving, told

from gtp_engine.base.errors import ConfigError
from gtp_engine.cli import cli
from gtp_engine.people.web.access import MOST_GUESSES, Role, Tokens, network_of
from gtp_engine.people.web.server_settings import ServerSettings, listed, new_token


async def status(client: Client, path: str = "/gtp", **headers: str) -> int:
    """Return the status of a request for a WebSocket without a handshake: 400 where it is let through."""
    response = await client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return response.status


LET_THROUGH = 400
OWN = ("127.0.0.1:8361", "[::1]:8361", "localhost", "LOCALHOST:8361", "go.example", "192.168.0.7")
FOREIGN = (
    "attacker.example",  # DNS rebinding
    "127.0.0.1.attacker.example", "localhost.attacker.example:8361", "go.example.attacker.example", "[::1", "",
)  # fmt: skip
OTHERS = (
    "http://127.0.0.1:8362",  # another server on this machine
    "http://localhost:8361", "https://attacker.example",
    "null",  # a page in a sandbox, or a file
)  # fmt: skip
PLACES = [
    *(({"Host": host}, LET_THROUGH) for host in OWN),
    *(({"Host": host}, 403) for host in FOREIGN),
    ({"Host": "LOCALHOST:8361", "Origin": "http://localhost:8361"}, LET_THROUGH),
    *(({"Host": "127.0.0.1:8361", "Origin": origin}, 403) for origin in OTHERS),
    *(({"Sec-Fetch-Site": site}, 403) for site in ("cross-site", "same-site")),
    ({"Sec-Fetch-Site": "same-origin"}, LET_THROUGH),
]


async def test_names_of_the_server_and_origins_of_pages() -> None:
    async with serving(allowed_host="go.example") as client:
        assert [await status(client, **headers) for headers, _ in PLACES] == [expected for _, expected in PLACES]


async def test_the_token() -> None:
    async with serving(token=TOKEN) as client:
        assert await status(client) == 401
        assert await status(client, f"/gtp?token={TOKEN[:-1]}") == 401
        assert await status(client, "/gtp?token=") == 401
        assert await status(client, Authorization=f"Basic {TOKEN}") == 401
        assert await status(client, Authorization=f"bearer {TOKEN}") == LET_THROUGH
        assert await status(client, f"/gtp?token={TOKEN}") == LET_THROUGH
        assert await status(client, "/nothing/here") == 401, "no one learns what there is"
        assert await status(client, "/nothing/here", Authorization=f"Bearer {TOKEN}") == 404


async def test_a_browser_without_the_token_gets_a_field_for_it() -> None:
    """It got a bare line."""
    async with serving(token=TOKEN) as client:
        for path, title in (("/", "Tengen 需要令牌"), (f"/?token={TOKEN[:-1]}", "令牌不正确")):
            response = await client.get(path, headers={"Accept": "text/html,*/*", "Accept-Language": "xx, zh-CN;q=1"})
            page = await response.text()
            assert (response.status, response.content_type) == (401, "text/html")
            assert f"<h1>{title}</h1>" in page, "in the browser's language"
            assert '<form method="get">' in page and '<input name="token" type="password"' in page
        assert "<form" not in await (await client.get("/")).text(), "a program gets a sentence"
        field = re.search(r'<form method="get">.*name="(\w+)"', page)
        assert field is not None
        await client.get(f"/?{field[1]}={TOKEN}")
        assert await status(client) == LET_THROUGH, "what the form sends opens the page from then on"


async def test_what_each_role_may_do() -> None:
    async with serving(token=TOKEN) as client:

        async def token_for(role: str, **headers: str) -> object:
            response = await client.get(f"/invitation?role={role}", headers=headers)
            assert response.status != 200 or response.headers["Cache-Control"] == "no-store"
            return (await response.json())["token"] if response.status == 200 else response.status

        everything = {"Authorization": f"Bearer {TOKEN}"}
        tokens = {role: await token_for(role, **everything) for role in ("watch", "play")} | {"compute": TOKEN}
        assert await token_for("compute", **everything) == 400
        expected = {"watch": (200, 403, 403, 400), "play": (200, 403, 403, 400), "compute": (200, 400, 400, 400)}
        for role, token in tokens.items():
            bearer = {"Authorization": f"Bearer {token}"}
            paths = ("/", "/analysis", "/gtp", "/play")
            assert tuple([await status(client, path, **bearer) for path in paths]) == expected[role]
            assert await token_for("watch", **bearer) == tokens["watch"]
            assert await token_for("play", **bearer) == (403 if role == "watch" else tokens["play"])
            socket = await client.ws_connect("/play", headers=bearer)
            assert (await socket.receive_json())["role"] == role
            refused = []
            for name in ("open", "new", "play", "review", "rename_game"):
                await socket.send_json({"do": name})
                if "with a token for" in (await socket.receive_json())["message"]:
                    refused.append(name)
            for_all = ["review", "rename_game"]
            assert refused == {"watch": ["new", "play", *for_all], "play": for_all, "compute": []}[role]
            await socket.close()
        path = f"/gtp?token={tokens['watch']}"
        assert await status(client, path, **everything) == LET_THROUGH, "of two tokens the one that allows more counts"


async def test_a_link_for_less_takes_nothing_away_from_a_browser() -> None:
    """A browser sends no strict cookie with a link on another site, so the answer set the weaker token in its place."""
    async with serving(token=TOKEN) as client:
        watch, cookies = Tokens(TOKEN).for_role(Role.WATCH), client.session.cookie_jar
        await client.get(f"/?token={TOKEN}")
        assert await status(client, f"/gtp?token={watch}") == LET_THROUGH
        await client.get(f"/?token={watch}")
        assert await status(client) == LET_THROUGH, "the cookie stays"
        own = cookies.filter_cookies(client.make_url("/"))
        cookies.clear()
        other = await client.get(f"/?token={watch}", headers={"Sec-Fetch-Site": "cross-site"}, allow_redirects=False)
        assert other.cookies and not set(other.cookies) & set(own)
        cookies.update_cookies(own)
        async with client.ws_connect("/play") as page:
            assert (await page.receive_json())["role"] == "compute"


async def test_tokens_cannot_be_found_by_trying() -> None:
    """Any number was looked at, and nothing was said about it."""
    async with serving(token=TOKEN, proxy="127.0.0.1") as client:

        def sent(token: str, address: str = "192.0.2.1") -> dict[str, str]:
            return {"Authorization": f"Bearer {token}", "X_Forwarded_For": f"203.0.113.9, {address}"}

        assert await status(client, **sent(TOKEN, "192.0.2.2")) == LET_THROUGH
        for address in ("192.0.2.1", "192.0.2.2"):
            for _ in range(MOST_GUESSES + 5):
                assert await status(client, **sent("that of an old server", address)) == 401, "this is one guess"
            for number in range(1, MOST_GUESSES):
                assert await status(client, **sent(f"wrong {number}", address)) == 401
            assert await status(client, **sent("one more", address)) == 429
        assert await status(client, **sent(TOKEN, "192.0.2.1")) == 429, "it is not looked at"
        assert await status(client, **sent(TOKEN, "192.0.2.2")) == LET_THROUGH, "it was right here before"
        assert await status(client, "/gtp?token=new", **sent(TOKEN, "192.0.2.2")) == LET_THROUGH, "beside a new one too"
        assert await status(client, **sent(TOKEN, "192.0.2.3")) == LET_THROUGH
        assert await status(client, X_Forwarded_For="192.0.2.1") == 401, "without a token nothing is tried"
        assert len(told) == 2 * MOST_GUESSES
        assert told[0] == "wrong token from 192.0.2.1"
        assert TOKEN not in "".join(told) + repr(vars(Tokens(TOKEN))), "only its hash is kept"


async def test_only_proxies_of_ours_are_believed() -> None:
    for proxy, expected in ((None, "127.0.0.1"), ("127.0.0.1", "192.0.2.1")):
        async with serving(token=TOKEN, proxy=proxy) as client:
            forwarded = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"}
            await client.get("/?token=wrong", headers=forwarded)
            assert told == [f"wrong token from {expected}"]
            for path, expected in (("/", "./"), ("/index.html", "index.html")):  # below the prefix of a proxy
                response = await client.get(f"{path}?token={TOKEN}", headers=forwarded, allow_redirects=False)
                cookie = response.headers["Set-Cookie"].split("; ")
                assert {"HttpOnly", "SameSite=Strict", "Max-Age=2592000"} <= {*cookie}
                assert ("Secure" in cookie) == bool(proxy)
                assert response.headers["Location"] == expected


NONSENSE = [
    (b"localhost", b"Authorization: Bearer \xff", 401),
    (b"localhost", b"Cookie: tengen-token-0=\xff", 401),
    (b"localhost", b"Cookie: " + b"a=b; " * 1000 + b"tengen-token-0=" + TOKEN.encode(), LET_THROUGH),
    (b"localhost", b"Cookie: other-tengen-token-0=" + TOKEN.encode(), 401), (b"localhost", b"Origin: http://[", 403),
    (b"localhost", b"Origin: http://localhost:port", 403),
    (b"localhost:99999", b"X: x", 403), (b"localhost:port", b"X: x", 403),
]  # fmt: skip


async def test_headers_that_are_nonsense() -> None:
    async with serving(token=TOKEN) as client:
        for host, header, expected in NONSENSE:
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(b"GET /gtp HTTP/1.1\r\nHost: %b\r\n%b\r\n\r\n" % (host, header))
            assert int((await reader.readline()).split()[1]) == expected, header
            writer.close()


async def test_every_response_keeps_pages_of_others_out() -> None:
    async with serving(token=TOKEN) as client:
        for path in ("/", "/nothing", f"/nothing?token={TOKEN}"):
            response = await client.get(path)
            policy = response.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self';")
            assert "unsafe" not in policy
            assert policy.endswith("base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
            wanted = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}
            wanted |= {f"Cross-Origin-{each}-Policy": "same-origin" for each in ("Opener", "Resource")}
            assert wanted.items() <= response.headers.items()
            assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("token", ["short", "sixteen letters ", "sixteen/letters/", "sixteenlettersä"])
def test_tokens_that_can_be_guessed_or_do_not_fit_into_an_address(token: str) -> None:
    with pytest.raises(ConfigError, match="16 or more letters"):
        ServerSettings(token=token)
    words = ["serve", "--token", token, "--proxy", "none"]
    assert "16 or more" in CliRunner().invoke(cli, words, env={"TENGEN_TOKEN": new_token()}).stderr, "the flag counts"


def test_no_token_is_needed_only_where_other_machines_cannot_connect() -> None:
    hosts = ["127.0.0.1", "127.0.0.2", "::1", "Localhost", "0.0.0.0", "::", "192.168.0.7", "localhost.example"]
    assert [host for host in hosts if ServerSettings(host=host).is_local] == hosts[:4]
    assert ServerSettings(token="off").token == "off" != ServerSettings(token=new_token()).token != new_token()
    assert listed(" Go.Example, b") == {"go.example", "b"} and listed(None) == frozenset()
    for host in ("0.0.0.0", "::", "go.example"):
        with pytest.raises(ConfigError, match="token off where other machines can connect"):
            ServerSettings(token="off", host=host)
    with pytest.raises(ConfigError, match="proxy 'nginx': expected an IP address"):
        ServerSettings(proxy="127.0.0.1, nginx")


def test_wrong_tokens_of_a_network_are_counted_over_time() -> None:
    log: list[str] = []
    now = [0.0]
    tokens = Tokens("known", log.append, lambda: now[0])
    assert tokens.tried("2001:db8::1", "known") is Role.COMPUTE
    now[0] = 1000.0  # who has waited long may not guess more often
    for number in (*range(10), *[9] * 50):  # a token that was wrong before is no guess
        assert tokens.may_try("2001:db8::ffff", "new") is (number < 9 or not log[9:])
        assert tokens.tried(f"2001:db8::{number}", str(number)) is None
    for seconds, may_try in ((0.0, False), (9.9, False), (10.0, True)):
        now[0] = 1000.0 + seconds
        assert tokens.may_try("2001:db8::ffff", "new") is may_try
        assert tokens.may_try("2001:db8::ffff", "known") and tokens.may_try("2001:db8:0:1::1", "new")
    assert tokens.guesses == len(log) == 10
    assert [line for line in log if line.endswith("; no new one is looked at for 10 seconds")] == log[9:]


def test_what_belongs_to_one_client() -> None:
    assert network_of("192.0.2.1") == network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert [network_of(each) for each in ("", "nonsense")] == ["", "nonsense"]
