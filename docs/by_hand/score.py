import subprocess

from sgfmill import common, sgf, sgf_moves

with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
process = subprocess.Popen(
    ["gnugo", "--mode", "gtp", "--chinese-rules"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)


def send(command):
    process.stdin.write(command + "\n")
    process.stdin.flush()
    lines = [process.stdout.readline()]
    while lines[-1] != "\n":
        if not lines[-1]:
            raise RuntimeError(f"GNU Go ended at {command}")
        lines.append(process.stdout.readline())
    if not lines[0].startswith("="):
        raise RuntimeError(f"{command} failed: {lines[0]}")
    return "".join(lines)[1:].strip()


for command in (f"boardsize {record.get_size()}", "clear_board", f"komi {record.get_komi()}"):
    send(command)
for color, point in board.list_occupied_points():
    send(f"play {color} {common.format_vertex(point)}")
for color, move in moves:
    send(f"play {color} {common.format_vertex(move)}")
print(send("final_score"))
print("dead:", *send("final_status_list dead").split())
process.communicate("quit\n")
