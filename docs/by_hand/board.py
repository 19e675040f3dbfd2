from sgfmill import sgf, sgf_moves

CELL = 24
with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
numbers = {}
for number, (color, move) in enumerate(moves, 1):
    if move is not None:
        board.play(*move, color)
        numbers[move] = number
side = board.side
size, first, last = CELL * (side + 2), CELL * 1.5, CELL * (side + 0.5)
parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="480" text-anchor="middle">']
parts.append(f'<rect width="{size}" height="{size}" fill="#e3b76b"/>')
for i in range(side):
    place = first + CELL * i
    parts.append(f'<path d="M{first} {place}H{last}M{place} {first}V{last}" stroke="#5d4420"/>')
    letter, digit = "ABCDEFGHJKLMNOPQRSTUVWXYZ"[i], side - i
    parts.append(f'<text x="{place}" y="14" font-size="10">{letter}</text>')
    parts.append(f'<text x="12" y="{place + 4}" font-size="10">{digit}</text>')
for color, (row, column) in board.list_occupied_points():
    x, y = first + CELL * column, first + CELL * (side - 1 - row)
    fill, ink = ("black", "white") if color == "b" else ("white", "black")
    parts.append(f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="black"/>')
    number = numbers.get((row, column), 0)
    if number > len(moves) - 10:
        parts.append(f'<text x="{x}" y="{y + 4}" font-size="10" fill="{ink}">{number}</text>')
parts.append("</svg>")
with open("board.svg", "w", encoding="utf-8") as file:
    file.write("\n".join(parts))
