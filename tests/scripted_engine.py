"""A GTP engine that does what it is told, to test the programs that drive engines.

    python scripted_engine.py [OPTIONS] [--black "MOVE ..."] [--white "MOVE ..."]

Each genmove answers with the colour's next MOVE, and with `pass` when none is left; clear_board starts the lists
again.  In place of a move: `die` ends the process with exit code 3, `hang` never answers, `fail` answers with a
failure, `wait:SECONDS` passes after a while.  `--lists` adds a command that answers nothing, `--answers "COMMAND TEXT"`
one that answers TEXT, `--score TEXT` makes final_score answer TEXT, `--refuse TEXT` makes every command that begins
with TEXT fail, `--banner` prints a line before the first reply.
"""

import argparse
import sys
import time

BASIC = ["protocol_version", "name", "version", "list_commands", "quit"]
BASIC += ["boardsize", "clear_board", "komi", "play", "genmove"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="Scripted")
    parser.add_argument("--lists", action="append", default=[])
    parser.add_argument("--answers", action="append", default=[])
    parser.add_argument("--score")
    parser.add_argument("--refuse")
    parser.add_argument("--banner", action="store_true")
    parser.add_argument("--black", default="")
    parser.add_argument("--white", default="")
    options = parser.parse_args()
    answers = dict(answer.split(" ", 1) for answer in options.answers)
    listed = BASIC + options.lists + list(answers) + (["final_score"] if options.score else [])
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
        print("Welcome!", flush=True)
    print("ready", file=sys.stderr, flush=True)
    for line in sys.stdin:
        command = line.split()[0]
        text = fixed.get(command, "")
        ok = not (options.refuse and line.startswith(options.refuse))
        if command == "clear_board":
            remaining = {"b": options.black.split(), "w": options.white.split()}
        elif command == "genmove":
            moves = remaining[line.split()[1]]
            text = moves.pop(0) if moves else "pass"
            if text == "die":
                sys.exit(3)
            if text == "hang":
                time.sleep(600)
            if text.startswith("wait:"):
                time.sleep(float(text[5:]))
                text = "pass"
            if text == "fail":
                ok, text = False, "no idea"
        print(f"{'=' if ok else '?'} {text if ok else text or 'refused'}\n", flush=True)
        if command == "quit":
            return


if __name__ == "__main__":
    main()
