"""The rollout search as a whole: it repeats itself exactly, keeps its tree, obeys the rules and finds vital moves."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from board_helpers import score_area
from busy_machine import bound
from puct_support import PLAYED_OUT, game_from, moves_at, visits_of
from signatures import ROLLOUTS_FILE, rollouts_signature
from superko_games import game_with_superko

from gtp_engine import CancelToken, Config, Game, Rules, parse_vertex
from gtp_engine.compiled.jit import KernelCall, interpret_until_loaded
from gtp_engine.config import SearchConfig
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import view_storage
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.search.limits import Limits, Progress, Restriction, RootPosition, SearchRequest
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.reusable_rollout_tree import RolloutBuffers
from gtp_engine.search.rollouts.rollout import count_area, play_out
from gtp_engine.search.rollouts.rollout_search import RolloutSearch, kernel_position
from gtp_engine.search.rollouts.rollout_select import evaluate_leaves, select_leaves
from gtp_engine.search.rollouts.rollout_tree import new_tree


def config(**values: object) -> SearchConfig:
    texts = {f"search.{name}": str(value) for name, value in {"seed": 1, "threads": 2, **values}.items()}
    return Config().with_values(texts).search


def search(game: Game, visits: int = 400, to_play: int | None = None, **values: object) -> SearchReport:
    with contextlib.closing(RolloutSearch(config(**values))) as searcher:
        return searcher.run(game, Limits(visits), to_play=to_play)


@pytest.mark.parametrize("algorithm", ["rave", "uct"])
def test_a_search_with_a_seed_repeats_itself_with_any_number_of_threads(algorithm: str) -> None:
    reports = [search(Game(9), 333, search=algorithm, threads=threads) for threads in (1, 2, 3, 2)]
    assert len({tuple(visits_of(report)) for report in reports}) == 1
    assert reports[0].visits == reports[0].playouts == sum(move.weight for move in reports[0].moves) == 333
    assert all(np.array_equal(reports[0].ownership_black, report.ownership_black) for report in reports)
    assert visits_of(search(Game(9), 333, search=algorithm, seed=2)) != visits_of(reports[0])


def test_bounds_lie_below_the_winrates_and_close_in_with_visits() -> None:
    gaps = [move.seen_by(BLACK).winrate - move.lcb for move in search(Game(9), 333).moves]
    assert gaps[-1] > gaps[0] > 0.0


def test_the_signature_of_the_search_is_the_one_on_file() -> None:
    """A commit that changes it states this and the reason; `scripts/update_signatures` writes the file."""
    assert rollouts_signature() == ROLLOUTS_FILE.read_text(encoding="utf-8").strip()


def test_cancelling_from_another_thread_ends_a_search_without_other_limits_at_once() -> None:
    searcher, token = RolloutSearch(config()), CancelToken()
    searcher.run(Game(9), Limits(100))
    timer, start = threading.Timer(0.3, token.cancel), time.perf_counter()
    timer.start()
    report = searcher.run(Game(9), Limits(cancel=token))
    elapsed = time.perf_counter() - start
    timer.join()
    assert report.playouts > 0
    assert 0.25 < elapsed < bound(10.0)
    assert searcher.run(Game(9), Limits(cancel=token)).playouts <= config().batch, "it stays cancelled"
    searcher.close()


def test_a_search_needs_an_end() -> None:
    with pytest.raises(ValueError, match="none was given"):
        Limits()


def test_memory_stays_under_its_cap() -> None:
    report = search(Game(19), 4000, max_memory=16, expand_visits=1, rollout_policy="uniform", batch=64)
    assert report.memory <= 17
    assert report.visits == 4000


TWO_GROUPS_AGAINST_ONE = """
    . X . X O X . X .
    X X X X O X X X X
    O O O O O O O O O
    . O . O O O O O O
"""
"""Black has 16 points, White 20; under group tax Black's two groups pay four, White's pays two."""


@pytest.mark.parametrize("color", [BLACK, WHITE], ids=["black", "white"])
def test_where_points_are_even_the_button_decides(color: int) -> None:
    """The side that passes first wins by half a point; the search would call it a draw without the button."""
    report = search(game_from(PLAYED_OUT, color, "aga-button", komi=-5.0), 400)
    assert report.best_point == PASS
    assert report.winrate > 0.9 and report.lead_black == (0.5 if color == BLACK else -0.5)
    game = game_from(PLAYED_OUT, color, "aga-button", komi=-5.0)
    game.play(PASS)
    assert search(game, 400).winrate < 0.1
    without = search(game_from(PLAYED_OUT, color, "aga", komi=-5.0), 400)
    assert (without.winrate, without.lead_black) == (pytest.approx(0.5, abs=0.05), 0.0)


def test_a_pass_after_a_pass_ends_the_game() -> None:
    game = game_from(PLAYED_OUT, BLACK)
    game.play(PASS)
    best = search(game).moves[0]
    assert best.visits > 100 and best.pv == (PASS,)
    game.play(PASS)
    assert game.is_over and search(game).moves[0].visits > 100, "it may go on nevertheless"


def test_after_the_pass_that_takes_the_button_positions_may_recur_in_a_search() -> None:
    game, banned = game_with_superko('{"hasButton": true, "suicide": false}', is_button_free=True)
    assert game.has_free_button
    points = frozenset(board_points(3, 3))
    passes_first = tuple(Restriction(color, points, 2) for color in (BLACK, WHITE))
    with contextlib.closing(RolloutSearch(config(expand_visits=1))) as searcher:
        searcher.run(game, SearchRequest(Limits(1000), restrictions=passes_first))
        assert set(banned) <= moves_at(searcher, 2)


@pytest.mark.parametrize(("rules", "margin"), [("stone-scoring", -1), ("tromp-taylor", 1), ("ancient-territory", -1)])
def test_the_group_tax_decides_who_wins(rules: str, margin: int) -> None:
    game = game_from(TWO_GROUPS_AGAINST_ONE, BLACK, rules, komi=-5.0)
    game.komi -= game.area_komi - game.komi  # under territory rules, the stones that Black has placed more
    report = search(game, 400)
    assert (report.value_black > 0.9) is (margin > 0)
    assert (report.value_black < -0.9) is (margin < 0)
    assert report.lead_black == margin


RULES_SCORED = ("stone-scoring", "aga-button", "ancient-territory", "japanese", "tromp-taylor")


@pytest.fixture
def interpreted() -> Iterator[Callable[[], None]]:
    """Return what lets kernels be interpreted from now on: those that no game calls take long to compile."""
    heard: list[KernelCall] = []
    yield lambda: interpret_until_loaded(heard.append)
    interpret_until_loaded(None)
    assert heard, "of the kernels called from now on, whatever was heard before"


@pytest.mark.parametrize(("reward", "won"), [("result", 1.0), ("margin", 0.0)])
@pytest.mark.parametrize("rules", RULES_SCORED)
def test_rollouts_are_scored_by_the_rules(rules: str, reward: str, won: float, interpreted: Callable[[], None]) -> None:
    """The value of each leaf is the score of the position at the end of its rollout, which is played here once more."""
    game, batch = Game(7, rules=Rules.parse(rules), komi=6.5), 20
    buffers = RolloutBuffers((7, 7), batch=batch, threads=1, seed=1)
    settings, work = config(margin_weight=1, expand_visits=1, reward=reward), buffers.works[0]
    position, leaves = kernel_position(RootPosition(game, BLACK), settings), buffers.leaves
    select_leaves(new_tree(100_000), position, leaves, batch, work.rollout)
    n, storage, hashes, states = game.board.color.size, leaves.storage.copy(), leaves.hash.copy(), leaves.rng.copy()
    evaluate_leaves(position, leaves, 0, batch, work)
    assert work.rollouts.tolist() == [batch]
    interpreted()
    compared = 0
    for row in range(batch):
        board, first_player = view_storage(storage[row], hashes[row], n), np.zeros(n, dtype=np.int8)
        color, last = int(leaves.color[row]), int(leaves.last[row])
        play_out(board, color, last, position.params.policy, work.rollout, states[row], first_player, 0)
        scratch = np.zeros((3, n), dtype=np.int32)
        if area_margin(board, scratch[0], scratch[1]) != count_area(board, scratch[2]):
            continue  # a larger empty area is left, which rollouts count by its neighbours
        score = score_area(board, game.rules)
        margin = score[BLACK] - score[WHITE] - game.komi
        if game.has_free_button:
            margin += 0.5 if first_player[PASS] == BLACK else -0.5
        assert leaves.value[row] == pytest.approx(won * np.sign(margin) + np.clip(margin / 49, -1, 1))
        compared += 1
    assert compared > batch / 2


def test_uniform_rollouts_without_priors_are_a_plain_uct() -> None:
    report = search(Game(7), 2000, search="uct", rollout_policy="uniform", prior_weight=0, expand_visits=1)
    assert report.visits == 2000
    assert len(report.moves) == 50  # with nothing known, every move and the pass is tried
    tactical = search(Game(7), 2000, search="uct", rollout_policy="tactical", prior_weight=0, expand_visits=1)
    assert [move.value_black for move in tactical.moves] != [move.value_black for move in report.moves]


# --- moves left out


def test_the_only_move_left_is_taken() -> None:
    point = parse_vertex("A1", width=5, height=5)
    others = frozenset({*range(1, 43)} - {point})
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return True

    limits = SearchRequest(Limits(watcher=watch), restrictions=(Restriction(BLACK, others),))
    with contextlib.closing(RolloutSearch(config())) as searcher:
        report = searcher.run(Game(5), limits)
    assert [move.point for move in report.moves] == [point]
    assert seen[0].choices == 1
