"""Inputs for calibration and comparison: positions of games that a network plays against itself.

The games differ in rules, komi and handicap, because a quantized network clips values beyond those seen in calibration.
Loss of tengen-b10c128 on 600 held-out positions of its training data, by the positions used for calibration:

                                    policy KL    winrate error
    384, even games, 16 of each      0.0014          0.021
    384, varied games, 8 of each     0.0008          0.010
    768, varied games, 8 of each     0.0007          0.006
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import BoardSizes
from gtp_engine.networks.quantization.calibration_games import Progress, Sample, sample_games
from gtp_engine.nn.encoded_network import new_encoder
from gtp_engine.nn.encoder import new_inputs
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.symmetry import symmetry_count

PER_GAME: Final = 8
"""Positions taken from each game: a compromise between variety and the time to play the games."""
SHARES: Final = {(19, 19): 0.5, (13, 13): 0.25, (9, 9): 0.25}
"""Share of the games on each board (width, height), for a network that plays on all of them."""
HELD_OUT: Final = 3
"""Every third game is held out for validation."""
GAMES_AT_ONCE: Final = 8


@dataclass(frozen=True)
class Examples:
    """Inputs on boards of one size."""

    width: int
    height: int
    spatial: FloatArray
    """[N, planes, H, W]."""
    globals_: FloatArray
    """[N, globals]."""

    def __len__(self) -> int:
        return len(self.spatial)

    def first(self, count: int) -> "Examples":
        """Return at most `count` of the inputs."""
        return Examples(self.width, self.height, self.spatial[:count], self.globals_[:count])


def boards_of(sizes: BoardSizes) -> dict[tuple[int, int], float]:
    """Return the boards (width, height) to play on and the share of games on each."""
    boards = {board: share for board, share in SHARES.items() if sizes.include(*board)} or {sizes.usual: 1.0}
    total = sum(boards.values())
    return {board: share / total for board, share in boards.items()}


def play_examples(
    evaluator: Evaluator,
    info: NetworkInfo,
    *,
    positions: int,
    seed: int,
    progress: Progress,
) -> tuple[list[Examples], list[Examples]]:
    """Return inputs for calibration, and inputs of other games for validation: about `positions` in all.

    `progress` is called with the number of games that have ended, and the number of all games.
    """
    for_calibration: list[Examples] = []
    held_out: list[Examples] = []
    rng = np.random.default_rng(seed)
    boards = boards_of(info.sizes)
    counts = [max(HELD_OUT, round(positions * share / PER_GAME)) for share in boards.values()]
    for number, ((width, height), games) in enumerate(zip(boards, counts, strict=True)):

        def of_all(ended: int, _: int, before: int = sum(counts[:number])) -> None:
            progress(before + ended, sum(counts))

        sample = sample_games(
            evaluator, width, height, games=games, per_game=PER_GAME, batch=GAMES_AT_ONCE, rng=rng, progress=of_all
        )
        encoded = encode_sample(sample, info, rng)
        is_held_out = sample.games % HELD_OUT == HELD_OUT - 1
        for target, chosen in ((for_calibration, ~is_held_out), (held_out, is_held_out)):
            order = rng.permutation(np.flatnonzero(chosen))
            target.append(Examples(width, height, encoded.spatial[order], encoded.globals_[order]))
    return for_calibration, held_out


def encode_sample(sample: Sample, info: NetworkInfo, rng: np.random.Generator) -> Examples:
    """Return the network's inputs for all positions of a sample, each in a random symmetry."""
    width, height = sample.width, sample.height
    encoder = new_encoder(info, width, height)
    count = len(sample.games)
    inputs = new_inputs(encoder, count, width, height)
    symmetries = rng.integers(symmetry_count(width, height), size=count).astype(np.int32)
    encoder.encode(sample.positions, range(count), symmetries, inputs)
    return Examples(width, height, inputs.spatial, inputs.globals_)
