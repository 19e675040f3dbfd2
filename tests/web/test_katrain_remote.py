"""KaTrain's own remote engine (`remote_url`) uses the server, and shows what it shows of `gtp-engine analysis`.

Needs KaTrain's wheel of version 1.20 (see `protocols/analysis/test_katrain.py`) and what its remote engine imports.
"""

import asyncio
from importlib.util import find_spec
from pathlib import Path

import pytest
from analysis.test_katrain import check, drive, unpacked
from web.serving import TOKEN, RolloutSource, serving

__all__ = ["unpacked"]


async def test_katrain_uses_the_engine_of_another_machine(unpacked: Path) -> None:
    if not (unpacked / "katrain" / "core" / "remote_engine.py").exists():
        pytest.skip("this version of KaTrain has no remote engine")
    if not (find_spec("websocket") and find_spec("certifi")):
        pytest.skip("KaTrain's remote engine needs websocket-client and certifi")
    async with serving(RolloutSource(), token=TOKEN) as client:
        url = f"ws://{client.host}:{client.port}/analysis?token={TOKEN}"
        check(await asyncio.to_thread(drive, unpacked, {"backend": "remote", "remote_url": url}), policy=False)
