"""The game that the network sees: one that begins with the last move out of turn, as in KataGo."""

from gtp_engine.engine.raw_evaluation import since_move_out_of_turn
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game


def played(*moves: str, handicap: bool = False) -> Game:
    game = Game(9)
    if handicap:
        game.set_handicap([game.play(vertex, BLACK).point for vertex in ("C3", "G7")])
    for text in moves:
        color, vertex = text.split()
        game.play(vertex, BLACK if color == "b" else WHITE)
    return game


def test_a_game_in_turns_stays_as_it_is() -> None:
    game = played("b D4", "w E5", "b pass")
    assert since_move_out_of_turn(game, WHITE) is game


def test_a_second_move_in_a_row_begins_a_new_game() -> None:
    part = since_move_out_of_turn(played("w D4", "b E5", "b F6", "w C4", handicap=True), BLACK)
    assert [move.color for move in part.moves] == [BLACK, WHITE]
    assert (part.first_player, part.handicap) == (BLACK, 0)
    assert len(part.setup_stones) == 4


def test_a_search_out_of_turn_begins_a_new_game() -> None:
    game = played("b D4")
    part = since_move_out_of_turn(game, BLACK)
    assert (part.moves, part.to_play, part.hash) == ((), BLACK, game.hash)
