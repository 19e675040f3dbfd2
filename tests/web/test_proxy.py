"""The examples of docs/server.md: nginx with TLS and a prefix in front of the server, and the unit of systemd."""

import contextlib
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, TCPConnector
from web.serving import TOKEN, FakeSource, RolloutSource, serving, told, until
from web.test_listener import certificate_in
from web.test_play_socket import NEW, ask, hear_any

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def example(kind: str) -> str:
    """Return the block of code of a kind."""
    return TEXT.partition(f"```{kind}\n")[2].partition("```")[0]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx (apt-get install nginx-light)")


@contextlib.asynccontextmanager
async def behind_nginx(folder: Path, source: FakeSource) -> AsyncIterator[tuple[str, ClientSession]]:
    """Run the example, and yield the port of nginx and a client, which is at 127.0.0.2."""
    if not certificate_in(folder):
        pytest.skip("no openssl to make a certificate with")
    port = free_port()
    async with serving(
        source, token=TOKEN, allowed_host="club.example", proxy="127.0.0.1", games=folder / "games"
    ) as inner:
        site = example("nginx").replace("443 ssl", f"127.0.0.1:{port} ssl").replace("8361", str(inner.port))
        site = re.sub(r"/etc/\S+/fullchain.pem", str(folder / "own.pem"), site)
        site = re.sub(r"/etc/\S+/privkey.pem", str(folder / "key.pem"), site)
        places = [f"{kind}_temp_path {folder}/{kind};" for kind in ("proxy", "client_body", "fastcgi", "uwsgi", "scgi")]
        http = "\n".join(["access_log off;", *places, site])
        start = f"daemon off; pid {folder}/pid; error_log stderr; events {{ worker_connections 768; }}"  # as Debian's
        (folder / "nginx.conf").write_text(f"{start}\nhttp {{ {http} }}\n", encoding="utf-8")
        connector = TCPConnector(
            local_addr=("127.0.0.2", 0), ssl=ssl.create_default_context(cafile=str(folder / "own.pem"))
        )
        headers = {"Host": f"club.example:{port}", "X-Forwarded-For": "203.0.113.9"}
        with subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]) as nginx:
            try:
                async with ClientSession(connector=connector, headers=headers) as client:
                    await until(lambda: is_open(port))
                    yield str(port), client
            finally:
                nginx.terminate()


@needs_nginx
async def test_a_proxy_with_encryption_and_a_prefix(tmp_path: Path) -> None:
    async with behind_nginx(tmp_path, FakeSource()) as (port, client):
        url, host = f"https://127.0.0.1:{port}/go/", f"club.example:{port}"
        response = await client.get(f"{url}?token={TOKEN}", allow_redirects=False)
        assert (response.status, response.headers["Location"]) == (303, "./")
        assert "Secure" in response.headers["Set-Cookie"]
        bearer = {"Authorization": f"Bearer {TOKEN}", "Origin": f"https://{host}"}
        for path in ("", "app.js", "health", "metrics"):
            assert (await client.get(url + path, headers=bearer)).status == 200, path
        async with client.ws_connect(f"{url}play", headers=bearer) as page:
            assert (await page.receive_json())["role"] == "compute"
        assert (await client.get(f"{url}?token=wrong")).status == 401
        assert told == ["wrong token from 127.0.0.2"], "what the client says about itself is not believed"
        assert (await client.get(url, headers=bearer | {"Origin": "https://attacker.example"})).status == 403


@needs_nginx
async def test_one_plays_beside_500_idle_connections(tmp_path: Path) -> None:
    """They are nginx's to bound: 200 of an address."""
    async with behind_nginx(tmp_path, RolloutSource()) as (port, client):
        with contextlib.ExitStack() as idle:
            for number in range(500):
                place = (f"127.0.0.{3 + number % 3}", 0)
                idle.enter_context(socket.create_connection(("127.0.0.1", int(port)), source_address=place))
            async with client.ws_connect(f"https://127.0.0.1:{port}/go/play?token={TOKEN}") as page:
                await ask(page, **NEW)
                game = await ask(page, do="play", vertex="E5")
                while len(game["moves"]) < 2:
                    game = await hear_any(page)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
def test_the_unit_of_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "tengen.service"
    command = re.escape("/opt/tengen/bin/gtp-engine")
    assert re.search(f"ExecStart={command} serve ", example("ini"))
    unit.write_text(re.sub(command, "/bin/true", example("ini")), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, encoding="utf-8", check=False
    )
    assert "tengen.service" not in done.stderr, done.stderr
