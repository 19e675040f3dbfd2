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


@pytest.fixture(scope="module")
def report(unpacked: Path) -> dict[str, Any]:
    """Return what KaTrain saw of the engine without a network, as its user's own command ("altcommand")."""
    # exec: KaTrain ends the shell, nothing else
    command = f'exec "{sys.executable}" -m gtp_engine analysis --threads 1 --search rave'
    return drive(unpacked, {"backend": "custom", "altcommand": command})


@pytest.fixture(scope="module")
def network_report(unpacked: Path) -> dict[str, Any]:
    """Return what KaTrain saw of the engine in place of its KataGo: its own command, and networks of KataGo's."""
    if os.name == "nt":
        pytest.skip("the stand-in for KataGo is a POSIX shell script")
    program = unpacked / "katrain" / "KataGo" / "katago"  # where KaTrain has its own
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gtp_engine "$@" --seed 1\n')  # repeatable
    program.chmod(0o755)
    for name, human in (("net", 0), ("human", 1)):
        (unpacked / "katrain" / f"{name}.bin.gz").write_bytes(NetworkFile(15, seed=3, human=human).bytes(gzipped=True))
    models = {"model": "katrain/net.bin.gz", "humanlike_model": "katrain/human.bin.gz"}
    return drive(unpacked, {"katago": "", "config": "katrain/KataGo/analysis_config.cfg", **models})


def check_positions(report: dict[str, Any], *, policy: bool) -> None:
    """Check what KaTrain shows of the positions it had analysed."""
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


def test_katrain_shows_the_analysis(report: dict[str, Any]) -> None:
    check_positions(report, policy=False)
    assert report["handicap"]["winrate"] > 0.5, "Black's, two stones up"


def test_katrain_shows_the_analysis_of_a_network(network_report: dict[str, Any]) -> None:
    check_positions(network_report, policy=True)
    for lost in ("points_lost", "winrate_lost"):
        assert any(network_report["first"][lost])


def test_katrains_own_files_are_imported_and_its_settings_explained(network_report: dict[str, Any]) -> None:
    log = "\n".join(network_report["stderr"])
    assert log.count("Importing ") == log.count("Imported as ") == 2
    assert "homeDataDir (the variable TENGEN_DATA_DIR)" in log
    assert "numAnalysisThreads" in log
    assert "WARNING" not in log


class TestBoth:
    """What does not depend on the network."""

    @pytest.fixture(params=["rollouts", "network"])
    def seen(
        self, report: dict[str, Any], network_report: dict[str, Any], request: pytest.FixtureRequest
    ) -> dict[str, Any]:
        return report if request.param == "rollouts" else network_report

    def test_moves_are_left_out_as_katrain_asks(self, seen: dict[str, Any]) -> None:
        others, region = seen["alternatives"], seen["region"]
        assert others["moves"]
        assert not set(seen["known"]) & set(others["moves"])
        corner = {f"{column}{row}" for column in "ABC" for row in (7, 8, 9)}
        assert {"pass"} < set(region["moves"]) | {"pass"} <= corner | {"pass"}

    def test_all_of_katrains_rules_are_known(self, seen: dict[str, Any]) -> None:
        assert seen["rules"] == [10] * 5

    def test_an_illegal_move_of_a_sweep_is_recognised(self, seen: dict[str, Any]) -> None:
        assert "Illegal move" in seen["sweep_of_occupied_point"]

    def test_settings_of_katrains_players_do_not_fail(self, seen: dict[str, Any]) -> None:
        assert (seen["handicap_strategy"], seen["unknown_setting"]) == (10, 10)

    def test_pondering_lets_the_game_be_analysed_and_stops_at_once(self, seen: dict[str, Any]) -> None:
        assert not seen["pondering"]["was_complete"], "its end is waited for"
        assert seen["pondering"]["stop"] < bound(2)  # seconds, the best of several; a tenth of one on an idle machine

    def test_a_new_game_forgets_the_old_one(self, seen: dict[str, Any]) -> None:
        assert seen["new_game"]["seconds"] < bound(10)  # seconds for 20 visits after 20 queries of 100,000

    def test_katrain_met_no_error(self, seen: dict[str, Any]) -> None:
        assert seen["errors"] == []
        assert not any("Traceback" in line or "rror" in line for line in seen["stderr"])
        assert seen["threads"] == ["MainThread"]
