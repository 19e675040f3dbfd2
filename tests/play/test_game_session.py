"""Games of a person against the engine, without a user interface."""

import dataclasses
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from engine_positions import DEAD_STONE, set_up
from fake_evaluators import FakeEvaluator, fake_shipped
from knowing_evaluator import KnowingEvaluator
from play.test_game_clock import Time
from puct_support import ShapedEvaluator
from superko_games import game_with_superko, triple_ko

from gtp_engine.base import errors
from gtp_engine.config import Config
from gtp_engine.engine import Engine, move_choice
from gtp_engine.engine.answers import analysis_of
from gtp_engine.go.clock import TimeSettings
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.scoring import Score
from gtp_engine.people.play import GameClock, GameSession, GameSettings, Phase, SessionExtras, SharedEngines, state_of
from gtp_engine.people.play.game_state import node_values
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import GameNode, GameTree, format_sgf


@pytest.fixture
def engine() -> Iterator[Engine]:
    values = {"game.board_size": "7", "search.visits": "16", "search.seed": "1"}
    made = Engine(Config().with_values(values), evaluator=KnowingEvaluator())
    yield made
    made.close()


def start(engine: Engine, now: Time | None = None, **settings: object) -> GameSession:
    chosen = GameSettings(**{"width": 7, **settings})  # type: ignore[arg-type]
    return GameSession.start(engine, chosen, GameClock(chosen.time, now) if now else None)


def settled(engine: Engine, **settings: object) -> GameSession:
    """Return a session in which nothing is left to play for, with the person (Black) to move."""
    session = start(engine, **settings)
    set_up(engine, DEAD_STONE)
    return GameSession(engine, session.settings, session.clock)


def scoring(engine: Engine, **settings: object) -> GameSession:
    session = settled(engine, **settings)
    session.play("pass")
    choice = session.engine_move()
    assert choice is not None and choice.point == PASS
    return session


def vertices(session: GameSession, points: object) -> list[str]:
    game = session.game
    return [format_vertex(point, width=game.width, height=game.height) for point in sorted(points)]  # type: ignore


class TestMoves:
    def test_the_engine_begins_as_black(self, engine: Engine) -> None:
        session = start(engine, human=WHITE)
        assert session.is_engine_turn
        with pytest.raises(errors.GameStateError, match="the engine's move"):
            session.play("d4")
        session.engine_move()
        with pytest.raises(errors.CannotUndoError):
            session.undo()
        assert len(session.game.moves) == 1
        session.resign()
        assert session.result == "B+R" and "PW[Human]" in session.to_sgf()

    def test_nothing_is_played_out_of_turn(self, engine: Engine) -> None:
        session = start(engine)
        with pytest.raises(errors.GameStateError, match="not the engine's move"):
            session.engine_move()
        with pytest.raises(errors.GameStateError, match="no search"):
            session.move_now()
        with pytest.raises(errors.GameStateError, match="has not ended"):
            session.accept_score()
        assert session.game.moves == ()
        session.resign()
        session.resume()
        assert session.extras().may_resign, "it was the person who had resigned"

    def test_superko_is_refused_whatever_the_configuration_says(self, engine: Engine) -> None:
        game, banned = game_with_superko("tromp-taylor")
        session = start(engine, human=game.to_play, rules="tromp-taylor", width=3)
        assert not engine.config.game.strict
        engine.play_sequence(game.moves)
        with pytest.raises(errors.IllegalMoveError, match="repeats an earlier position"):
            session.play(banned[0])

    @pytest.mark.parametrize("back", [GameSession.undo, lambda session: session.go_to(session.tree.root.id)])
    def test_going_back_sets_the_clocks_back(self, engine: Engine, back: Callable[[GameSession], object]) -> None:
        watch = Time()
        session = start(engine, watch, time=TimeSettings.absolute(60))
        watch.now += 20
        session.play("d4")
        session.engine_move()
        watch.now += 5
        assert session.clock.left(BLACK).main == 35
        back(session)
        assert (session.clock.left(BLACK).main, session.clock.running) == (60, BLACK)

    def test_a_triple_ko_ends_without_result(self, engine: Engine) -> None:
        session = GameSession.load(engine, format_sgf(triple_ko("chinese", 11)), human=WHITE)
        assert session.phase is Phase.PLAYING
        session.play("b2")
        assert (session.phase, session.result) == (Phase.FINISHED, "Void")
        loaded = GameSession.load(engine, session.to_sgf(), human=WHITE)
        assert (loaded.phase, loaded.result) == (Phase.FINISHED, "Void")
        loaded.resume()
        assert (loaded.phase, loaded.is_engine_turn) == (Phase.PLAYING, True)
        assert GameSession.load(engine, loaded.to_sgf(), human=WHITE).phase is Phase.PLAYING
        loaded.undo()
        assert loaded.phase is Phase.PLAYING


class TestCancelling:
    def test_a_cancelled_search_plays_nothing_until_it_is_asked_for(self, engine: Engine) -> None:
        session, cancel = start(engine, human=WHITE), CancelToken()
        cancel.cancel()
        assert session.engine_move(cancel) is None
        assert (session.game.moves, session.is_engine_turn) == ((), True)
        engine.configure({"time.ponder": True})
        choice = session.move_now()
        assert [move.point for move in session.game.moves] == [choice.point]
        assert "background search" in [thread.name for thread in threading.enumerate()], "it ponders"
        session.play(session.game.legal_points()[0])
        with pytest.raises(errors.GameStateError, match="no search"):
            session.move_now()

    def test_another_thread_cancels(self, engine: Engine) -> None:
        engine.configure({"search.visits": 0, "time.time_per_move": 60})
        session, cancel = start(engine, human=WHITE), CancelToken()
        assert session.engine_move(cancel, lambda report: cancel.cancel(), interval=0.01) is None

    def test_the_clock_stands_still_after_it(self, engine: Engine) -> None:
        watch = Time()
        session = start(engine, watch, human=WHITE, time=TimeSettings.absolute(60))
        cancel = CancelToken()
        cancel.cancel()
        session.engine_move(cancel)
        watch.now += 100
        assert session.clock.left(BLACK).main == 60
        session.clock.start(BLACK)
        watch.now += 50
        session.engine_move()
        assert (session.phase, session.clock.running) == (Phase.PLAYING, WHITE)
        clock, _ = engine.time_for_move(BLACK)
        assert clock.settings == session.settings.time and clock.left.main <= 10, "the engine's own"
        session.resign()
        watch.now += 100
        assert session.clock.left(WHITE).main == 60


class TestEnd:
    def test_dead_stones_are_proposed_and_disputed(self, engine: Engine) -> None:
        session = scoring(engine)
        assert (session.phase, session.dead) == (Phase.SCORING, frozenset())
        assert vertices(session, session.propose_dead()) == vertices(session, session.dead) == ["A7"]
        proposed = session.score()
        assert session.toggle_dead("a7") == [session.point("a7")]
        assert session.dead == frozenset()
        assert session.score().margin_black < proposed.margin_black
        session.toggle_dead("e5")
        assert len(session.dead) > 15, "the whole chain"
        session.toggle_dead("e4")
        session.toggle_dead("a7")
        assert session.toggle_dead("b7") == session.toggle_dead("pass") == [], "no stones"
        with pytest.raises(errors.GameStateError, match="both have passed"):
            session.hint()
        assert session.accept_score() == str(proposed)
        assert session.phase is Phase.FINISHED

    def test_passes_before_a_dispute_do_not_end_the_game_again(self, engine: Engine) -> None:
        session = scoring(engine)
        session.resume()
        session.play("pass")
        session.undo()
        session.play("pass")
        assert session.phase is Phase.PLAYING
        session.engine_move()
        assert session.phase is Phase.SCORING
        for back in ([session.undo, session.undo], [session.resume, lambda: session.go_to(session.tree.root.id)]):
            for step in back:
                step()
            session.play("pass")
            session.engine_move()
            assert session.phase is Phase.SCORING, "behind the dispute both passes count again"
        session.resign()
        assert session.result == "W+R"

    def test_after_a_dispute_the_engine_takes_the_dead_stones_off(self, engine: Engine) -> None:
        session = settled(engine, human=WHITE)
        self.pass_until_scoring(session)
        assert session.game.color_at(session.point("a7")) == WHITE
        session.resume()
        self.pass_until_scoring(session)
        assert session.game.color_at(session.point("a7")) == EMPTY

    @staticmethod
    def pass_until_scoring(session: GameSession) -> None:
        while session.phase is Phase.PLAYING:
            if session.is_engine_turn:
                session.engine_move()
            else:
                session.play("pass")

    def test_rules_that_count_every_stone_need_no_agreement(self, engine: Engine) -> None:
        session = settled(engine, rules="tromp-taylor")
        self.pass_until_scoring(session)
        assert session.phase is Phase.FINISHED
        assert session.result == str(session.game.score())

    @pytest.mark.parametrize("going_on", ["resume", "undo"])
    def test_the_engine_does_not_resign_again_when_the_person_wants_to_go_on(
        self, engine: Engine, going_on: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It did so with its next move, 4 times of 4."""
        monkeypatch.setattr(move_choice, "is_on_schedule", lambda *_: False)  # a diagram looks like a handicap game
        engine.configure({"play.resign_winrate": 0.5, "play.resign_turns": 1, "play.resign_min_moves": 0.0})
        session = settled(engine, komi=0.5)
        session.play("pass")
        session.engine_move()
        assert session.result == "B+R"
        getattr(session, going_on)()
        loaded = GameSession.load(engine, session.to_sgf(), human=BLACK, extras=session.extras())
        if not loaded.is_engine_turn:
            loaded.play("pass")
        loaded.engine_move()
        assert (loaded.result, loaded.game.moves[-1].color) == ("", WHITE)
        again = settled(engine, komi=0.5)
        again.play("pass")
        again.engine_move()
        assert again.result == "B+R", "another game"
        black = settled(engine, komi=20.5, human=WHITE)
        black.engine_move()
        assert black.result == "W+R"

    def test_a_score_is_the_sum_of_what_each_side_has(self, engine: Engine) -> None:
        session = scoring(engine, rules="japanese", komi=1.5)
        session.propose_dead()
        state = state_of(session)
        assert state["score"] == "B+0.5"
        assert state["tally"]["black"] == dict(territory=5, stones=0, prisoners=1, tax=0, komi=0.0, total=6.0)
        assert state["tally"]["white"] == dict(territory=4, stones=0, prisoners=0, tax=0, komi=1.5, total=5.5)
        assert state["owners"][0] == "XXXXOOO", "A7 is dead"
        session.toggle_dead("a7")
        assert state_of(session)["owners"][0] == "O.XXOOO"
        session.toggle_dead("a7")
        session.accept_score()
        assert state_of(session)["owners"] == state["owners"]

    @pytest.mark.parametrize(
        ("human", "late", "result"), [(BLACK, BLACK, "W+T"), (WHITE, BLACK, "W+T"), (WHITE, WHITE, "B+T")]
    )
    def test_time_runs_out(self, engine: Engine, human: int, late: int, result: str) -> None:
        watch = Time()
        session = start(engine, watch, human=human, time=TimeSettings.byoyomi(60, 10, 2))
        session.clock.start(late)
        watch.now += 79
        assert not session.check_time()
        watch.now += 2
        with pytest.raises(errors.GameStateError, match=f"ended: {re.escape(result)}"):
            session.play("d4")
        with pytest.raises(errors.GameStateError, match="time has run out"):
            session.resume()


class TestHelp:
    def test_hints_are_the_best_moves_of_a_search(self, engine: Engine) -> None:
        session = start(engine)
        reports: list[object] = []
        hints = analysis_of(session.hint(600.0, report=reports.append, interval=0.001), session.game).moves
        assert len(hints) >= 3
        assert hints[0].pv[0] == hints[0].vertex
        assert 0 <= hints[0].winrate <= 1
        assert session.game.moves == ()

    def test_a_hint_is_the_best_move_where_the_engine_plays_at_random(self) -> None:
        random = {"puct.temperature": 5.0, "puct.temperature_early": 5.0}
        hints, played = set(), set()
        for seed in range(8):
            config = Config().with_values({"search.visits": 100, "search.seed": seed, **random})
            with Engine(config, evaluator=ShapedEvaluator()) as engine:
                session = start(engine)
                hints.add(analysis_of(session.hint(600.0), session.game).best.vertex)
                played.add(engine.genmove(BLACK, play=False).point)
        assert (len(hints), len(played) > 2) == (1, True)

    def test_estimates_have_the_owner_of_each_point(self, engine: Engine) -> None:
        session = settled(engine)
        found = session.estimate()
        assert vertices(session, found.status.dead) == ["A7"]
        assert found.status.ownership_black[session.point("g7")] < -0.9
        assert found.score.margin_black == session.game.score(found.status.dead).margin_black

    def test_the_score_of_proposed_stones_is_the_engines(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        """It was counted here and estimated there, so that two results stood on one screen."""
        session = scoring(engine)
        expected = Score(40.0, 20.5)
        outcome = dataclasses.replace(engine.outcome(), score=expected, doubt="both sides have passed")
        monkeypatch.setattr(engine, "outcome", lambda cancel=None: outcome)
        session.propose_dead()
        assert session.score() == session.estimate().score == expected
        session.toggle_dead("A7")
        assert session.score() == session.game.score(session.dead)
        session.toggle_dead("A7")
        assert session.accept_score() == "B+19.5"


class TestSettings:
    @pytest.mark.parametrize(("settings", "stones", "to_play"), [
        ({"handicap": 3}, 3, WHITE),
        ({"handicap": 1}, 0, BLACK),
        ({"handicap": 1, "has_free_handicap": True}, 0, BLACK),
        ({"human": WHITE, "handicap": 6, "has_free_handicap": True}, 6, WHITE),  # placed by the engine
    ])  # fmt: skip
    def test_a_handicap_gives_no_komi(
        self, engine: Engine, settings: dict[str, Any], stones: int, to_play: int
    ) -> None:
        session = start(engine, **settings)
        found = (len(session.game.setup_stones), session.game.komi, session.game.to_play, session.phase)
        assert found == (stones, 0.5, to_play, Phase.PLAYING)

    def test_the_person_places_free_handicap_stones(self, engine: Engine) -> None:
        session = start(engine, handicap=3, has_free_handicap=True)
        assert (session.phase, session.is_engine_turn) == (Phase.PLACING, False)
        session.play("c3")
        with pytest.raises(errors.IllegalMoveError, match="C3 is occupied"):
            session.play("c3")
        with pytest.raises(errors.GameStateError, match="2 handicap stones"):
            session.play("pass")
        with pytest.raises(errors.GameStateError, match="black still has 2 handicap stones to place"):
            session.estimate()  # which would leave out the stones that were placed
        session.play("e5")
        assert (state_of(session)["rows"][2], state_of(session)["stones_to_place"]) == ("....X..", 1)
        assert session.undo() == 1
        session.play("e3")
        assert "AB[ce][ee]" in session.to_sgf()
        session = GameSession.load(engine, session.to_sgf(), extras=session.extras())
        session.play("c5")
        assert (session.phase, session.is_engine_turn, session.game.handicap) == (Phase.PLAYING, True, 3)
        assert vertices(session, [point for _, point in session.game.setup_stones]) == ["C5", "C3", "E3"]

    def test_komi_is_that_of_the_rules_unless_given(self, engine: Engine) -> None:
        assert [start(engine, rules="japanese", komi=komi).game.komi for komi in (None, -3, 0)] == [6.5, -3, 0]
        assert start(engine).game.komi == 7.5
        assert start(engine, width=9).game.komi == 7.0  # with 7.5 White wins
        assert start(engine, width=9, rules="japanese").game.komi == 6.5
        game = start(engine, width=9, height=7, time=TimeSettings.byoyomi(0, 5, 1)).game
        assert (game.width, game.height, game.komi) == (9, 7, 7.5)

    @pytest.mark.parametrize(
        ("settings", "error"),
        [
            ({"handicap": 5}, errors.HandicapError),
            ({"handicap": 49, "has_free_handicap": True}, errors.HandicapError),
            ({"rules": "chess"}, errors.RulesError),
            ({"human": EMPTY}, errors.InvalidColorError),
            ({"time": TimeSettings.absolute(0)}, errors.TimeSettingsError),
            ({"time": TimeSettings.fischer(0, 10)}, errors.TimeSettingsError),
        ],
    )
    def test_impossible_settings(self, engine: Engine, settings: dict[str, object], error: type[Exception]) -> None:
        with pytest.raises(error):
            start(engine, **settings)


class TestRecords:
    def test_a_record_with_moves_that_cannot_be_played_is_not_finished(self, engine: Engine) -> None:
        """It was, with the result of moves that are not on the board."""
        for text in ("(;SZ[7]RE[B+3.5];B[cc];W[cc];B[dd])", "(;SZ[7]RE[W+R];B[cc];W[zc])", "(;SZ[7]RE[W+R];B[cc];W[d"):
            loaded = GameSession.load(engine, text)
            assert (loaded.phase, loaded.result, len(loaded.game.moves)) == (Phase.PLAYING, "", 1)
            assert line_of(loaded)[:1] == ["C5"]
            assert GameSession.load(engine, text, extras=loaded.extras()).notes == loaded.notes != ()

    @pytest.mark.parametrize(
        ("text", "result"), [("B+Resign", "B+R"), ("B+", "B+"), ("Draw", "0"), ("?", ""), ("Void", "")]
    )
    def test_a_record_is_finished_by_a_result_only(self, engine: Engine, text: str, result: str) -> None:
        loaded = GameSession.load(engine, f"(;SZ[9]RE[{text}];B[cc];W[];B[])")
        assert (loaded.result, loaded.phase) == (result, Phase.FINISHED if result else Phase.SCORING)
        assert (state_of(loaded)["clocks"], state_of(loaded)["running"]) == (None, None)
        assert not GameSession.load(engine, "(;SZ[7]KM[7]RE[B+42];B[dd])").is_counted, "without passes"

    def test_a_game_goes_on_with_what_the_record_does_not_say(self, engine: Engine) -> None:
        """The clocks after each move, that it was resumed after two passes, and which stones were marked as dead."""
        watch = Time()
        session = start(engine, watch, time=TimeSettings.absolute(60))
        watch.now += 10
        session.play("d4")
        session.engine.play(PASS, WHITE)
        session._after_move()
        watch.now += 10
        session.play("pass")
        assert session.phase is Phase.SCORING
        session.resume()
        loaded = GameSession.load(
            engine, session.to_sgf(), clock=GameClock(TimeSettings.absolute(60), watch), extras=session.extras()
        )
        assert (loaded.phase, loaded.clock.left(BLACK).main) == (Phase.PLAYING, 40)
        assert loaded.extras() == session.extras()
        loaded.undo()
        assert loaded.clock.left(BLACK).main == 50
        loaded = GameSession.load(engine, scoring(engine).to_sgf(), extras=SessionExtras(dead=("D4",)))
        assert (loaded.phase, loaded.dead) == (Phase.SCORING, {loaded.point("D4")})

    def test_no_dead_stones_are_a_choice_too(self, engine: Engine) -> None:
        session = scoring(engine)
        assert (session.has_marked_dead, session.extras().dead) == (False, None)
        session.toggle_dead("b7")
        assert not session.has_marked_dead, "an empty point"
        session.propose_dead()
        session.toggle_dead("a7")
        assert (session.has_marked_dead, session.extras().dead) == (True, ())
        loaded = GameSession.load(engine, session.to_sgf(), extras=session.extras())
        assert (loaded.phase, loaded.has_marked_dead, loaded.dead) == (Phase.SCORING, True, frozenset())
        loaded.resume()
        assert not loaded.has_marked_dead

    def test_a_record_that_ends_with_passes_is_counted_where_the_rules_count_every_stone(self, engine: Engine) -> None:
        """The person could take stones off."""
        record = "(;SZ[7]KM[7]RU[Tromp-Taylor];B[dd];W[aa];B[];W[])"
        for extras in (SessionExtras(), SessionExtras(dead=("D4",))):
            loaded = GameSession.load(engine, record, extras=extras)
            assert (loaded.phase, loaded.result, loaded.dead) == (Phase.FINISHED, "W+7", frozenset())
        resumed = GameSession.load(engine, record, extras=SessionExtras(resumed_at=4))
        assert (resumed.phase, resumed.result) == (Phase.PLAYING, "")
        assert GameSession.load(engine, record.replace("Tromp-Taylor", "Chinese")).phase is Phase.SCORING

    def test_in_other_records_the_person_has_the_side_to_move(self, engine: Engine) -> None:
        loaded = GameSession.load(engine, "(;SZ[7]PB[A]PW[B];B[dd])")
        assert (loaded.settings.human, loaded.settings.human_name) == (WHITE, "B")
        other = GameSession.load(engine, "(;SZ[7]PB[Tengen];B[dd])", human=BLACK)
        assert (other.is_engine_turn, other.settings.human_name) == (True, "Human")
        time, record = TimeSettings.absolute(60), "(;SZ[9:7]RU[Japanese]KM[0]HA[2]AB[cc][ee]PB[Tengen];W[dd])"
        settings = GameSettings(WHITE, 9, 7, "japanese", 0.0, 2, time=time)
        assert GameSession.load(engine, record, time=time).settings == settings
        assert [GameSettings(handicap=number).stones for number in (0, 1, 2, 9)] == [0, 0, 2, 9]

    @pytest.mark.parametrize(
        ("record", "komi", "expected"),
        [("RU[Japanese]", None, 6.5), ("", 3.0, 3.0), ("", 0.0, 0.0), ("KM[2]", 3.0, 2.0)],
    )
    def test_what_a_record_does_not_name_is_as_in_the_settings(
        self, engine: Engine, record: str, komi: float | None, expected: float
    ) -> None:
        defaults = GameSettings(rules="tromp-taylor", komi=komi)
        assert GameSession.load(engine, f"(;SZ[7]{record};B[dd])", defaults=defaults).game.komi == expected

    def test_the_encoding_of_a_file_is_kept_beside_its_text(self, engine: Engine) -> None:
        session = GameSession.load(engine, "(;SZ[7]CA[Shift_JIS]PB[本因坊];B[cc])".encode("cp932"))
        again = GameSession.load(engine, session.to_sgf(), extras=session.extras())
        assert again.to_bytes() == session.to_bytes()

    def test_a_record_keeps_its_names_until_the_engine_moves(self, engine: Engine) -> None:
        loaded = GameSession.load(engine, "(;SZ[7]PB[Lee]PW[Cho];B[dd];W[cc])")
        again = GameSession.load(engine, loaded.to_sgf())
        assert state_of(again)["names"] == {"black": "Lee", "white": "Cho"}
        again.play("a1")
        again.engine_move()
        assert state_of(again)["names"] == {"black": "Lee", "white": "Tengen"}
        assert "PW[Tengen]" in again.to_sgf()


class TestSharedEngines:
    def test_games_at_once_share_one_evaluator(self) -> None:
        evaluator = KnowingEvaluator()
        config = Config().with_values({"search.visits": 24, "search.seed": 3})
        with SharedEngines(config, evaluator=evaluator) as engines:
            sessions = [GameSession.start(engines.new_engine(), GameSettings(WHITE, size)) for size in (5, 7, 5)]
            threads = [threading.Thread(target=session.engine_move) for session in sessions]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [len(session.game.moves) for session in sessions] == [1, 1, 1]
            assert sessions[0].game.moves == sessions[2].game.moves
            sessions[0].engine.close()
            sessions[2].play("pass")
            sessions[2].engine_move()
            assert len(sessions[2].game.moves) == 3, "the evaluator outlives one engine"
            for session in sessions[1:]:
                session.engine.close()

    def test_games_at_levels_share_the_networks_for_levels(self) -> None:
        """They are loaded once, unless that fails, and stay open until the last engine is closed."""
        loaded: dict[str, FakeEvaluator] = {}
        failures = [errors.ModelError("no memory")]

        def load(name: str) -> FakeEvaluator:
            if failures:
                raise failures.pop()
            assert name not in loaded
            loaded[name] = fake_shipped(name)
            return loaded[name]

        with SharedEngines(evaluator=KnowingEvaluator(), load_shipped=load) as engines:
            with pytest.raises(errors.ModelError, match="no memory"):
                engines.new_engine({"play.level": "8k"})
            for level in ("8k", "2k"):
                session = GameSession.start(engines.new_engine({"play.level": level}), GameSettings(WHITE, 5))
                session.engine_move()
                session.engine.close()
            assert not any(each.is_closed for each in loaded.values())
        assert sorted(loaded) == ["tengen-b10c128", "tengen-human"]
        assert all(each.is_closed for each in loaded.values())

    def test_an_engine_may_have_options_of_its_own(self) -> None:
        with SharedEngines(evaluator=KnowingEvaluator()) as engines:
            lines: list[str] = []
            engine = engines.new_engine({"search.visits": 2}, lines.append)
            session = GameSession.start(engine, GameSettings(WHITE, 5))
            session.engine_move()
            engine.close()
        assert engine.config.search.visits == 2
        assert len(lines) == 1 and "visits 2" in lines[0]


def test_a_page_sees_the_whole_state(engine: Engine) -> None:
    time, record = TimeSettings.absolute(90), "(;SZ[5:4]KM[0.5]PB[Ann]AB[ba][ab][bc][cb]AW[ca][db][cc];W[bb]"
    session = GameSession.load(engine, record, time=time, clock=GameClock(time, Time()))
    full = {"has_time": True, "main": 90.0, "periods": 0, "period": 0.0, "stones": 0}
    setup = {"black": ("B4", "A3", "B2", "C3"), "white": ("C4", "D3", "C2")}
    assert state_of(session) == {
        "phase": "playing", "result": "", "human": "black", "is_engine_turn": False, "level": "max",
        "width": 5, "height": 4, "rows": (".XO..", "XO.O.", ".XO..", "....."), "node": 1, "can_redo": False,
        "setup": [(color, vertex) for color, vertices in setup.items() for vertex in vertices],
        "moves": [("white", "B3")], "first": "white", "to_play": "black", "ko": "C3",
        "captures": {"black": 0, "white": 1}, "names": {"black": "Ann", "white": "Tengen"},
        "rules": "chinese", "komi": 0.5, "handicap": 0, "stones_to_place": 0,
        "dead": [], "score": "", "owners": (), "tally": {},
        "time": ("absolute", "90"), "clocks": {"black": full, "white": full}, "running": "black",
        "notes": ("the record has no end",),
    }  # fmt: skip


def test_the_nodes_of_a_tree_are_plain_values() -> None:
    first = "SZ[5:4]PB[Ann]GC[a\nb]PL[w]AW[cc]TB[aa]TW[eb]LB[cc:x]TR[dd]"
    assert [*map(node_values, GameTree(f"(;{first};B[bb]N[one]C[two]PB[Eve];AB[ab]AE[cc]PL[Black])").nodes())] == [
        {
            "id": 0, "parent": None, "player": "white", "setup": [("white", "C2")], "marks": {"D1": "triangle"},
            "labels": {"C2": "x"}, "territory": [("black", "A4"), ("white", "E3")],
            "information": {"PB": "Ann", "GC": "a\nb"},
        },
        {"id": 1, "parent": 0, "move": ("black", "B3"), "name": "one", "comment": "two"},
        {"id": 2, "parent": 1, "player": "black", "setup": [("black", "A3"), ("empty", "C2")]},
    ]  # fmt: skip


def test_another_engine_goes_on(engine: Engine) -> None:
    session = start(engine, human=WHITE, time=TimeSettings.absolute(60))
    with Engine(engine.config, evaluator=KnowingEvaluator()) as other:
        session.engine_move()
        session.go_on_with(other)
        assert other.time_for_move(BLACK)[0].settings == session.settings.time
        session.play("pass")
        session.engine_move()
        assert (session.engine, len(other.game.moves)) == (other, 3)


def test_a_game_that_cannot_be_set_up_leaves_the_board_alone(engine: Engine) -> None:
    start(engine, human=BLACK).play("D4")
    with pytest.raises(errors.HandicapError):
        start(engine, width=9, height=7, handicap=9)
    assert (engine.game.width, engine.game.height, len(engine.game.moves)) == (7, 7, 1)


def line_of(session: GameSession) -> list[str | None]:
    return [node.vertex for node in session.node.path()[1:]]


def main_line(session: GameSession) -> list[str | None]:
    return [node.vertex for node in session.tree.main_line()[1:]]


class TestTree:
    RECORD = (
        b"(;SZ[7]KM[6.5]RU[Chinese]PB[Ann]BR[3d]PW[Bob]WR[2d]RE[B+R]DT[2001-02-03]XX[kept]\n"
        b";B[cc]C[hi](;W[ee];B[ec])(;W[ce]))"
    )

    def test_moves_that_were_taken_back_stay(self, engine: Engine) -> None:
        session = start(engine)
        session.play("D4")
        session.engine_move()
        first = line_of(session)
        assert session.undo() == 2
        assert [";B" in session.to_sgf(with_undone=each) for each in (True, False)] == [True, False]
        assert (line_of(session), main_line(session)) == ([], first)
        assert session.redo() == 2
        assert line_of(session) == first
        with pytest.raises(errors.CannotUndoError, match="cannot redo: no move follows"):
            session.redo()
        session.undo()
        session.play("C3")
        assert main_line(session) == ["C3"], "the game is the main line"
        assert [child.vertex for child in session.tree.root.children] == ["C3", "D4"]
        session.undo()
        session.redo()
        assert line_of(session) == ["C3"], "what was taken back last"
        session.go_to(session.tree.root.children[1].id)
        session.undo()
        session.go_to(session.tree.root.children[0].id)
        session.go_to(session.tree.root.id)
        session.redo()
        assert line_of(session) == ["C3"], "the main line, where nothing was taken back"
        session.engine_move()
        session.play("pass")
        assert [session.undo(), session.undo(), session.redo(), session.redo()] == [1, 2, 2, 1]
        session.undo()
        session.edit(session.node.children[0].id, GameNode.delete)
        with pytest.raises(errors.CannotUndoError, match="no move follows"):
            session.redo()

    def test_a_node_without_a_move_is_taken_back_with_the_move_before(self, engine: Engine) -> None:
        session = GameSession.load(engine, "(;SZ[7];B[cc];C[so far];W[dd])", human=BLACK)
        assert (session.undo(), session.node) == (2, session.tree.root)

    def test_the_engine_goes_on_in_the_branch(self, engine: Engine) -> None:
        session = GameSession.load(engine, self.RECORD, human=BLACK)
        assert (session.phase, session.result, line_of(session)) == (Phase.FINISHED, "B+R", ["C5", "E3", "E5"])
        root = session.tree.root
        session.play_at(root.children[0].children[1].id, "E5")
        assert (line_of(session), session.result, session.is_engine_turn) == (["C5", "C3", "E5"], "", True)
        session.engine_move()
        assert len(session.game.moves) == 4 and session.node.parent is not None
        assert main_line(session) == ["C5", "E3", "E5"], "the record keeps its main line"
        kept = {"PW": "Bob", "WR": "2d", "RE": "B+R", "DT": "2001-02-03", "XX": "kept"}
        assert {name: root.get(name) for name in kept} == {name: [value] for name, value in kept.items()}
        with pytest.raises(errors.IllegalMoveError, match="C5"):
            session.play_at(root.children[0].children[0].id, "C5")
        assert len(session.game.moves) == 4, "nothing has changed"
        session.resign()
        loaded = GameSession.load(engine, session.to_sgf(), extras=session.extras())
        assert (loaded.result, line_of(loaded), loaded.extras()) == ("W+R", line_of(session), session.extras())

    def test_a_record_that_is_opened_is_saved_whole(self, engine: Engine) -> None:
        session = GameSession.load(engine, self.RECORD)
        session.go_to(session.node.id)  # where it is: still finished
        assert (session.to_bytes(), session.result) == (self.RECORD, "B+R")
        assert GameTree(session.to_bytes(is_main=True)).to_bytes() == self.RECORD
        session.go_to(session.tree.root.children[0].id)
        assert "RE[B+R]" in session.to_sgf(), "moves follow"
        session.go_to(session.tree.root.children[0].children[1].id)
        line = GameTree(session.to_bytes(is_main=True)).main_line()
        assert [node.vertex for node in line[1:]] == ["C5", "C3"]

    def test_a_game_that_goes_on_at_the_end_of_a_record_has_no_result_yet(self, engine: Engine) -> None:
        session = GameSession.load(engine, self.RECORD, human=BLACK)
        session.resume()
        assert "RE[" not in session.to_sgf()
        session.engine_move()
        assert "PW[Tengen]" in session.to_sgf() and "WR" not in session.to_sgf() and "BR[3d]" in session.to_sgf()
        session.resign()
        assert "RE[W+R]" in session.to_sgf()

    def test_edits(self, engine: Engine) -> None:
        session = GameSession.load(engine, self.RECORD, human=BLACK)
        first = session.tree.root.children[0]

        def set_up(vertex: str) -> Callable[[GameNode], None]:
            return lambda node: node.set_stone(vertex, "white")

        assert session.edit(first.id, lambda node: node.add_move("G7")).vertex == "G7"
        assert line_of(session) == ["C5", "E3", "E5"], "the game goes on where it was"
        session.edit(session.tree.root.id, set_up("A1"))
        assert (session.game.color_at("A1"), session.phase) == (WHITE, Phase.PLAYING)
        with pytest.raises(errors.SgfError, match="move 1"):
            session.edit(session.tree.root.id, set_up("C5"))
        assert [session.tree.vertex(stone.point) for stone in session.tree.root.setup] == ["A1"]
        session.edit(first.children[0].id, GameNode.delete)
        assert (line_of(session), len(session.game.moves)) == (["C5"], 1)
        with pytest.raises(errors.SgfError, match="the game has no node 99"):
            session.go_to(99)
