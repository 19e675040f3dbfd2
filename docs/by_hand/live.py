import re
import subprocess
import threading
import time

process = subprocess.Popen(["katago", "gtp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def send(command):
    process.stdin.write(command + "\n")
    process.stdin.flush()


def expect_reply():
    line = process.stdout.readline()
    while line and not line.startswith(("=", "?")):
        line = process.stdout.readline()
    if not line.startswith("="):
        raise RuntimeError(f"the engine failed: {line}")


send("boardsize 19")
expect_reply()
send("clear_board")
expect_reply()
watchdog = threading.Timer(60, process.kill)
watchdog.start()
send("kata-analyze b 50")
expect_reply()
while line := process.stdout.readline():
    moves = re.findall(r"info move (\S+) visits (\d+) .*?winrate (\S+) .*?scoreLead (\S+)", line)
    if not moves:
        continue
    visits = sum(int(move[1]) for move in moves)
    vertex, _, winrate, lead = moves[0]
    print(f"{float(winrate):.1%} {float(lead):+.1f} {visits} {vertex}")
    if visits > 1000:
        break
send("")
while process.stdout.readline().strip():
    time.sleep(0)
watchdog.cancel()
process.communicate("quit\n")
