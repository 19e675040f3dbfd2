from sgfmill import common, sgf, sgf_moves


def neighbors(board, row, column):
    for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if 0 <= y < board.side and 0 <= x < board.side:
            yield y, x


def chain_and_liberties(board, start):
    color, chain, liberties, waiting = board.get(*start), {start}, set(), [start]
    while waiting:
        for point in neighbors(board, *waiting.pop()):
            if board.get(*point) is None:
                liberties.add(point)
            elif board.get(*point) == color and point not in chain:
                chain.add(point)
                waiting.append(point)
    return chain, liberties


def after(board, point, color):
    copy = board.copy()
    copy.play(*point, color)
    return copy if copy.get(*point) == color and chain_and_liberties(copy, point)[1] else None


def captured(board, stone, depth=0):
    """Return whether the chain is captured, its side to move, in atari."""
    color = board.get(*stone)
    chain, liberties = chain_and_liberties(board, stone)
    if len(liberties) > 1 or depth > 300:
        return False
    answers = set(liberties)
    for point in chain:
        for beside in neighbors(board, *point):
            if board.get(*beside) not in (None, color):
                enemy = chain_and_liberties(board, beside)[1]
                answers |= enemy if len(enemy) == 1 else set()
    for answer in answers:
        next_board = after(board, answer, color)
        if next_board is not None:
            count = len(chain_and_liberties(next_board, stone)[1])
            if count > 2 or (count == 2 and not attacks(next_board, stone, depth + 1)):
                return False
    return True


def attacks(board, stone, depth=0):
    """Return the first moves that capture a chain of two liberties."""
    color, found = board.get(*stone), []
    for point in chain_and_liberties(board, stone)[1]:
        next_board = after(board, point, "w" if color == "b" else "b")
        if next_board is not None and captured(next_board, stone, depth):
            found.append(point)
    return found


with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
for color, move in moves:
    if move is not None:
        board.play(*move, color)
lines = []
for _, stone in board.list_occupied_points():
    count = len(chain_and_liberties(board, stone)[1])
    if (count == 1 and captured(board, stone)) or (count == 2 and attacks(board, stone)):
        lines.append((-stone[0], stone[1], common.format_vertex(stone)))
print("captured in a ladder:", *(vertex for _, _, vertex in sorted(lines)))
