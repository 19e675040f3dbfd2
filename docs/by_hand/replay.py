from sgfmill import ascii_boards, common, sgf, sgf_moves

with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
comments = [
    node.get("C") if node.has_property("C") else "" for node in record.get_main_sequence() if node.get_move()[0]
]
for number, ((color, move), comment) in enumerate(zip(moves, comments, strict=True), 1):
    if move is not None:
        row, column = move
        if board.get(row, column) is not None:
            raise ValueError(f"move {number} is illegal")
        board.play(row, column, color)
    print(number, common.format_vertex(move), comment)
print(ascii_boards.render_board(board))
