"""A portion of the fuzz test: generated lines against the engine, in this process and through pipes.

`scripts/fuzz_gtp` sends as many lines as one likes.
"""

from pathlib import Path

import pytest
from gtp.fuzz import run, write_files
from gtp.processes import GtpProcess
from nn.tiny_networks import v7_network

from gtp_engine.config import Config
from gtp_engine.protocols.gtp.protocol import decode_line, encode_reply
from gtp_engine.protocols.gtp.server import GtpServer

CONFIG = Config().with_values({"search.visits": "4", "search.threads": "1", "search.seed": "1"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with game records; the current directory is another, empty one."""
    records, current = tmp_path / "records", tmp_path / "current"
    records.mkdir()
    current.mkdir()
    write_files(records)
    monkeypatch.chdir(current)
    return records


@pytest.mark.parametrize("seed", [1, 2])
def test_generated_lines(seed: int, folder: Path) -> None:
    from gtp_engine.engine import Engine

    engine = Engine(CONFIG, log=lambda text: None, evaluator=None)
    server = GtpServer(CONFIG, lambda: engine, log=print)

    def ask(sent: bytes, count: int) -> list[bytes]:
        lines = map(decode_line, sent.removesuffix(b"\n").split(b"\n"))
        return [encode_reply(reply) for reply in map(server.handle_line, lines) if reply]

    checker = run(ask, seed=seed, lines=450, folder=folder)
    for name in ["play", "genmove", "undo", "loadsgf", "set_free_handicap", "kata-set-rules", "gogui-play_sequence"]:
        assert checker.accepted.get(name), f"{name} was never accepted: the generator is too wild"
        assert name in ("genmove",) or checker.rejected.get(name), f"{name} was never rejected: it is too tame"
    assert any(name.endswith("analyze") for name in checker.accepted)


@pytest.mark.long
def test_generated_lines_through_pipes(folder: Path, tmp_path: Path) -> None:
    """The network is tiny: the one that ships takes a second and more for each new size of the board."""
    network = v7_network(tmp_path / "tiny.onnx")
    with GtpProcess("--model", str(network), "--visits", "4", "--threads", "1") as process:
        run(process.ask_all, seed=3, lines=150, folder=folder)
        assert process.ask(b"quit\n") == b"= \n\n"
        assert process.wait() == 0
