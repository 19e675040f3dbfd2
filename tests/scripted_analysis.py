"""An engine of the analysis protocol that does what the komi of a query says, to test the programs that drive engines.

Each turn of a query is answered at once, after one report during the search; a query of 1,000,000 visits or more
reports until it is terminated.  Komi 101: the process ends; 102: never an answer; 103: an error; 104: a response
without its fields; 105: junk without end; 106: an error about no query; 107: a
warning that a limit is unknown, and a search without an end.
"""

import json
import os
import queue
import sys
import threading
import time

from scripted_engine import read_into


def response(query: dict, turn: int, visits: int, *, final: bool) -> str:
    size = query["boardXSize"] * query["boardYSize"]
    move = {
        "move": "D4",
        "order": 0,
        "visits": visits,
        "winrate": 0.6,
        "scoreLead": 1.5,
        "prior": 0.3,
        "lcb": 0.5,
        "pv": ["D4"],
    }
    player = "BW"[turn % 2]
    result = {
        "id": query["id"],
        "turnNumber": turn,
        "isDuringSearch": not final,
        "moveInfos": [move],
        "rootInfo": {"visits": visits, "winrate": 0.55, "scoreLead": 1.25, "currentPlayer": player},
    }
    return json.dumps(result | ({"ownership": [0.5] * size} if query["includeOwnership"] else {}))


def main() -> None:
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=read_into, args=(lines,), daemon=True).start()
    running: dict[str, dict] = {}
    print("Started, ready to begin handling requests", file=sys.stderr, flush=True)
    print("a banner", flush=True)
    while True:
        if running and lines.empty():
            for query in running.values():
                print(response(query, query["analyzeTurns"][0], 100, final=False), flush=True)
            time.sleep(0.01)
            continue
        if not (line := lines.get()):
            return
        query = json.loads(line)
        if query.get("action") == "query_version":
            print(json.dumps({**query, "version": "1.0"}), flush=True)
        elif query.get("action") == "terminate":
            ended = running.pop(query["terminateId"], None)
            if ended:
                print(response(ended, ended["analyzeTurns"][0], 200, final=True), flush=True)
            print(json.dumps(query), flush=True)
        elif query["komi"] == 101:
            os._exit(3)
        elif query["komi"] == 102:
            time.sleep(600)
        elif query["komi"] == 103:
            print(json.dumps({"id": query["id"], "field": "komi", "error": "no such komi"}), flush=True)
        elif query["komi"] == 104:
            print(json.dumps({"id": query["id"], "turnNumber": 0}), flush=True)
        elif query["komi"] == 105:
            while True:
                print("word " * 1000)
        elif query["komi"] == 106:
            print(json.dumps({"error": "not a query"}), flush=True)
        elif query["komi"] == 107:
            warning = "unknown settings, ignored: 'maxPlayouts'"
            print(json.dumps({"id": query["id"], "field": "overrideSettings", "warning": warning}), flush=True)
            running[query["id"]] = query
        elif query.get("maxVisits", 0) >= 1_000_000:
            running[query["id"]] = query
        else:
            for turn in reversed(query["analyzeTurns"]):
                print(response(query, turn, 1, final=False))
                print(response(query, turn, query.get("maxVisits", 7), final=True), flush=True)


if __name__ == "__main__":
    main()
