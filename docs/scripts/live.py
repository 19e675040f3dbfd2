from gtp_engine import Game, SimpleGtpEngine

with SimpleGtpEngine.popen("katago gtp") as engine:
    for analysis in engine.watch(Game(19), every=0.5):
        print(analysis)
        if analysis.visits > 1000:
            break
