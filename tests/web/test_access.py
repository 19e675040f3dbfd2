"""Who may send requests: names of the server, origins of pages, tokens; and what every response carries."""

import asyncio

import pytest
from web.serving import TOKEN, Client, run, serving

from gtp_engine.errors import ConfigError
from gtp_engine.web.server_settings import ServerSettings, new_token


async def status(client: Client, path: str = "/gtp", **headers: str) -> int:
    """Return the status of a request for a WebSocket without a handshake: 400 where it is let through."""
    response = await client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return response.status


LET_THROUGH = 400


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8361", LET_THROUGH),
        ("[::1]:8361", LET_THROUGH),
        ("localhost", LET_THROUGH),
        ("LOCALHOST:8361", LET_THROUGH),
        ("go.example", LET_THROUGH),
        ("192.168.0.7", LET_THROUGH),
        ("attacker.example", 403),  # DNS rebinding
        ("127.0.0.1.attacker.example", 403),
        ("localhost.attacker.example:8361", 403),
        ("go.example.attacker.example", 403),
        ("[::1", 403),
        ("", 403),
    ],
)
def test_names_of_the_server(host: str, expected: int) -> None:
    async def test() -> None:
        async with serving(names=("go.example",)) as client:
            assert await status(client, Host=host) == expected

    run(test)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:8361", LET_THROUGH),
        ("http://127.0.0.1:8362", 403),  # another server on this machine
        ("http://localhost:8361", 403),
        ("https://attacker.example", 403),
        ("null", 403),  # a page in a sandbox, or a file
    ],
)
def test_origins(origin: str, expected: int) -> None:
    async def test() -> None:
        async with serving() as client:
            assert await status(client, Host="127.0.0.1:8361", Origin=origin) == expected

    run(test)


def test_requests_that_a_browser_says_come_from_elsewhere() -> None:
    async def test() -> None:
        async with serving() as client:
            assert await status(client, Sec_Fetch_Site="cross-site") == 403
            assert await status(client, Sec_Fetch_Site="same-site") == 403
            assert await status(client, Sec_Fetch_Site="same-origin") == LET_THROUGH

    run(test)


def test_the_token() -> None:
    async def test() -> None:
        async with serving(token=TOKEN) as client:
            assert await status(client) == 401
            assert await status(client, f"/gtp?token={TOKEN[:-1]}") == 401
            assert await status(client, "/gtp?token=") == 401
            assert await status(client, Authorization=f"Basic {TOKEN}") == 401
            assert await status(client, Authorization=f"Bearer {TOKEN}") == LET_THROUGH
            assert await status(client, f"/gtp?token={TOKEN}") == LET_THROUGH
            assert await status(client, "/nothing/here") == 401, "no one learns what there is"
            assert await status(client, "/nothing/here", Authorization=f"Bearer {TOKEN}") == 404

    run(test)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"Authorization: Bearer \xff", 401),
        (b"Cookie: tengen-token-0=\xff", 401),
        (b"Origin: http://[", 403),
        (b"Origin: http://localhost:port", 403),
    ],
)
def test_headers_that_are_nonsense(header: bytes, expected: int) -> None:
    assert answer_to(b"localhost", header) == expected


@pytest.mark.parametrize("host", [b"localhost:99999", b"localhost:port"])
def test_ports_that_are_none(host: bytes) -> None:
    assert answer_to(host, b"X: x") == 403


def answer_to(host: bytes, header: bytes) -> int:
    """Return the status of the answer to a request with these bytes, of a server with a token."""
    found: list[int] = []

    async def test() -> None:
        async with serving(token=TOKEN) as client:
            reader, writer = await asyncio.open_connection(client.host, client.port)
            writer.write(b"GET /gtp HTTP/1.1\r\nHost: %b\r\n%b\r\n\r\n" % (host, header))
            found.append(int((await reader.readline()).split()[1]))
            writer.close()

    run(test)
    return found[0]


def test_every_response_keeps_pages_of_others_out() -> None:
    async def test() -> None:
        async with serving(token=TOKEN) as client:
            for path in ("/", "/nothing", f"/nothing?token={TOKEN}"):
                response = await client.get(path)
                policy = response.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'none'; script-src 'self';")
                assert "unsafe" not in policy
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
                assert "Access-Control-Allow-Origin" not in response.headers

    run(test)


@pytest.mark.parametrize("token", ["short", "sixteen letters ", "sixteen/letters/", "sixteenlettersä"])
def test_tokens_that_can_be_guessed_or_do_not_fit_into_an_address(token: str) -> None:
    with pytest.raises(ConfigError, match="16 or more letters"):
        ServerSettings(token=token)


def test_new_tokens_are_allowed_and_differ() -> None:
    assert ServerSettings(token=new_token()).token != new_token()


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.0.0.2", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.168.0.7", False), ("localhost.example", False)],
)  # fmt: skip
def test_which_addresses_only_this_machine_reaches(host: str, is_local: bool) -> None:
    assert ServerSettings(host=host).is_local is is_local


def test_a_key_needs_a_certificate() -> None:
    with pytest.raises(ConfigError, match="without a certificate"):
        ServerSettings(key="key.pem")
