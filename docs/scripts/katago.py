from pathlib import Path

from gtp_engine import Game, Limit, SimpleAnalysisEngine

game = Game.from_sgf(Path("game.sgf").read_bytes())
with SimpleAnalysisEngine.popen("katago analysis -model model.bin.gz -config analysis.cfg") as engine:
    for analysis in engine.analyse_game(game, Limit(visits=100)):
        print(analysis.turn, analysis)
