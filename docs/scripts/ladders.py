from pathlib import Path

from gtp_engine import Game

game = Game.from_sgf(Path("game.sgf").read_bytes())
print("captured in a ladder:", *(point for point in game.stones if game.is_in_ladder(point)))
