from pathlib import Path

from gtp_engine import Game

game = Game.from_sgf(Path("game.sgf").read_bytes())
Path("board.svg").write_text(game.svg(numbers=10))
