"""The searches of a review: two passes, resumed where they were interrupted, with the same result."""

from pathlib import Path

import pytest
from puct_support import AreaEvaluator
from review.review_support import RECORD, analysis_of, review_of, silent, stopping_after

from gtp_engine import Config, Game, Rules
from gtp_engine.base.errors import ConfigError, SgfError
from gtp_engine.people.review import Candidate, Effort, Finding, GameAnalysis, SavedWork, game_analysis, read_game
from gtp_engine.people.review.game_analysis import SECOND_FACTOR, of_interest, seeded
from gtp_engine.people.review.game_line import GamePosition


@pytest.fixture(autouse=True)
def few_are_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a quarter of the positions be searched again in short games as well."""
    monkeypatch.setattr(game_analysis, "SECOND_LEAST", 1)


def test_every_position_is_searched_and_some_again() -> None:
    review = review_of(visits=8)
    visits = [finding.visits for finding in review.findings]
    assert len(visits) == 7
    assert sorted(visits) == [8] * 5 + [8 * SECOND_FACTOR] * 2
    assert [finding.number for finding in review.findings] == list(range(7))
    assert [finding.to_play for finding in review.findings] == list("BWBWBWB")


def interesting(leads: list[float], own: int | None = None, changed: int | None = None) -> list[int]:
    """Return which positions are searched again.

    The search would have played the move in position `own` only; the record changes position `changed`.
    """
    found = [Candidate(vertex, 8, 0.5, 0.0, 0.5, (vertex,)) for vertex in ("C3", "D4")]
    findings = [
        Finding(number, "BW"[number % 2], 8, 0.5, lead, "", (found[number == own],), ())
        for number, lead in enumerate(leads)
    ]
    game = Game(5)
    game.play("D4")
    before = [None, *range(7)]
    return of_interest(findings, [GamePosition(i, game, 1, i == changed, before=before[i]) for i in range(8)])


@pytest.mark.parametrize(
    ("leads", "options", "places"),
    [
        ([0.0, 0.5, 0.0, -20.0, -20.0, -20.0, -20.0, -20.0], {}, [2, 3]),
        ([0.0, 0.0, 0.0, 5.0, 5.0, 2.0, 2.0, 2.0], {}, [4, 5]),  # a gain of 5 with move 3 is less than a loss of 3
        ([0.0, 0.0, 1.0, 1.0, 1.0, -2.0, -2.0, -2.0], {}, [4, 5]),  # White loses 1 with move 2 and Black 3 with move 5
        ([0.0, 0.0, 1.0, 1.0, 1.0, -2.0, -2.0, -2.0], {"own": 4}, [1, 2]),
        ([0.0, 0.0, -3.0, -3.0, -3.0, 20.0, 20.0, 20.0], {}, [4, 5]),
        ([0.0, 0.0, -3.0, -3.0, -3.0, 20.0, 20.0, 20.0], {"changed": 5}, [1, 2]),
    ],
)
def test_positions_before_and_after_a_mistake_are_of_interest(
    leads: list[float], options: dict[str, int], places: list[int]
) -> None:
    """But less so of the search's own move, and not where the record changes the position."""
    assert interesting(leads, **options) == places


def test_in_short_games_most_positions_are_of_interest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_analysis, "SECOND_LEAST", 6)
    assert interesting([0.0, 0.5, 1.5, -20.0, -20.0, -20.0, -20.0, -20.0]) == [0, 1, 2, 3, 4, 5]


def test_progress_is_told_at_once_and_within_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review told nothing before it had searched 32 positions, which takes minutes with a slow network."""
    monkeypatch.setattr(game_analysis, "PROGRESS_INTERVAL", 0.0)
    told: list[tuple[float, str]] = []
    analysis = analysis_of(80, AreaEvaluator(delay=0.001))
    analysis.run(read_game(RECORD, rules=Rules()), SavedWork(None, ""), lambda *progress: told.append(progress))
    assert told == sorted(told) and (told[0], told[-1]) == ((0.0, "position 0/7"), (1.0, "second look 2/2"))
    assert {"position 3/7", "second look 1/2"} < {text for _, text in told}


@pytest.mark.parametrize("interruption", [2, 3, 4])
def test_an_interrupted_review_ends_with_the_same_numbers(
    interruption: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_analysis, "GROUP", 3)
    line = read_game(RECORD, rules=Rules())
    whole = analysis_of().run(line, SavedWork(None, ""), silent)
    part = tmp_path / "part"
    with pytest.raises(KeyboardInterrupt):
        analysis_of().run(line, SavedWork(part, "key"), stopping_after(interruption))
    evaluator = AreaEvaluator()
    assert analysis_of(evaluator=evaluator).run(line, SavedWork(part, "key"), silent) == whole
    fresh = AreaEvaluator()
    analysis_of(evaluator=fresh).run(line, SavedWork(None, ""), silent)
    assert sum(evaluator.asked) < sum(fresh.asked), "what was done is not searched again"


@pytest.mark.parametrize("kept", [100, -40])
def test_a_line_that_was_cut_off_is_searched_again(kept: int, tmp_path: Path) -> None:
    line, part = read_game(RECORD, rules=Rules()), tmp_path / "part"
    whole = analysis_of().run(line, SavedWork(part, "key"), silent)
    part.write_text(part.read_text()[:kept])
    assert analysis_of().run(line, SavedWork(part, "key"), silent) == whole
    evaluator = AreaEvaluator()
    assert analysis_of(evaluator=evaluator).run(line, SavedWork(part, "key"), silent) == whole
    assert evaluator.asked == [], "what was searched again is kept as well"


def test_work_of_another_record_is_not_used(tmp_path: Path) -> None:
    part = tmp_path / "part"
    SavedWork(part, "one").add(True, range(7), review_of().findings)
    assert SavedWork(part, "one").get(True, 0) is not None
    assert SavedWork(part, "two").get(True, 0) is None
    assert SavedWork(part, "one").get(True, 0) is None, "it was begun again"


def test_the_key_names_record_settings_and_network() -> None:
    line = read_game(RECORD, rules=Rules())
    key = analysis_of(8).key(RECORD, line)
    assert analysis_of(8).key(RECORD, line) == key
    assert analysis_of(9).key(RECORD, line) != key
    assert analysis_of(8).key(RECORD + b" ", line) != key
    assert analysis_of(8, AreaEvaluator(settings="another")).key(RECORD, line) != key


def test_time_for_a_game_is_kept_roughly() -> None:
    line = read_game(RECORD, rules=Rules())
    analysis = GameAnalysis(Config(), AreaEvaluator(delay=0.0005), Effort(total=0.2))
    findings = analysis.run(line, SavedWork(None, ""), silent)
    assert all(finding.visits >= 1 for finding in findings)
    assert max(finding.visits for finding in findings) < 2000


def test_a_review_needs_a_network_that_evaluates_the_score() -> None:
    with pytest.raises(ConfigError, match="without a network"):
        GameAnalysis(Config(), None, Effort())
    with pytest.raises(ConfigError, match="a review with network area: expected one that evaluates score"):
        GameAnalysis(Config(), AreaEvaluator(has_score=False), Effort())


@pytest.mark.parametrize("values", [{"visits": 8, "total": 60.0}, {"seconds": 0.0}, {"visits": -1}])
def test_efforts_that_make_no_sense_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Effort(**values)  # type: ignore[arg-type]


def test_small_boards_get_more_visits_in_the_same_time() -> None:
    visits = [Effort().first_visits(side * side) for side in (5, 9, 13, 19, 25)]
    assert visits == [357, 357, 171, 80, 80]
    assert read_game(b"(;SZ[5:9];B[cc])", rules=Rules()).points == 45
    assert Effort(visits=50).first_visits(81) == 50
    assert Effort(total=60.0).first_visits(81) is None
    passes = [Effort(**given).has_second_pass for given in ({}, {"visits": 9}, {"total": 9.0}, {"seconds": 9.0})]
    assert passes == [True, True, True, False]
    seeds = [seeded(Config().with_values({"search.seed": seed})).search.seed for seed in (None, 0, 7)]
    assert seeds == [1, 0, 7]
    findings = analysis_of(None).run(read_game(b"(;SZ[5];B[cc])", rules=Rules()), SavedWork(None, ""), silent)
    assert min(finding.visits for finding in findings) >= 357


def test_positions_have_the_rules_and_stones_of_the_record() -> None:
    data = b"(;SZ[9]KM[5.5]RU[Japanese]HA[2]AB[gc][cg];W[ee];B[gg];AE[gc]PL[B];B[ff])"
    line = read_game(data, rules=Rules())
    assert line.rules == Rules.parse("japanese")
    assert [position.to_play for position in line.positions] == [2, 1, 1, 2]
    stones = [sum(position.game.board.color == 1) for position in line.positions]
    assert (line.komi, stones) == (5.5, [2, 2, 2, 3])


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"(;SZ[9])", "no moves"), (b"(;GM[2];B[aa])", "another game"), (b"(;SZ[9]AB[aa];W[aa])", "move 1")],
)
def test_what_cannot_be_reviewed_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(SgfError, match=reason):
        read_game(data, rules=Rules())
