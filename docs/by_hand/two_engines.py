import subprocess

from sgfmill import boards, common, sgf


class Engine:
    def __init__(self, command):
        self.process = subprocess.Popen(command.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        lines = [self.process.stdout.readline()]
        while lines[-1] != "\n":
            if not lines[-1]:
                raise RuntimeError(f"the engine ended at {command}")
            lines.append(self.process.stdout.readline())
        if not lines[0].startswith("="):
            raise RuntimeError(f"{command} failed: {lines[0]}")
        return "".join(lines)[1:].strip()


engines = {"b": Engine("gnugo --mode gtp"), "w": Engine("gtp-engine")}
board, record, passes, color = boards.Board(9), sgf.Sgf_game(9), 0, "b"
try:
    for engine in engines.values():
        for command in ("boardsize 9", "clear_board", "komi 6.5", "time_settings 0 1 1"):
            engine.send(command)
    while passes < 2:
        vertex = engines[color].send(f"genmove {color}")
        if vertex.lower() == "resign":
            break
        move = common.move_from_vertex(vertex, 9)
        if move is not None:
            board.play(*move, color)
        passes = passes + 1 if move is None else 0
        other = "w" if color == "b" else "b"
        engines[other].send(f"play {color} {vertex}")
        record.extend_main_sequence().set_move(color, move)
        color = other
    print(engines["b"].send("final_score"))
finally:
    for engine in engines.values():
        engine.process.kill()
        engine.process.communicate()
record.root.set("KM", 6.5)
record.root.set("PB", "GNU Go")
record.root.set("PW", "Tengen")
print(record.serialise().decode())
