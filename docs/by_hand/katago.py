import json
import subprocess

from sgfmill import common, sgf, sgf_moves

with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
board, moves = sgf_moves.get_setup_and_moves(record)
command = "katago analysis -model model.bin.gz -config analysis.cfg"
process = subprocess.Popen(command.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
letters = {"b": "B", "w": "W"}
query = {
    "id": "game",
    "moves": [[letters[color], common.format_vertex(move)] for color, move in moves],
    "initialStones": [[letters[color], common.format_vertex(point)] for color, point in board.list_occupied_points()],
    "rules": "chinese",
    "komi": record.get_komi(),
    "boardXSize": record.get_size(),
    "boardYSize": record.get_size(),
    "analyzeTurns": list(range(len(moves) + 1)),
    "maxVisits": 100,
    "includeOwnership": False,
    "overrideSettings": {"reportAnalysisWinratesAs": "BLACK"},
}
process.stdin.write(json.dumps(query) + "\n")
process.stdin.flush()
found = {}
while len(found) <= len(moves):
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("KataGo has ended")
    if not line.startswith("{"):
        continue
    response = json.loads(line)
    if "error" in response:
        raise RuntimeError(response["error"])
    if not response["isDuringSearch"]:
        found[response["turnNumber"]] = response
process.kill()
process.communicate()
for turn in sorted(found):
    root, best = found[turn]["rootInfo"], found[turn]["moveInfos"][0]
    print(f"{turn} {root['winrate']:.1%} {root['scoreLead']:+.1f} {best['move']}")
