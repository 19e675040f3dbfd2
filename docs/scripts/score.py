from pathlib import Path

from gtp_engine import Engine

with Engine() as engine:
    engine.load_sgf(Path("game.sgf").read_bytes())
    print(engine.score())
    print("dead:", *(point for group in engine.groups_by_status("dead") for point in group))
