"""The rank that moves look like: the fit, its intervals, what the moves of a game tell, and games that tell nothing."""

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from fake_evaluators import FakeEvaluator, RecordingEvaluator, UniformEvaluator, evaluated

from gtp_engine import Game, ModelError, TengenError
from gtp_engine.base import languages
from gtp_engine.cli import cli
from gtp_engine.config.human import HumanProfile, rank_number
from gtp_engine.engine.level_table import table_path
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.nn.named_networks import model_path
from gtp_engine.people import rank_estimate
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import format_sgf, parse_sgf
from gtp_engine.training.people.human_data import group_of
from gtp_engine.training.people.rank_fit import MeasuredGame, accuracies, fit_table

NETWORKS = ("strong", "human")
_SLOPES = np.array([-0.1, -0.05, -0.3, 0.5, 0.6, 0.3, -0.4, -0.2, 0.0])


def invented(rank: int, rng: np.random.Generator, *, moves: int = 24, style: float = 0.05) -> rank_estimate.Numbers:
    """Return moves of a player of a rank: each column depends on it, and varies by player and by move."""
    of_player = rng.normal(0, style, len(rank_estimate.COLUMNS))
    found = _SLOPES * rank / 10 + of_player + rng.normal(0, 0.6, (moves, len(rank_estimate.COLUMNS)))
    phase = np.arange(moves) * 3 // moves
    for i in range(3):
        found[phase != i, 3 + i] = np.nan
    return found


def invented_games(players: int, *, seed: int = 1) -> list[MeasuredGame]:
    rng = np.random.default_rng(seed)
    return [
        MeasuredGame(f"{rank} {number}", rank, invented(rank, rng))
        for number in range(players)
        for rank in range(rank_estimate.BEST, rank_estimate.WORST + 1)
        for _ in range(2)
    ]


@pytest.fixture(scope="module")
def games() -> list[MeasuredGame]:
    return invented_games(34)


@pytest.fixture(scope="module")
def table(games: list[MeasuredGame]) -> rank_estimate.RankTable:
    return fit_table(games, NETWORKS)


def test_the_fit_finds_how_moves_depend_on_the_rank(table: rank_estimate.RankTable) -> None:
    ranks = np.arange(rank_estimate.BEST, rank_estimate.WORST + 1)
    powers = (ranks[:, None] / 10) ** np.arange(3)
    np.testing.assert_allclose(powers @ table.means.T, ranks[:, None] / 10 * _SLOPES, atol=0.12)
    np.testing.assert_allclose(np.diag(table.of_move)[:3], 0.36, rtol=0.15)


def test_intervals_hold_the_ranks_of_other_players(table: rank_estimate.RankTable) -> None:
    found = [(game.rank, rank_estimate.estimate(table, [game.moves])) for game in invented_games(20, seed=2)]
    assert 0.85 <= np.mean([each.high <= rank <= each.low for rank, each in found]) <= 0.95
    assert np.mean([abs(each.rank - rank) for rank, each in found]) < 3


@pytest.mark.parametrize("posterior", [[0.04, 0.03, 0.86, 0.04, 0.03], [0.03, 0.04, 0.86, 0.03, 0.04]])
def test_less_than_a_twentieth_is_left_out_at_each_end(posterior: list[float]) -> None:
    assert rank_estimate.interval_of(np.array(posterior)) == (rank_estimate.BEST + 3, rank_estimate.BEST + 1)


def test_more_moves_and_more_games_narrow_the_interval(table: rank_estimate.RankTable) -> None:
    rng = np.random.default_rng(3)
    rows = [[invented(7, rng, moves=120, style=0.0) for _ in range(10)] for _ in range(20)]

    def width(take: int, moves: int) -> float:
        found = [rank_estimate.estimate(table, [game[:: 120 // moves] for game in row[:take]]) for row in rows]
        return float(np.mean([each.low - each.high for each in found]))

    assert width(1, 24) > width(1, 120) + 0.5 > width(10, 120) + 1


def test_accuracy_grows_with_the_number_of_games(games: list[MeasuredGame], table: rank_estimate.RankTable) -> None:
    found = accuracies(games, table)
    assert [each.games for each in found] == [1, 2, 5, 10, 20]
    rights = [each.within_one for each in found]
    assert rights == sorted(rights) and rights[-1] > rights[0] + 0.2
    assert found[-1].mean_error < found[0].mean_error
    assert str(found[0]).count("|") == 6


def test_half_a_game_has_an_estimate_from_what_there_is(table: rank_estimate.RankTable) -> None:
    moves = invented(5, np.random.default_rng(4), moves=90)[: rank_estimate.LEAST_MOVES]
    assert np.isnan(moves[:, 4:6]).all(), "only the opening"
    whole = rank_estimate.estimate(table, [invented(5, np.random.default_rng(4), moves=90)])
    part = rank_estimate.estimate(table, [moves, moves[:0]])
    assert part.low - part.high >= whole.low - whole.high and (part.moves, part.games) == (rank_estimate.LEAST_MOVES, 1)


def test_an_interval_without_an_end_says_so() -> None:
    texts = {(14, 14, 14): "5k or weaker", (1, 1, 1): "9d or stronger", (13, 13, 13): "4k"}
    for ranks, text in (texts | {(12, 14, 10): "3k, between 5k or weaker and 1k"}).items():
        estimate = rank_estimate.RankEstimate(*ranks, 30, 1).to_json()
        assert rank_estimate.played_like_text("Ann", estimate) == f"Ann played like {text}."
    found = rank_estimate.RankEstimate(12, 14, 10, 30, 1).to_json()
    assert found == {
        "rank": "3k", "low": "5k", "high": "1k", "or_weaker": True, "or_stronger": False, "moves": 30, "games": 1
    }  # fmt: skip


def test_too_few_moves_have_no_rank(table: rank_estimate.RankTable) -> None:
    moves = invented(5, np.random.default_rng(5))[: rank_estimate.LEAST_MOVES - 1]
    with pytest.raises(TengenError, match="23 moves of a player: expected at least 24 to tell a rank"):
        rank_estimate.estimate(table, [moves])
    with pytest.raises(TengenError, match="0 moves"):
        rank_estimate.estimate(table, [])


def test_a_table_is_read_as_it_was_written(tmp_path: Path, table: rank_estimate.RankTable) -> None:
    path = table_path(tmp_path / "human-int8.onnx", "human", rank_estimate.RANKS_ENDING)
    assert path == tmp_path / "human.ranks.json" == table_path(tmp_path, "human", rank_estimate.RANKS_ENDING)
    rank_estimate.write_table(table, path)
    moves = [invented(9, np.random.default_rng(6))]
    assert rank_estimate.estimate(rank_estimate.read_rank_table(path), moves) == rank_estimate.estimate(table, moves)
    for text in ("", "{}", json.dumps(json.loads(path.read_text()) | {"of_move": [[1]]}), '{"format": 2}'):
        path.write_text(text)
        with pytest.raises(ModelError, match=r"rank table .* cannot be read"):
            rank_estimate.read_rank_table(path)


def test_groups_of_ranks() -> None:
    first = {"9d": "9d", "1d": "1d", "1k": "1k", "2k": "1k", "3k": "3k", "5k": "3k", "6k": "6k", "8k": "6k", "9k": "9k"}
    assert {name: group_of(rank_number(name)) for name in first} == {name: rank_number(first[name]) for name in first}


# Moves of a game


def played(count: int, *, seed: int = 1, size: int = 19) -> Game:
    rng = np.random.default_rng(seed)
    game = Game(size, size)
    while len(game.moves) < count:
        game.play(int(rng.choice(game.legal_points())))
    return game


def test_moves_between_equals_tell_nothing() -> None:
    measure = partial(rank_estimate.measured_moves, UniformEvaluator(), UniformEvaluator())
    assert not np.isnan(measure(played(60), WHITE, most=2)[1, 4]), "they are evenly chosen"
    assert np.isnan(measure(played(60), BLACK, most=100)[:, 3]).sum() == 5, "from move 51 on"
    assert np.isnan(measure(played(154), BLACK, most=100)[:, 5]).sum() == 75, "from move 151 on"
    looked = measure(played(60), WHITE, most=100)
    assert looked.shape == (30, len(rank_estimate.COLUMNS))
    np.testing.assert_allclose(looked[:, :2], 0, atol=1e-6)
    assert (looked[:, 2] < -5).all() and (looked[:25, 3] == 0).all() and (looked[25:, 4] == 0).all()
    assert np.isnan(looked[25:, 3]).all() and np.isnan(looked[:25, 4]).all() and np.isnan(looked[:, 5]).all()


def test_points_lost_are_the_movers_between_positions() -> None:
    """Compared with one evaluation of each position after the other."""
    game, strong = played(12), FakeEvaluator()
    for color in (BLACK, WHITE):
        looked = rank_estimate.measured_moves(strong, UniformEvaluator(), game, color, most=100)
        leads = [_lead(game, ply) for ply in range(len(game.moves) + 1)]
        sign = 1 if color == BLACK else -1
        lost = [
            np.log1p(np.clip(sign * (leads[ply] - leads[ply + 1]), 0, 30))
            for ply, move in enumerate(game.moves)
            if move.color == color
        ]
        np.testing.assert_allclose(looked[:, 3], lost, atol=1e-5)


def _lead(game: Game, count: int) -> float:
    before = game.copy()
    before.undo(len(game.moves) - count)
    return float(evaluated(FakeEvaluator(), before).lead_black[0])


def test_people_of_three_ranks_are_asked_about_the_same_positions() -> None:
    human = RecordingEvaluator()
    rank_estimate.measured_moves(UniformEvaluator(), human, played(50), BLACK, most=10)
    asked = [each.human_profile for each in human.conditions]
    assert asked == [HumanProfile("rank", rank, rank).code for rank in rank_estimate.PROFILES for _ in range(10)]


def record(text: str) -> bytes:
    return f"(;SZ[19]PB[Ann]PW[Bo]{text})".encode()


def moves_text(count: int) -> str:
    letters = "abcdefghijklmnopqrs"
    return "".join(f";{'BW'[i % 2]}[{letters[i % 19]}{letters[2 * (i // 19)]}]" for i in range(count))


MEASURE = partial(rank_estimate.measured_moves, UniformEvaluator(), UniformEvaluator(), most=60)

_UNLIKE = "unlike those of people from 9d to 5k: weaker or stronger, of a program, or not serious."


def test_a_report_names_players_and_what_was_left_out(table: rank_estimate.RankTable) -> None:
    records = [
        ("long", record(moves_text(60))), ("short", b"(;SZ[19]PB[Cy]PW[Bo];B[aa];W[bb])"),
        ("small", b"(;SZ[9]PB[Ann]PW[Bo];B[aa];W[bb])"), ("handicap", record("HA[2]AB[dd][pp];W[aa]")),
        ("handicap played", record("HA[2];B[dd];B[pp];W[aa]")),
    ]  # fmt: skip
    parsed = [(name, parse_sgf(text)) for name, text in records]
    rank = partial(rank_estimate.rank_players, MEASURE, table, parsed)
    report = rank(player=None)
    assert set(report.ranks) == {"Ann", "Bo"} and set(report.untold) == {"Cy"}
    assert (report.ranks["Ann"].moves, report.ranks["Bo"].moves, report.ranks["Bo"].games) == (30, 31, 2)
    assert set(report.left_out) == {"small", "handicap", "handicap played"}
    assert "expected one on 19x19" in report.left_out["small"] and "even game" in report.left_out["handicap"]
    text = report.to_text()
    assert "Ann played like " in text and "the Fox server" in text
    assert "Cy: no rank. 1 move of a player: expected at least 24 to tell a rank." in text
    assert [each["player"] for each in report.to_json()["players"]] == ["Ann", "Bo", "Cy"]

    alone = rank(player="Ann").to_json()
    assert alone["notes"] == ["Ann's moves are " + _UNLIKE] and alone["unlike_people"] is True
    known = "player rank low high or_weaker or_stronger moves games server left_out"
    assert set(alone) - {"notes", "unlike_people"} == {*known.split()}
    unknown = rank(player="Di").to_json()
    assert unknown["error"] == "no usable game of this player; the records name Ann, Bo, Cy"

    cancel, heard = CancelToken(), list[tuple[float, str]]()
    progress = lambda *at: heard.append(at) or cancel.cancel()  # type: ignore[func-returns-value]  # noqa: E731
    cancelled = rank(player=None, progress=progress, cancel=cancel)
    assert heard == [(0.0, "long")] and {*cancelled.ranks} == {"Ann", "Bo"}
    assert cancelled.left_out == dict.fromkeys(["short", "small", "handicap", "handicap played"], "cancelled")
    unread = rank_estimate.estimate_ranks({"none": b"(;SZ[77])", "two": b"(;SZ[88];B[aa])(;SZ[99];B[aa])"}).left_out
    assert [*unread] == ["none", "two, game 1", "two, game 2"] and "SZ[77]" in unread["none"]


def report_of(*texts: str, player: str | None = None) -> rank_estimate.RankReport:
    """Return a report by the table that ships, which is of the networks that ship."""
    name = "tengen-human"
    table = rank_estimate.read_rank_table(table_path(model_path(name), name, rank_estimate.RANKS_ENDING))
    assert table.networks == ("tengen-b10c128", "tengen-human")
    parsed = [(f"{number}.sgf", parse_sgf(f"(;SZ[19]{text})".encode())) for number, text in enumerate(texts, start=1)]
    return rank_estimate.rank_players(MEASURE, table, parsed, player=player)


def ranked(*texts: str, player: str | None = None) -> tuple[set[str], dict[str, str], list[str]]:
    """Return who has a rank or too few moves, why records were left out, and notes."""
    report = report_of(*texts, player=player)
    return {*report.ranks, *report.untold}, report.left_out, report.notes


LEFT_OUT = [
    ("PB[Ann]PW[Bo]HA[9]KM[0.5];W[dd];B[pp]", "handicap"),
    ("PB[Ann]PW[Bo]AB[dd][pp]KM[0.5];W[dp];B[pd]", "stones set up"),
    ("PB[Ann]PW[Bo]AB[dd]AW[pp];B[dp];W[pd]", "stones set up"),
    ("PB[Ann]PW[Bo];W[dp];B[pd]", "White begins"),
    ("PB[Ann]PW[Bo];B[dp];W[];B[pd];W[]", "a pass among the first 10 moves"),
    ("PB[Ann]PW[Bo];B[dp];W[pp];B[pd];B[dd]", "moves 3 and 4 are of one color"),
    ("PB[Ann]PW[Bo]KM[50];B[dp];W[pp]", "komi 50"),
    ("PB[Ann]PW[Bo]KM[-5.5];B[dp];W[pp]", "komi -5.5"),
    ("PB[Ann]PW[Ann];B[dp];W[pp]", "both players are called Ann"),
]


@pytest.mark.parametrize("language", [tag for tag in languages.LANGUAGES if tag != "en"])
def test_a_report_is_in_the_language_of_its_reader(language: str) -> None:
    twice, more = moves_text(20), moves_text(50)
    games = [*(text for text, _ in LEFT_OUT), twice, twice, f"PB[Gnugo]PW[Bo]{more};B[aa]", "PB[Black]PW[Bo];B[dp]"]
    report, unknown = report_of(*games), report_of(games[-1], player="Di")
    report.left_out |= rank_estimate.estimate_ranks({"two": b"(;SZ[77])(;GM[2];B[aa])", "no": b"hello"}).left_out
    languages.use(language)
    told = f"{report.to_text()}\n{unknown.to_text()}".replace("Ann", "").replace("Gnugo", "")
    assert {*re.findall("[A-Za-z]{3,}", told)} <= {"Fox", "SGF", "sgf", "two", "Black"}
    assert told.count("Black") == 2, "where it is a name"


@pytest.mark.parametrize(("text", "reason"), LEFT_OUT)
def test_records_that_tell_nothing_are_left_out(text: str, reason: str) -> None:
    players, left_out, _ = ranked(text)
    assert not players and reason in left_out["1.sgf"]


def test_even_games_without_komi_with_a_late_pass_or_of_unknown_rules_count() -> None:
    even = moves_text(30)
    for text in ("PB[Ann]PW[Bo]KM[0]HA[1]", "PB[Ann]PW[Bo]RU[Grandpa]KM[six]BR[?]WR[初段]", "PB[ Ann]PW[Bo ]KM[10]"):
        assert ranked(text + even + ";B[];W[ab]") == ({"Ann", "Bo"}, {}, [])


def test_the_same_game_counts_once() -> None:
    text = "PB[Ann]PW[Bo]" + moves_text(44)
    players, left_out, _ = ranked(text, text)
    assert players == {"Ann", "Bo"} and "the same moves as in 1.sgf" in left_out["2.sgf"]
    assert ranked(text, player="ANN ")[0] == {"Ann"}, "whatever the case of a name"


def test_the_nameless_of_several_records_are_several_people() -> None:
    assert ranked(moves_text(40))[0] == {"Black", "White"}
    several = ranked(moves_text(40), "PW[Bo]" + moves_text(42))[0]
    assert several == {"Black of 1.sgf", "White of 1.sgf", "Black of 2.sgf", "Bo"}


def test_a_record_that_breaks_off_says_where() -> None:
    _, _, notes = ranked("PB[Ann]PW[Bo]" + moves_text(38) + ";B[aa]")
    (note,) = notes
    assert note.startswith("Record 1.sgf: move 39 (black): illegal move: A19 is occupied")


@pytest.mark.parametrize(
    ("players", "programs"),
    [
        ("PB[GNU Go 3.8]PW[Bo]", {"GNU Go 3.8"}), ("PB[katago-b18]PW[LeelaZero]", {"katago-b18", "LeelaZero"}),
        ("PB[Ann]BR[bot]PW[tengenbot]", {"Ann", "tengenbot"}), ("PB[Ainoko]PW[Raymond]", set()),
        ("PB[绝艺]PW[AlphaGo Master]", {"绝艺", "AlphaGo Master"}), ("PB[Abbott]PW[Mai]WR[3d]", set()),
    ],
)  # fmt: skip
def test_programs_are_named(players: str, programs: set[str]) -> None:
    _, _, notes = ranked(players + moves_text(20), players.replace("BR[bot]", "") + moves_text(21))
    assert {note.split(" looks like a program")[0] for note in notes} == programs


def test_moves_unlike_those_of_people_say_so(table: rank_estimate.RankTable) -> None:
    rng = np.random.default_rng(7)
    like, unlike = invented(7, rng), invented(7, rng) + 5.0 * np.arange(len(rank_estimate.COLUMNS)) % 3
    assert "unlike_people" not in rank_estimate.estimate(table, [like]).to_json()
    assert rank_estimate.estimate(table, [unlike]).to_json()["unlike_people"] is True


def test_all_games_of_a_collection_count(tmp_path: Path) -> None:
    path = tmp_path / "two.sgf"
    games = [format_sgf(played(44, seed=seed), black_name="Ann", white_name="Bo") for seed in (1, 2)]
    path.write_text("(;GM[1]SZ[37];B[aa])\n".join(games), encoding="utf-8")
    result = CliRunner().invoke(cli, ["rank", str(path), "--moves", "12", "--player", "Ann", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["player"], found["low"], found["or_weaker"]) == ("Ann", "5k", True), "moves at random"
    assert (found["games"], found["moves"]) == (2, 24)
    assert list(found["left_out"]) == [f"{path}, game 2"], "one that cannot be read does not hide the others"
    assert CliRunner().invoke(cli, ["rank", str(path), "--player", "Cy"]).exit_code == 1
