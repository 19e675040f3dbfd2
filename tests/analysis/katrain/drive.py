"""Plays KaTrain's part: its own engine class starts a process, sends queries and reads the answers.

    python drive.py FOLDER CONFIG

FOLDER holds KaTrain's `katrain` package and what it imports, CONFIG is a JSON object that is added to KaTrain's engine
settings; with `remote_url`, the engine is a server and no process.  Prints a JSON report of what KaTrain's objects hold
afterwards.  Of KaTrain's imports only those are replaced that draw windows or guess the encoding of files: nothing of
either happens here.
"""

import json
import sys
import threading
import time
import types
from typing import Any

WAIT = 400.0
"""Seconds to wait for an analysis; a first start compiles, and that takes minutes where others share the machine."""


def stub_modules() -> None:
    """Replace KaTrain's graphics library and its detection of encodings by stand-ins."""
    for name, values in {
        "kivy": {},
        "kivy.utils": {"platform": "linux"},
        "kivy._event": {"Observable": object},
        "chardet": {},
    }.items():
        module = types.ModuleType(name)
        module.__dict__.update(values)
        sys.modules[name] = module


folder, settings = sys.argv[1], json.loads(sys.argv[2])
stub_modules()
sys.path.insert(0, folder)

from katrain.core.constants import OUTPUT_ERROR, OUTPUT_KATAGO_STDERR, VERSION  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402

if "remote_url" in settings:
    from katrain.core.remote_engine import RemoteKataGoEngine as KataGoEngine
from katrain.core.game_node import GameNode  # noqa: E402

try:
    from pysgf import Move
except ImportError:
    from katrain.core.sgf_parser import Move


class Application:
    """What the engine class needs of KaTrain's main window."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.stderr: list[str] = []

    def __call__(self, message: str, *_: object) -> None:
        self.errors.append(message)

    def log(self, message: Any, level: float = 0) -> None:
        """Keep what a user would be shown."""
        if level in (OUTPUT_ERROR, OUTPUT_KATAGO_STDERR):
            (self.errors if level == OUTPUT_ERROR else self.stderr).append(str(message))


def wait_until(condition: Any, what: str) -> None:
    """Wait for a condition; give up after a while."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}: {application.errors} {application.stderr}"
        time.sleep(0.01)


def facts(node: Any) -> dict[str, Any]:
    """Return what KaTrain shows of a node."""
    moves = node.candidate_moves
    return {
        "visits": node.root_visits,
        "score": node.score,
        "winrate": node.winrate,
        "ownership": len(node.ownership or []),
        "policy": len(node.policy or []),
        "moves": [move["move"] for move in moves],
        "orders": [move["order"] for move in moves],
        "pv": [move["pv"] for move in moves],
        "points_lost": [move["pointsLost"] for move in moves],
        "winrate_lost": [move["winrateLost"] for move in moves],
        "next_player": node.next_player,
    }


def node_of(moves: str = "", **properties: Any) -> Any:
    """Return the last node of a new game after these moves."""
    node = GameNode(properties={"SZ": 9, "KM": 6.5, "RU": "japanese", **properties})
    for vertex in moves.split():
        node = node.play(Move.from_gtp(vertex, player=node.next_player))
    return node


def analyse(node: Any, **options: Any) -> dict[str, Any]:
    """Analyse a node, wait for the end and return what KaTrain shows of it."""
    node.analyze(engine, **options)
    wait_until(lambda: node.analysis_complete, "an analysis")
    return facts(node)


def ask(node: Any, **options: Any) -> dict[str, Any]:
    """Return the last answer to a query of its own, or the error."""
    answers: list[Any] = []
    engine.request_analysis(
        node,
        callback=lambda answer, partial: partial or answers.append(answer),
        error_callback=answers.append,
        **options,
    )
    wait_until(lambda: answers, "an answer")
    return answers[0]


def pondering() -> dict[str, Any]:
    """Ponder, meanwhile analyse the rest of the game, then stop; return how that went.

    Ponder and stop again while stopping takes long: the machine may have been busy.
    """
    node, others = node_of("E5 C3 G6"), [node_of("D4 F6"[: 2 + 3 * (number % 2)]) for number in range(6)]
    node.analyze(engine, ponder=True)
    wait_until(lambda: node.root_visits > 0, "pondering")
    first = node.root_visits
    for other in others:
        other.analyze(engine, visits=30, priority=-100, report_every=None)
    wait_until(lambda: all(other.analysis_complete for other in others), "analyses while pondering")
    wait_until(lambda: node.root_visits > first, "more pondering")
    was_complete = node.analysis_complete
    stops = [stop_pondering(node)]
    while stops[-1] > 1 and len(stops) < 10:
        again = node_of("E5 C3 G6")
        again.analyze(engine, ponder=True)
        wait_until(lambda again=again: again.root_visits > 0, "pondering again")
        stops.append(stop_pondering(again))
    return {"was_complete": was_complete, "stop": min(stops)}


def stop_pondering(node: Any) -> float:
    """Stop pondering on a node; return the seconds until its analysis is complete."""
    started = time.monotonic()
    engine.stop_pondering()
    # KaTrain forgets a query before it stores its last answer: an idle engine alone does not say that the node has it
    wait_until(lambda: engine.is_idle() and node.analysis_complete, "the end of pondering")
    return time.monotonic() - started


def new_game() -> dict[str, Any]:
    """Begin a new game while queries of the old one are open; return how long the first answer takes."""
    for number in range(20):
        node_of("E5" if number % 2 else "").analyze(engine, visits=100_000, time_limit=False)
    time.sleep(0.5)
    engine.on_new_game()
    started = time.monotonic()
    shown = analyse(node_of("C7"), visits=20)
    return {**shown, "seconds": time.monotonic() - started}


application = Application()
config = {"max_visits": 60, "fast_visits": 25, "max_time": WAIT, "wide_root_noise": 0.04, "_enable_ownership": True}
engine = KataGoEngine(application, {**config, "threads": 4, **settings})
report: dict[str, Any] = {"version": VERSION}
report["first"] = analyse(node_of())
report["white_to_play"] = analyse(node_of("E5"), visits=80)
report["handicap"] = analyse(node_of(AB=["cc", "gg"], RU="chinese", SZ="9"), visits=1000)
report["rectangle"] = analyse(node_of("A1 N9", SZ="13:9", RU="aga"))
for ruleset in ("tromp-taylor", "new zealand", "korean", "stone_scoring", '{"ko":"SIMPLE","scoring":"AREA"}'):
    report.setdefault("rules", []).append(analyse(node_of(RU=ruleset), visits=10)["visits"])

alternatives = node_of()
report["known"] = analyse(alternatives, visits=30)["moves"]
for name, node, options in (
    ("alternatives", alternatives, {"find_alternatives": True}),
    ("region", node_of(), {"region_of_interest": [0, 2, 6, 8]}),
):
    answer = ask(node, visits=30, **options)
    report[name] = {"error": answer.get("error"), "moves": [info["move"] for info in answer.get("moveInfos", [])]}
report["sweep_of_occupied_point"] = ask(node_of("E5"), next_move=Move.from_gtp("E5", player="W"), visits=5).get("error")
report["handicap_strategy"] = ask(
    node_of(), visits=10, extra_settings={"playoutDoublingAdvantage": 1.0, "playoutDoublingAdvantagePla": "BLACK"}
)["rootInfo"]["visits"]
report["unknown_setting"] = ask(node_of(), visits=10, extra_settings={"antiMirror": True})["rootInfo"]["visits"]
report["pondering"] = pondering()
report["new_game"] = new_game()
process = engine.katago_process
engine.shutdown(finish=True)
if process is not None:
    process.wait(timeout=WAIT)
report["errors"] = application.errors
report["stderr"] = application.stderr
report["threads"] = [thread.name for thread in threading.enumerate() if not thread.daemon]
print(json.dumps(report))
