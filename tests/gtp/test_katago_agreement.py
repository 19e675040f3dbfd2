"""`kata-raw-nn` agrees with KataGo on 18 positions, played move by move as a front end would send them."""

from pathlib import Path
from typing import Any

import pytest
from shared_files import reference_records, shared_file

from gtp_engine import Config, Engine
from gtp_engine.protocols.gtp.server import GtpServer

NETWORK = "nets/g170-b6c96-s175395328-d26788732.bin.gz"

TOLERANCES = {
    "whiteWin": 1e-4,
    "whiteLoss": 1e-4,
    "noResult": 1e-4,
    "whiteLead": 5e-3,
    "whiteScoreSelfplay": 5e-3,
    "varTimeLeft": 1e-3,
    "shorttermWinlossError": 1e-3,
    "shorttermScoreError": 1e-3,
    "policy": 1e-4,
    "policyPass": 1e-4,
    "whiteOwnership": 2e-4,
}
"""Differences within rounding: KataGo prints six digits of a probability and three of a score."""

SQUARE_TOLERANCE = 1e-3
"""The same for the mean square of the score, as a share of it."""


def read_evaluation(reply: str, height: int) -> dict[str, Any]:
    """Return the fields of a reply to kata-raw-nn, maps as lists of rows, None for NAN."""
    lines = reply.removeprefix("= ").rstrip("\n").split("\n")
    fields: dict[str, Any] = {}
    for number, line in enumerate(lines):
        name, _, value = line.partition(" ")
        if name in ("policy", "whiteOwnership"):
            rows = [row.split() for row in lines[number + 1 : number + 1 + height]]
            fields[name] = [[None if word == "NAN" else float(word) for word in row] for row in rows]
        elif name[:1].isalpha() and name != "NAN":
            fields[name] = float(value)
    return fields


def set_up(server: GtpServer, record: dict[str, Any]) -> None:
    """Send the commands that lead to a position."""
    commands = [f"boardsize {' '.join(map(str, record['size']))}", "clear_board"]
    commands += [f"kata-set-rules {record['rules']}", f"komi {record['komi']}"]
    if record["handicap"]:
        commands.append(f"set_free_handicap {' '.join(record['handicap'])}")
    commands += [f"play {color} {vertex}" for color, vertex in record["moves"]]
    for command in commands:
        assert server.handle_line(command) == "= \n\n", command


def difference(found: Any, expected: Any) -> float:
    """Return the largest difference of two numbers or maps; infinite where only one of them is legal."""
    if isinstance(expected, list):
        return max(difference(*pair) for pair in zip(found, expected, strict=True))
    if found is None or expected is None:
        return 0.0 if found is expected else float("inf")
    return abs(found - expected)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from gtp_engine.nn.loading import load_evaluator
    from gtp_engine.nn.onnx_export import convert_file

    path: Path = tmp_path_factory.mktemp("networks") / "b6c96.onnx"
    convert_file(shared_file(NETWORK), path)
    config = Config().with_values(
        {"network.model": str(path), "network.precision": "float32", "network.provider": "cpu"}
    )
    with Engine(config, evaluator=load_evaluator(config.network, log=print)) as engine:
        yield GtpServer(config, lambda: engine, print)


def test_evaluations_agree_with_katagos(server: GtpServer) -> None:
    for record in reference_records()[::4]:  # all of them are evaluated in networks/test_katago_reference.py
        set_up(server, record)
        found = read_evaluation(server.handle_line("kata-raw-nn 0"), record["size"][1])
        expected = record["nets"]["g170-b6c96"]
        for name, tolerance in TOLERANCES.items():
            distance = difference(found[name], expected[name])
            assert distance <= tolerance, f"{record['id']} ({record['rules']}): {name} differs by {distance}"
        square = found["whiteScoreSelfplaySq"] / expected["whiteScoreSelfplaySq"]
        assert abs(square - 1) <= SQUARE_TOLERANCE, record["id"]


def test_every_symmetry_has_its_own_block(server: GtpServer) -> None:
    """KataGo names all eight on a rectangle, too, where the last four exchange no rows and columns."""
    for size in ("9", "9 7"):
        server.handle_line(f"boardsize {size}")
        reply = server.handle_line("kata-raw-nn all")
        assert [line for line in reply.split("\n") if line.startswith("symmetry")] == [
            f"symmetry {number}" for number in range(1, 8)
        ]
        assert reply.startswith("= symmetry 0\n")
        assert reply.count("\n\n") == 1
        assert reply.count("whiteOwnership") == 8
