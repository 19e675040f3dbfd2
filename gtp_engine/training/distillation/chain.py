"""The chain of commands from nothing to a network like the shipped one: data, training, export, match."""

import json
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.base.machine import available_cores
from gtp_engine.base.steps import ENGINE, Step, engine_command
from gtp_engine.training.core.checkpoint import has_checkpoint


class ChainSize(NamedTuple):
    """The size of everything in a chain."""

    command: str
    """The command that carries it out."""
    positions: int
    sizes: str
    minutes: float
    """Of training."""
    shape: tuple[str, ...]
    games: int
    visits: int
    held_out: float
    """Share of games held out for validation; a few games need a large one, or none is."""
    quantization: tuple[object, ...] = ()
    """Options of `models quantize`."""
    board: int = 9
    """Of the match."""


_SHARE_OF_GAMES: Final = 1 / 3
"""Share of the time that games get in a chain with a deadline; the rest is for training.  In the two runs that made
tengen-b10c128 games took 449 of 1,303 and 320 of 997 seconds, and training saw each position five and seven times."""

FULL: Final = ChainSize(
    command="gtp-engine train chain",
    positions=1_000_000,
    sizes="9=5,13=4,19=4,7=.2,8=.1,10=.2,11=.2,12=.1,15=.2,17=.1,9x13=.1,13x9=.1,19x13=.1",
    minutes=180,
    shape=("--blocks", "6", "--channels", "96"),
    games=40,
    visits=200,
    held_out=0.02,
)
TINY: Final = ChainSize(
    command="gtp-engine train chain --tiny",
    positions=40_000,
    sizes="9=1",
    minutes=2,
    shape=("--blocks", "3", "--channels", "48", "--pooling-every", "2", "--pooled-channels", "16"),
    games=20,
    visits=50,
    held_out=0.2,
)


def steps_of(size: ChainSize, folder: Path, teacher: Path, minutes: float | None = None) -> list[Step]:
    """Return the commands of a chain in their order; the match comes last.

    With `minutes` games and training end after so many together; games are over once training has begun.
    """
    data, run = folder / "data", folder / "run"
    untrained, trained, small = (folder / f"{name}.onnx" for name in ("untrained", "trained", "trained-int8"))
    cores = available_cores()

    def player(network: Path) -> str:
        return engine_command("--model", network, "--visits", size.visits, "--network-threads", 1)

    of_games = _SHARE_OF_GAMES * (minutes or 0.0)
    goal = ("--positions", size.positions) if minutes is None else ("--minutes", of_games)
    length = size.minutes if minutes is None else minutes - of_games
    amount = (*goal, "--sizes", size.sizes, "--held-out", size.held_out, "--workers", cores)
    has_begun = has_checkpoint(run)
    begin = ("resume", run) if has_begun else ("run", "--data", data, "--out", run, *size.shape)
    has_games = has_begun and minutes is not None
    players = ("--first", player(small), "--first-name", "trained", "--second", player(untrained))
    games = ("--second-name", "untrained", "--size", size.board, "--games", size.games, "--parallel", cores)
    return [
        *([] if has_games else [Step("Games with labels", (*ENGINE, "generate", teacher, data, *amount))]),
        Step("Training", (*ENGINE, "train", *begin, "--minutes", length)),
        Step("Export", (*ENGINE, "train", "export", run, "-o", trained), trained),
        Step("Agreement with the teacher", (*ENGINE, "train", "validate", trained, data)),
        Step("Quantization", (*ENGINE, "models", "quantize", trained, "-o", small, *size.quantization), small),
        Step("An untrained network", (*ENGINE, "train", "new", *size.shape, "-o", untrained), untrained),
        Step("Match", (*ENGINE, "match", *players, *games, "--random-plies", 4, "--out", folder / "match")),
    ]


def won_games(match: Step) -> tuple[float, int]:
    """Return the share of games that the first player of a finished match won, and the number of games."""
    command = [*map(str, match.command), "--json"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result["win_rate"], result["games"]
