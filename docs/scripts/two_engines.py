from gtp_engine import Game, Limit, SimpleGtpEngine

game, limit = Game(9, komi=6.5), Limit(time=1)
with SimpleGtpEngine.popen("gnugo --mode gtp") as black, SimpleGtpEngine.popen("gtp-engine") as white:
    while not game.is_over and (move := (black, white)[len(game.moves) % 2].genmove(game, limit).move):
        game.play(move)
    print(black.score(game))
print(game.to_sgf(black_name=black.name, white_name=white.name))
