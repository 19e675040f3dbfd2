"""KaTrain's own engine class drives the analysis server; `katrain/drive.py` plays the part of its window.

Needs KaTrain's wheel, from which its Python sources are unpacked, and from 1.18 on that of pysgf:

    pip download --no-deps --dest tests/analysis/wheels katrain==1.20.0 pysgf

TENGEN_KATRAIN_WHEELS may name another folder.  KaTrain's graphics are not needed.
"""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from busy_machine import bound
from nn.katago_files import NetworkFile

import gtp_engine

FOLDER = Path(__file__).parent
WHEELS = Path(os.environ.get("TENGEN_KATRAIN_WHEELS", FOLDER / "wheels"))
INSTALL = "pip download --no-deps --dest tests/analysis/wheels katrain==1.20.0 pysgf"


def katrain_wheels() -> list[Path]:
    """Return the available wheels of KaTrain, of any version and spelling."""
    return sorted(path for path in WHEELS.glob("*.whl") if path.name.lower().startswith("katrain-"))


@pytest.fixture(scope="module", params=katrain_wheels() or [None], ids=lambda path: path.name[:14] if path else "none")
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with KaTrain's sources and texts, without its networks and programs."""
    if request.param is None:
        pytest.skip(f"no wheel of KaTrain in {WHEELS}: {INSTALL}")
    folder = tmp_path_factory.mktemp("katrain")
    for wheel in (request.param, *WHEELS.glob("pysgf-*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.endswith((".py", ".mo", ".cfg"))])
    return folder


def drive(unpacked: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return the report of KaTrain's engine with these settings."""
    data = str(unpacked / "data")
    environment = {**os.environ, "PYTHONPATH": str(Path(gtp_engine.__file__).parent.parent), "TENGEN_DATA_DIR": data}
    command = [sys.executable, str(FOLDER / "katrain" / "drive.py"), str(unpacked), json.dumps(config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=bound(600), env=environment)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def check(report: dict[str, Any], *, policy: bool) -> None:
    """Check what KaTrain shows, of whatever engine, and that its own requests are met."""
    for name, area, player in (
        ("first", 81, "B"),
        ("white_to_play", 81, "W"),
        ("handicap", 81, "W"),
        ("rectangle", 117, "B"),
        ("new_game", 81, "W"),
    ):
        shown = report[name]
        assert shown["visits"] == {"white_to_play": 80, "handicap": 1000, "new_game": 20}.get(name, 60)
        assert 0 <= shown["winrate"] <= 1
        assert abs(shown["score"]) <= area
        assert shown["ownership"] == area
        assert shown["policy"] == (area + 1 if policy else 0)
        assert shown["next_player"] == player
        assert shown["orders"] == sorted(shown["orders"])
        assert all(pv[0] == move for move, pv in zip(shown["moves"], shown["pv"], strict=True) if pv)
        assert len(shown["moves"]) >= 2
    others, region = report["alternatives"], report["region"]
    assert others["moves"] and not set(report["known"]) & set(others["moves"])
    corner = {f"{column}{row}" for column in "ABC" for row in (7, 8, 9)}
    assert {"pass"} < set(region["moves"]) | {"pass"} <= corner | {"pass"}
    assert report["rules"] == [10] * 5, "all are known"
    assert "Illegal move" in report["sweep_of_occupied_point"]
    assert (report["handicap_strategy"], report["unknown_setting"]) == (10, 10)
    assert not report["pondering"]["was_complete"], "its end is waited for"
    assert report["pondering"]["stop"] < bound(2)  # seconds, the best of several; a tenth of one on an idle machine
    assert report["new_game"]["seconds"] < bound(10)  # seconds for 20 visits after 20 queries of 100,000
    assert report["errors"] == []
    assert not any("Traceback" in line or "rror" in line for line in report["stderr"])
    assert report["threads"] == ["MainThread"]


def test_katrain_shows_the_analysis(unpacked: Path) -> None:
    """Without a network, by its user's own command ("altcommand")."""
    # exec: KaTrain ends the shell, nothing else
    command = f'exec "{sys.executable}" -m gtp_engine analysis --threads 1 --search rave'
    report = drive(unpacked, {"backend": "custom", "altcommand": command})
    check(report, policy=False)
    assert report["handicap"]["winrate"] > 0.5, "Black's, two stones up"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for KataGo is a POSIX shell script")
def test_the_engine_takes_the_place_of_katrains_katago(unpacked: Path) -> None:
    """With its command, settings and files: networks are imported, and the log explains what has no effect."""
    program = unpacked / "katrain" / "KataGo" / "katago"  # where KaTrain has its own
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gtp_engine "$@" --seed 1\n')  # repeatable
    program.chmod(0o755)
    for name, human in (("net", 0), ("human", 1)):
        (unpacked / "katrain" / f"{name}.bin.gz").write_bytes(NetworkFile(15, seed=3, human=human).bytes(gzipped=True))
    models = {"model": "katrain/net.bin.gz", "humanlike_model": "katrain/human.bin.gz"}
    report = drive(unpacked, {"katago": "", "config": "katrain/KataGo/analysis_config.cfg", **models})
    check(report, policy=True)
    assert any(report["first"]["points_lost"]) and any(report["first"]["winrate_lost"])
    log = "\n".join(report["stderr"])
    assert log.count("Importing ") == log.count("Imported as ") == 2
    assert "homeDataDir (the variable TENGEN_DATA_DIR)" in log
    assert "numAnalysisThreads" in log
    assert "WARNING" not in log
