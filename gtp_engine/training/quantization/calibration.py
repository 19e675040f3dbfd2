"""Inputs for calibration and comparison: positions of games that a network plays against itself, sampling its policy.

The games are those of `policy_games`, from which positions are drawn evenly.  They differ in rules, komi and handicap
(`training.selfplay.plans`), because a quantized network clips values beyond those seen in calibration.
Loss of tengen-b10c128 on 600 held-out positions of its training data, by the positions used for calibration:

                                    policy KL    winrate error
    384, even games, 16 of each      0.0014          0.021
    384, varied games, 8 of each     0.0008          0.010
    768, varied games, 8 of each     0.0007          0.006
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config.human import DAN_RANKS, KYU_RANKS, HumanProfile
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import BoardSizes
from gtp_engine.evaluation.positions import Conditions, Positions, board_size, new_positions, put_row, take_rows
from gtp_engine.nn.encoders import Inputs, new_encoder
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.quantized_copy import Arrays, Keep, keep_nothing
from gtp_engine.nn.symmetry import symmetry_count
from gtp_engine.training.selfplay.plans import varied_plan
from gtp_engine.training.selfplay.policy_games import PolicyGames

PER_GAME: Final = 8
"""Positions taken from each game: a compromise between variety and the time to play the games."""
SHARES: Final = {(19, 19): 0.5, (13, 13): 0.25, (9, 9): 0.25}
"""Share of the games on each board (width, height), for a network that plays on all of them."""

HELD_OUT: Final = 3
"""Every third game is held out for validation."""
GAMES_AT_ONCE: Final = 8


def sample_games(
    evaluator: Evaluator,
    board: tuple[int, int],
    *,
    games: int,
    rng: np.random.Generator,
    progress: Callable[[int], None] = lambda ended: None,
) -> tuple[Positions, NDArray[np.int64]]:
    """Return up to PER_GAME positions of each of `games` games, every position of a game equally likely.

    And the number of each position's game.  `board` is width and height; `progress` is called with the number of games
    that have ended.
    """
    reservoir = new_positions(games * PER_GAME, *board)
    filled: set[int] = set()
    running = PolicyGames(evaluator, *board, numbers=range(games), batch=GAMES_AT_ONCE, rng=rng, planner=varied_plan)
    ended = 0
    while running.playing:
        running.evaluate()
        for row, played in enumerate(running.playing):
            place = _place_in_reservoir(len(played.game.moves), PER_GAME, rng)
            if place is not None:
                slot = played.number * PER_GAME + place
                put_row(reservoir, slot, running.positions, row)
                filled.add(slot)
        ended += len(running.play())
        progress(ended)
    slots = sorted(filled)
    return take_rows(reservoir, slots), np.array(slots, dtype=np.int64) // PER_GAME


def _place_in_reservoir(index: int, size: int, rng: np.random.Generator) -> int | None:
    """Return the place of the `index`-th candidate (from 0) in a reservoir of `size`, or None to drop it.

    Vitter's Algorithm R (1985): every candidate ends up in the reservoir with the same probability.
    """
    place = index if index < size else int(rng.integers(index + 1))
    return place if place < size else None


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
    progress: Callable[[int, int], None],
    keep: Keep = keep_nothing,
) -> tuple[list[Inputs], list[Inputs]]:
    """Return inputs for calibration, and inputs of other games for validation, by boards: about `positions` in all.

    `progress` is called with the number of games that have ended, and the number of all games.  `keep` keeps the inputs
    of each board size.
    """
    for_calibration: list[Inputs] = []
    held_out: list[Inputs] = []
    boards = boards_of(info.sizes)
    counts = [max(HELD_OUT, round(positions * share / PER_GAME)) for share in boards.values()]
    for place, (board, games) in enumerate(zip(boards, counts, strict=True)):

        def play(place: int = place, board: tuple[int, int] = board, games: int = games) -> Arrays:
            rng, before = np.random.default_rng((seed, place)), sum(counts[:place])
            sample, numbers = sample_games(
                evaluator, board, games=games, rng=rng, progress=lambda ended: progress(before + ended, sum(counts))
            )
            order = rng.permutation(len(numbers))
            inputs = encode_sample(take_rows(sample, order), info, rng)
            return {"planes": inputs.spatial, "globals": inputs.globals_, "games": numbers[order]}

        kept = keep("games-{}x{}".format(*board), play)
        is_held_out = kept["games"] % HELD_OUT == HELD_OUT - 1
        for target, chosen in ((for_calibration, ~is_held_out), (held_out, is_held_out)):
            target.append(Inputs(kept["planes"][chosen], kept["globals"][chosen]))
    return for_calibration, held_out


def encode_sample(sample: Positions, info: NetworkInfo, rng: np.random.Generator) -> Inputs:
    """Return the network's inputs for all positions of a sample, each in a random symmetry and for a random rank."""
    (width, height), count = board_size(sample), len(sample.key)
    encoder = new_encoder(info.encoder, width, height, suicide_area=info.suicide_area)
    symmetries = rng.integers(symmetry_count(width, height), size=count).astype(np.int32)
    if info.needs_profile:
        ranks = rng.integers(1, DAN_RANKS + KYU_RANKS + 1, size=count)
        codes = [HumanProfile("rank", rank, rank).code for rank in ranks.tolist()]
        sample.conditions[:count, Conditions._fields.index("human_profile")] = codes
    return encoder.encode(sample, range(count), symmetries)
