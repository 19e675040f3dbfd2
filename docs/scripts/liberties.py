from pathlib import Path

from gtp_engine import Game

game = Game.from_sgf(Path("game.sgf").read_bytes())
print(len(game.liberties("C3")), *game.liberties("C3"))
