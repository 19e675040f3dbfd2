"""Moves that cost something because they have been played before; numbers by hand."""

import json
import os
from pathlib import Path

import pytest
from board_helpers import play_moves, shape
from fake_evaluators import FakeEvaluator

from gtp_engine import Config, ConfigError, Engine, Game, Move, parse_vertex
from gtp_engine.config.katago import with_start_settings
from gtp_engine.config.sections import VarietyConfig
from gtp_engine.engine.variety import Variety, move_key
from gtp_engine.go.constants import BLACK, PASS, WHITE

SIZE = 9


def played(moves: str = "", size: int = SIZE) -> Game:
    return play_moves(Game(size), moves)


def point(vertex: str) -> int:
    return parse_vertex(vertex, width=SIZE, height=SIZE)


def costs(variety: Variety, game: Game) -> dict[str, float]:
    """Return what moves cost Black's utility, where they do."""
    bonus = variety.bonus_black(game, game.to_play)
    return {game.vertex(int(p)): round(float(bonus[p]), 9) for p in bonus.nonzero()[0]}


def record(path: Path, moves: str, *, black: str = "a", white: str = "b", age: float = 0.0) -> None:
    game = played(moves)
    path.write_text(game.to_sgf(black_name=black, white_name=white), "utf-8")
    os.utime(path, (1e9 - age, 1e9 - age))


@pytest.mark.parametrize("vertex", ["C7", "G7", "C3", "G3"])
def test_a_mirrored_move_and_one_with_colours_exchanged_are_the_same(vertex: str) -> None:
    """On an empty board C3's images are four; White's move where colours are exchanged is one too."""
    key = move_key(played(), Move(BLACK, point("C3")))
    assert move_key(played(), Move(BLACK, point(vertex))) == key
    assert move_key(played(), Move(WHITE, point(vertex))) == key
    assert move_key(played(), Move(BLACK, point("C4"))) != key
    assert move_key(played("", 13), Move(BLACK, parse_vertex("C3", width=13, height=13))) != key
    wide = [
        move_key(Game(9, 6), Move(BLACK, parse_vertex(each, width=9, height=6))) for each in ("C2", "C5", "G2", "B3")
    ]
    assert wide[0] == wide[1] == wide[2] != wide[3]


def test_stones_beyond_four_points_do_not_matter_and_an_atari_does() -> None:
    here = Move(WHITE, point("C3"))
    assert move_key(played("H8"), here) == move_key(played("J9"), here)
    assert move_key(played("G7"), here) != move_key(played("H8"), here)
    touched = "B2 A2 pass B1"  # the black stone has two liberties; a white stone on C2 as well leaves one
    assert move_key(played(f"{touched} pass J9 pass"), here) != move_key(played(f"{touched} pass C2 pass"), here)


def test_a_capture_in_a_ko_and_a_pass_never_count() -> None:
    assert move_key(played(), Move(BLACK, PASS)) is None
    corner = parse_vertex("A7", width=7, height=7)
    for text, counts in (("XO / XO", False), ("XO / OO", True), ("XO / .O", True), ("XXO / XOO", True)):
        rows = (f"{row:.<7}" for row in f".{text}".split(" / "))
        key = move_key(shape(" / ".join(map(" ".join, rows))), Move(WHITE, corner))
        assert (key is not None) == counts, "in a ko one stone is captured by one without liberties"


def test_the_same_joseki_elsewhere_costs_its_utility() -> None:
    """Black has played C3 in an empty corner; the other empty corners' star points cost 0.01, once each."""
    variety = Variety(VarietyConfig(avoid_repeated_patterns=0.01), print)
    assert variety.is_on and not Variety(VarietyConfig(), print).is_on
    assert costs(Variety(VarietyConfig(avoid_repeated_patterns=0.01), print), played("C3 pass")) == {}
    large = play_moves(Game(19), "D4 K10")
    bonus = variety.bonus_black(large, BLACK)
    assert bonus is not None
    assert {large.vertex(int(p)): float(bonus[p]) for p in bonus.nonzero()[0]} == {
        "Q4": -0.01,
        "D16": -0.01,
        "Q16": -0.01,
    }
    assert costs(variety, play_moves(large, "pass")) == {}, "they are Black's"


def test_records_cost_by_their_age(tmp_path: Path) -> None:
    """Two records begin with C3, one with C4, half as much for each older one: 0.1 + 0.05, and 0.025."""
    record(tmp_path / "new.sgf", "C3")
    record(tmp_path / "older.sgf", "G7", age=10)
    record(tmp_path / "oldest.sgf", "C4", age=20)
    config = VarietyConfig(avoid_sgf=str(tmp_path), avoid_sgf_utility=0.1, avoid_sgf_lambda=0.5)
    found = costs(Variety(config, print), played())
    assert {vertex: found[vertex] for vertex in ("C3", "C7", "C4", "D3")} == {
        "C3": -0.15, "C7": -0.15, "C4": -0.025, "D3": -0.025
    }  # fmt: skip
    white = Variety(config, print).bonus_black(played(), WHITE)
    assert white is not None and white[point("C3")] == pytest.approx(0.15)
    newest = VarietyConfig(avoid_sgf=str(tmp_path), avoid_sgf_files=1)
    assert set(costs(Variety(newest, print), played())) == {"C3", "C7", "G3", "G7"}


def test_records_count_by_names_numbers_and_comments(tmp_path: Path) -> None:
    record(tmp_path / "a.sgf", "C3 G7 G3", black="bot")
    second = played("C3")
    by_white = VarietyConfig(avoid_sgf=f"{tmp_path / 'a.sgf'}, {tmp_path}", avoid_sgf_names="c, b")
    assert set(costs(Variety(by_white, print), second)) == {"G7"}  # and not by Black, who was the bot
    assert costs(Variety(by_white, print), played()) == {}
    late = VarietyConfig(avoid_sgf=str(tmp_path), avoid_sgf_min_turn=2)
    assert costs(Variety(late, print), played()) == {} != costs(Variety(late, print), second)
    for moves, counted in ("B[cc]C[%SKIP% this];W[gg]", False), ("B[cc];W[cc]", True):  # W[cc] cannot be played
        (tmp_path / "a.sgf").write_text(f"(;SZ[9];{moves})")
        assert bool(costs(Variety(VarietyConfig(avoid_sgf=str(tmp_path)), print), played())) is counted


def test_records_that_are_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a folder or a record"):
        Variety(VarietyConfig(avoid_sgf=str(tmp_path / "none")), print)
    (tmp_path / "a.sgf").write_text("nonsense")
    lines: list[str] = []
    assert not Variety(VarietyConfig(avoid_sgf=str(tmp_path)), lines.append).is_on
    assert "a.sgf" in lines[0]


class TestFolder:
    """Moves that the engine keeps."""

    def test_moves_cost_in_the_next_game(self, tmp_path: Path) -> None:
        """The last move costs 0.1, the one before it 0.05."""
        config = VarietyConfig(avoid_repeats=str(tmp_path), avoid_repeats_utility=0.1, avoid_repeats_lambda=0.5)
        variety, game = Variety(config, print), played()
        assert costs(variety, game) == {}
        for _ in ("once", "again"):  # counts once
            variety.record(game, Move(BLACK, point("C3")))
        play_moves(game, "C3 G7")
        variety.record(game, Move(BLACK, point("G3")))
        game.play("G3")
        assert costs(variety, game) == {}  # not in the game itself
        assert costs(variety, played())["C7"] == -0.05
        assert costs(Variety(config, print), played("C3 G7"))["G3"] == -0.1
        wide = play_moves(Game(9, 5), "B2 H4")
        variety.record(wide, Move(BLACK, wide.point("C2")))
        assert costs(Variety(config, print), wide)["C2"] == -0.1

    def test_the_lines_are_katagos(self, tmp_path: Path) -> None:
        variety = Variety(VarietyConfig(avoid_repeats=str(tmp_path)), print)
        variety.record(played("C3"), Move(WHITE, point("D4")))
        (file,) = (tmp_path / "9x9").glob("*_poses.txt")
        assert json.loads(file.read_text()) == {
            "board": "........./" * 6 + "..X....../" + "........./" * 2,
            "hintLoc": "D4",
            "initialTurnNumber": 1,
            "moveLocs": [],
            "movePlas": [],
            "nextPla": "W",
            "weight": 1.0,
            "xSize": 9,
            "ySize": 9,
        }

    def test_turns_files_and_old_files(self, tmp_path: Path) -> None:
        """Moves after the last turn are not kept; files beyond the most moves are deleted, others are left alone."""
        config = VarietyConfig(
            avoid_repeats=str(tmp_path), avoid_repeats_max_turn=0, avoid_repeats_chunk=2, avoid_repeats_most=4
        )
        variety = Variety(config, print)
        for number, vertex in enumerate(("D3", "C3", "D4", "C4", "D5", "C5")):
            variety.record(played(), Move(BLACK, point(vertex)))
            for file in (tmp_path / "9x9").glob("*_poses.txt"):
                os.utime(file, (1e9 + number, 1e9 + number)) if vertex in file.read_text() else None
        variety.record(played("C3"), Move(BLACK, point("E5")))
        variety.record(played(), Move(BLACK, PASS))
        (tmp_path / "9x9" / "notes.txt").write_text("mine")
        assert len(list((tmp_path / "9x9").glob("*_poses.txt"))) == 3
        assert set(costs(variety, played())) >= {"C4", "C5"}
        assert len(list((tmp_path / "9x9").iterdir())) == 3

    @pytest.mark.parametrize("line", ["", "nonsense", "{}", '{"moveLocs": [], "initialTurnNumber": 0, "xSize": 99}'])
    def test_lines_of_other_kinds_are_passed_over(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "9x9").mkdir()
        (tmp_path / "9x9" / "a_poses.txt").write_text(f"{line}\n")
        assert costs(Variety(VarietyConfig(avoid_repeats=str(tmp_path)), print), played()) == {}

    def test_an_engine_plays_otherwise_in_the_next_game(self, tmp_path: Path) -> None:
        values = {"variety.avoid_repeats": str(tmp_path), "variety.avoid_repeats_utility": 3.0}
        values |= {"search.visits": 100, "search.seed": 1, "game.board_size": 7}
        with Engine(Config().with_values(values), evaluator=FakeEvaluator()) as engine:
            first = engine.genmove().point
            key = move_key(Game(7), Move(BLACK, first))
            engine.clear_board()
            second = engine.genmove().point
            assert move_key(Game(7), Move(BLACK, second)) != key
            with pytest.raises(ConfigError, match="start the engine with it"):
                engine.configure({"variety.avoid_repeats": "/elsewhere"})
            engine.configure({"variety.avoid_repeats_utility": 0.0})
            engine.clear_board()
            engine.clear_cache()
            assert move_key(Game(7), Move(BLACK, engine.genmove().point)) == key


def test_katagos_settings() -> None:
    settings = {"autoAvoidRepeatDir": "d", "avoidSgfPatternUtility": "0.002", "avoidRepeatedPatternUtility": "0.005"}
    config, lines = with_start_settings(Config(), settings | {"avoidSgf2PatternDirs": "e"}, for_gtp=True)
    assert config.variety.avoid_repeats == "d"
    assert (config.variety.avoid_sgf_utility, config.variety.avoid_repeated_patterns) == (0.002, 0.005)
    assert "avoidSgf2PatternDirs (--avoid-sgf, which takes several folders)" in lines[0]
