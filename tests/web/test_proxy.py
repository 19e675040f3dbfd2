"""The examples of docs/server.md: nginx with TLS and a prefix in front of the server, and the unit of systemd."""

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from aiohttp import ClientSession, TCPConnector
from web.serving import TOKEN, run, serving, told
from web.test_listener import certificate_in

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def example(kind: str) -> str:
    """Return the block of code of a kind."""
    return TEXT.partition(f"```{kind}\n")[2].partition("```")[0]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx (apt-get install nginx-light)")
def test_a_proxy_with_encryption_and_a_prefix(tmp_path: Path) -> None:
    if not certificate_in(tmp_path):
        pytest.skip("no openssl to make a certificate with")
    port = free_port()

    def configuration(upstream: int) -> str:
        site = example("nginx").replace("443 ssl", f"127.0.0.1:{port} ssl").replace("8361", str(upstream))
        site = re.sub(r"/etc/\S+/fullchain.pem", str(tmp_path / "own.pem"), site)
        site = re.sub(r"/etc/\S+/privkey.pem", str(tmp_path / "key.pem"), site)
        places = [
            f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("proxy", "client_body", "fastcgi", "uwsgi", "scgi")
        ]
        http = "\n".join(["access_log off;", *places, site])
        return f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}\nhttp {{ {http} }}\n"

    async def test() -> None:
        async with serving(token=TOKEN, names=("club.example",), proxies=("127.0.0.1",)) as inner:
            assert inner.port is not None
            (tmp_path / "nginx.conf").write_text(configuration(inner.port), encoding="utf-8")
            with subprocess.Popen(["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]) as nginx:
                try:
                    await use()
                finally:
                    nginx.terminate()

    async def use() -> None:
        trust = ssl.create_default_context(cafile=str(tmp_path / "own.pem"))
        url, host = f"https://127.0.0.1:{port}/go/", f"club.example:{port}"
        headers = {"Host": host, "X-Forwarded-For": "203.0.113.9"}
        connector = TCPConnector(local_addr=("127.0.0.2", 0), ssl=trust)
        async with ClientSession(connector=connector, headers=headers) as client:
            while True:
                try:
                    response = await client.get(f"{url}?token={TOKEN}", allow_redirects=False)
                    break
                except OSError:
                    await asyncio.sleep(0.05)
            assert (response.status, response.headers["Location"]) == (303, "./")
            assert "Secure" in response.headers["Set-Cookie"]
            bearer = {"Authorization": f"Bearer {TOKEN}", "Origin": f"https://{host}"}
            for path in ("", "app.js", "health", "metrics"):
                assert (await client.get(url + path, headers=bearer)).status in (200, 501), path
            async with client.ws_connect(f"{url}play", headers=bearer) as page:
                assert (await page.receive_json())["role"] == "compute"
            assert (await client.get(f"{url}?token=wrong")).status == 401
            assert told == ["wrong token from 127.0.0.2"], "what the client says about itself is not believed"
            assert (await client.get(url, headers=bearer | {"Origin": "https://attacker.example"})).status == 403

    run(test)


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
