"""How a level draws its move."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from board_helpers import game_from, play_moves, shape
from level.test_blunders import ATARI
from numpy.typing import NDArray

from gtp_engine import Game, Move, parse_vertex
from gtp_engine.engine.level_drawing import Found, choose_move, found_at
from gtp_engine.engine.level_table import LevelSettings
from gtp_engine.evaluation.positions import new_evaluation
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.search.puct.tree_report import raw_evaluation
from gtp_engine.search.report import RawEvaluation

BEST, GOOD, BAD = (parse_vertex(vertex, width=7, height=7) for vertex in ("D4", "C3", "A1"))
ELSEWHERE, OTHER, EXTENSION = (parse_vertex(vertex, width=7, height=7) for vertex in ("G1", "G7", "E5"))
EXACT = LevelSettings(20, 0.1, 5.0)


def policy_of(probabilities: dict[int, float]) -> NDArray[np.float32]:
    policy = np.zeros(Game(7, 7).board.color.size, dtype=np.float32)
    policy[list(probabilities)] = list(probabilities.values())
    return policy


def found(**changes: object) -> Found:
    facts = {"best": BEST, "policy": policy_of({BEST: 0.5, GOOD: 0.3, BAD: 0.2}), "lead_black": 5.0} | changes
    return Found(**{"people": facts["policy"], **facts})  # type: ignore[arg-type]


def chosen(game: Game, best: Found, lead: Callable[[Game], float], settings=EXACT, seed: int = 1, color=BLACK) -> int:
    """Return the move drawn where the network expects these leads after the moves that it is asked about."""
    question = choose_move(game, color, best, settings, np.random.default_rng(seed))
    try:
        after = next(question)
        while True:
            after = question.send(lead(after))
    except StopIteration as ended:
        return int(ended.value)


def draw(settings: LevelSettings, leads: dict[int, float], seed: int, color: int = BLACK, **changes: object) -> int:
    """Return the move drawn on the empty board where the network expects these leads after moves."""
    return chosen(Game(7, 7), found(**changes), lambda after: leads[after.moves[-1].point], settings, seed, color)


def drawn(settings: LevelSettings, leads: dict[int, float], **changes: object) -> set[int]:
    return {draw(settings, leads, seed, **changes) for seed in range(30)}  # type: ignore[arg-type]


def test_a_loss_is_overlooked_less_often_the_larger_it_is():
    """With e^(-x / tolerance): 0.61 for half the tolerance, 0.05 for three times as much."""
    moves = [draw(LevelSettings(20, 1.0, 4.0), {GOOD: 3.0, BAD: -7.0}, seed) for seed in range(600)]
    shares = [moves.count(move) / len(moves) for move in (BEST, GOOD, BAD)]
    accepted = 0.3 * 0.61, 0.2 * 0.05
    assert shares[1] == pytest.approx(accepted[0] / (0.5 + sum(accepted)), abs=0.06)
    assert shares[2] == pytest.approx(accepted[1] / (0.5 + sum(accepted)), abs=0.02)


UNLIKELY = policy_of({OTHER: 0.9, BEST: 0.05, GOOD: 0.0499, BAD: 0.0001})


@pytest.mark.parametrize(
    ("temperature", "tolerance", "leads", "changes", "expected"),
    [
        (1.0, 1e6, {GOOD: 3.0, BAD: -20.0}, {}, {BEST, GOOD, BAD}),  # any loss
        (1.0, 0.1, {GOOD: 4.9, BAD: 30.0}, {"color": WHITE}, {BEST, GOOD}),  # of the side to play
        (1.0, 1e6, {OTHER: 4.0, GOOD: 5.0}, {"people": policy_of({OTHER: 0.7, GOOD: 0.3})}, {OTHER, GOOD}),
        (10.0, 30.0, {GOOD: 5.0, BAD: 5.0}, {"policy": UNLIKELY, "excluded": frozenset({OTHER})}, {BEST, GOOD}),
        (1.0, 30.0, {GOOD: 5.0}, {"excluded": frozenset({BAD})}, {BEST, GOOD}),  # not a useless one
        (1.0, 30.0, {}, {"best": PASS}, {PASS}),
    ],
)
def test_what_is_drawn(
    temperature: float, tolerance: float, leads: dict[int, float], changes: dict[str, Any], expected: set[int]
):
    assert drawn(LevelSettings(20, temperature, tolerance), leads, **changes) == expected


def test_strong_levels_vary_in_the_opening_only():
    """As people do, whose first eight moves are hardly ever the same."""
    strong = LevelSettings(1, 0.05, 1e6)
    assert drawn(strong, {GOOD: 5.0, BAD: 5.0}) == {BEST, GOOD, BAD}
    for height, ask in ((7, lambda after: pytest.fail()), (12, lambda after: 5.0)):
        later = play_moves(Game(7, height), "F6 F2 E6")
        moves = {chosen(later, found(best=int(BEST)), ask, strong, seed, WHITE) for seed in range(20)}
        assert moves == ({BEST} if height == 7 else {BEST, GOOD, BAD})


def answer_to_atari(*, after_capture: float, after_extension: float, **changes: object) -> int:
    """Return the move drawn where the best one, G1, leaves the stones in atari."""
    best, capture = found(best=ELSEWHERE, policy=policy_of({ELSEWHERE: 1.0}), **changes), Move(WHITE, EXTENSION)
    return chosen(shape(ATARI), best, lambda after: after_capture if after.last_move == capture else after_extension)


def test_the_best_move_is_refused_if_the_stones_that_it_leaves_in_atari_are_worth_more():
    assert answer_to_atari(after_capture=-10.0, after_extension=5.0) == EXTENSION
    assert answer_to_atari(after_capture=-10.0, after_extension=5.0, excluded=frozenset({EXTENSION})) == ELSEWHERE
    assert answer_to_atari(after_capture=5.0, after_extension=4.0) == ELSEWHERE, "given up for something larger"


def test_of_moves_that_all_give_the_stones_up_the_one_that_loses_least_is_played():
    def of_two(*, other_after_move: float, other_after_capture: float) -> int:
        def lead(after: Game) -> float:
            other = other_after_capture if after.last_move == Move(WHITE, EXTENSION) else other_after_move
            return other if after.board.color[OTHER] == BLACK else -9.0

        best = found(best=ELSEWHERE, policy=policy_of({ELSEWHERE: 0.6, OTHER: 0.4}))
        return chosen(shape(ATARI), best, lead)

    assert of_two(other_after_move=4.0, other_after_capture=4.0) == OTHER
    assert of_two(other_after_move=4.0, other_after_capture=-20.0) == ELSEWHERE
    assert of_two(other_after_move=-20.0, other_after_capture=4.0) == ELSEWHERE, "the capture is not the best answer"


LADDER = ". . . . . . . / . . O . . . . / . O X O . . . / . O . . . . ."
"""A black stone is in atari; extending to C4 runs into a ladder."""


def test_a_ladder_run_is_refused_if_another_move_is_clearly_better():
    run = parse_vertex("C4", width=7, height=7)
    best = found(best=run, policy=policy_of({run: 0.6, ELSEWHERE: 0.4}))
    for after_run, expected in ((-10.0, ELSEWHERE), (2.0, run)):
        lead = {Move(BLACK, run): after_run}.get
        assert chosen(shape(LADDER), best, lambda after, lead=lead: lead(after.last_move, 3.0)) == expected


CORNER = parse_vertex("A1", width=7, height=7)


def raw_with(**policy: float) -> RawEvaluation:
    """Return an evaluation with probabilities of some moves; `PASS` is the pass."""
    evaluation = new_evaluation(1, 7, 7)
    evaluation.policy[0] = 0.0
    for vertex, probability in policy.items():
        point = PASS if vertex == "PASS" else parse_vertex(vertex, width=7, height=7)
        evaluation.policy[0, point] = probability
    return raw_evaluation(evaluation, 0, has_score=True)


def test_moves_are_those_of_the_side_that_plays_even_out_of_turn():
    """A1 is an eye of Black's, suicide for White, who is to play."""
    game, raw = Game(7, 7), raw_with(A1=1.0)
    game.set_up([(BLACK, "A2"), (BLACK, "B1")], WHITE)
    assert found_at(game, BLACK, raw, raw.policy).best == CORNER


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_a_pass_is_not_the_best_move_early_in_the_game(color: int):
    raw = raw_with(PASS=0.9, A1=0.1)
    assert found_at(Game(7, 7), color, raw, raw.policy).best == CORNER


def test_a_move_that_changes_nothing_is_left_out_late_in_the_game():
    game = game_from(". X X X O O .\n" + 5 * "X X X X O O O\n" + ". X X X O O .")
    raw = replace(raw_with(A7=0.9, PASS=0.1), ownership_black=np.where(game.board.color < 3, 1, 0).astype(np.float32))
    found = found_at(game, BLACK, raw, raw.policy)
    assert found.best == PASS and game.point("A7") in found.excluded and PASS not in found.excluded
