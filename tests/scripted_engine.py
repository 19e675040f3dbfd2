"""A GTP engine that does what it is told, to test the programs that drive engines.

    python scripted_engine.py [OPTIONS] [--black "MOVE ..."] [--white "MOVE ..."]

Each genmove answers with the colour's next MOVE, and with `pass` when none is left; clear_board starts the lists again.
In place of a move: `die` ends the process with exit code 3, `hang` never answers, `fail` answers with a failure,
`wait:SECONDS` passes after a while.  `--lists` adds a command that answers nothing, `--answers "COMMAND TEXT"` one that
answers TEXT, or dies, `--score TEXT` makes final_score answer TEXT, `--refuse TEXT` makes every command that begins
with TEXT fail, `--banner` prints a line and an empty one before the first reply.  `--analyzes` adds kata-analyze, which
reports until the next line comes.

Commands that are not listed break off in other ways: `hang` never answers, `die` ends the process, `close` closes its
output, `flood` answers without end, `line` with a line without end, `words` writes lines that are no reply.
"""

import argparse
import itertools
import os
import queue
import sys
import threading
import time

BASIC = ["protocol_version", "name", "version", "list_commands", "quit"]
BASIC += ["boardsize", "clear_board", "komi", "play", "genmove"]


def analyze(interval: float, lines: "queue.SimpleQueue[str]") -> None:
    """Report about D4 and E5, visits 10, 20 …, until a line has come."""
    print("=", flush=True)
    for visits in itertools.count(10, 10):
        numbers = f"visits {visits // 2} winrate 0.6 scoreLead 1.5 prior 0.3 lcb 0.45"
        moves = [f"info move {move} {numbers} order {order} pv {move} C3" for order, move in enumerate(("D4", "E5"))]
        ownership = " ".join(["0.5"] * 25)
        report = f"{' '.join(moves)} rootInfo visits {visits} winrate 0.55 scoreLead 1.25 ownership {ownership}"
        print(report, flush=True)
        time.sleep(interval)
        if not lines.empty():
            break
    print(flush=True)


def read_into(lines: "queue.SimpleQueue[str]") -> None:
    """Put the lines of stdin into a queue, "" after the last."""
    for line in sys.stdin:
        lines.put(line)
    lines.put("")


def misbehave(command: str) -> None:
    """Break off, if the command says so."""
    if command == "hang":
        time.sleep(600)
    if command == "die":
        print("something broke", file=sys.stderr, flush=True)
        os._exit(3)
    if command == "close":
        os.close(1)
        time.sleep(600)
    if command in ("flood", "words"):
        print("=" if command == "flood" else "thinking", flush=True)
        while True:
            print("word " * 20, flush=False)
    if command == "line":
        while True:
            print("word " * 10_000, end="")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="Scripted")
    parser.add_argument("--lists", action="append", default=[])
    parser.add_argument("--answers", action="append", default=[])
    parser.add_argument("--score")
    parser.add_argument("--refuse")
    parser.add_argument("--banner", action="store_true")
    parser.add_argument("--analyzes", action="store_true")
    parser.add_argument("--black", default="")
    parser.add_argument("--white", default="")
    options = parser.parse_args()
    answers = dict(answer.split(" ", 1) for answer in options.answers)
    listed = BASIC + options.lists + list(answers) + (["final_score"] if options.score else [])
    listed += ["kata-analyze"] if options.analyzes else []
    fixed = {
        "protocol_version": "2",
        "name": options.name,
        "version": "1.0",
        "list_commands": "\n".join(listed),
        "final_score": options.score or "",
        **answers,
    }
    remaining = {"b": options.black.split(), "w": options.white.split()}
    if options.banner:
        print("Welcome!\n", flush=True)
    print("ready", file=sys.stderr, flush=True)
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=read_into, args=(lines,), daemon=True).start()
    while line := lines.get():
        if not line.strip():
            continue
        command = line.split()[0]
        if command == "kata-analyze" and options.analyzes:
            analyze(float(line.split()[2]) / 100, lines)
            continue
        misbehave(command)
        text = fixed.get(command, "")
        ok = not (options.refuse and line.startswith(options.refuse))
        if command == "clear_board":
            remaining = {"b": options.black.split(), "w": options.white.split()}
        elif command == "genmove":
            moves = remaining[line.split()[1]]
            text = moves.pop(0) if moves else "pass"
            if text == "hang":
                time.sleep(600)
            if text.startswith("wait:"):
                time.sleep(float(text[5:]))
                text = "pass"
            if text == "fail":
                ok, text = False, "no idea"
        if text == "die":
            sys.exit(3)
        print(f"{'=' if ok else '?'} {text if ok else text or 'refused'}\n", flush=True)
        if command == "quit":
            return


if __name__ == "__main__":
    main()
