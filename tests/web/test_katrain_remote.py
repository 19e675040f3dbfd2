"""KaTrain's own remote engine (`remote_url`) uses the server, and shows what it shows of `gtp-engine analysis`.

Needs KaTrain's wheel of version 1.20 (see `protocols/analysis/test_katrain.py`) and what its remote engine imports.
"""

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from analysis.test_katrain import FOLDER, check_positions, unpacked
from web.serving import TOKEN, RolloutSource, serving

__all__ = ["unpacked"]


async def test_katrain_uses_the_engine_of_another_machine(unpacked: Path) -> None:
    if not (unpacked / "katrain" / "core" / "remote_engine.py").exists():
        pytest.skip("this version of KaTrain has no remote engine")
    if not (find_spec("websocket") and find_spec("certifi")):
        pytest.skip("KaTrain's remote engine needs websocket-client and certifi")
    reports: list[dict[str, Any]] = []
    async with serving(RolloutSource(), token=TOKEN) as client:
        url = f"ws://{client.host}:{client.port}/analysis?token={TOKEN}"
        drive = await asyncio.create_subprocess_exec(
            sys.executable,
            str(FOLDER / "katrain" / "drive.py"),
            str(unpacked),
            json.dumps({"backend": "remote", "remote_url": url}),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await drive.communicate()
    assert drive.returncode == 0, errors.decode()
    reports.append(json.loads(output))
    (report,) = reports
    check_positions(report, policy=False)
    assert report["rules"] == [10] * 5
    assert "Illegal move" in report["sweep_of_occupied_point"]
    assert (report["handicap_strategy"], report["unknown_setting"]) == (10, 10)
    assert not report["pondering"]["was_complete"]
    assert report["pondering"]["stop"] < 2  # seconds, the best of several; a tenth of one on an idle machine
    assert report["errors"] == []
