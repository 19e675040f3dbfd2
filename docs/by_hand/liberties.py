from sgfmill import common, sgf, sgf_moves


def neighbors(board, row, column):
    for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= y < board.side and 0 <= x < board.side:
            yield y, x


with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
for color, move in moves:
    if move is not None:
        board.play(*move, color)
start = common.move_from_vertex("C3", board.side)
color, chain, liberties, waiting = board.get(*start), {start}, set(), [start]
while waiting:
    for point in neighbors(board, *waiting.pop()):
        if board.get(*point) is None:
            liberties.add(point)
        elif board.get(*point) == color and point not in chain:
            chain.add(point)
            waiting.append(point)
liberties = sorted(liberties, key=lambda point: (-point[0], point[1]))
print(len(liberties), *map(common.format_vertex, liberties))
