"""Searches and evaluations as text: analyze commands, kata-raw-nn, Go servers, and stderr while a search runs.

Reports hold Black's view; each output shows that of the colour it is for.

- The formats of lz-analyze, kata-analyze and kata-raw-nn are those of KataGo 1.17 (`docs/GTP_Extensions.md`,
  `cpp/command/gtp.cpp`), numbers with six significant digits as a C++ stream prints them.
- OGS's chat line is KataGo's (`ogsChatToStderr` in `cpp/command/gtp.cpp`), which gtp2ogs parses
  (`src/PvOutputParser.ts`).  The keys of CGOS's JSON and its ownership text are those that CGOS's Python client makes
  of KataGo's reports (`client-python/src/gtpengine.py`) and CGOS's viewer reads.  Both show the view of the side that
  moves.
- GoGui draws what follows `gogui-gfx:` on stderr until an empty line while it waits for a reply (chapter "Live
  Graphics" of its manual; the commands are those of the type `gfx` in chapter "Analyze Commands").  Other front ends
  would show these lines as text, so they are written only once GoGui has asked for its menu.  A person in a terminal
  gets a line now and then.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gtp_engine.base.errors import counted
from gtp_engine.evaluation.positions import Evaluation
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import board_points, format_color
from gtp_engine.go.game import Game
from gtp_engine.protocols.report_values import ReportView, as_text, view_color
from gtp_engine.search.report import MoveReport, SearchReport, for_color

if TYPE_CHECKING:
    from gtp_engine.engine import Choice

GOGUI_CLEAR: Final = "gogui-gfx: CLEAR"
"""The line of the log that ends GoGui's live graphics, before the reply: nothing of them stays on the board."""

OGS_PV_LENGTH: Final = 15
"""Longest continuation in a chat line, in moves: KataGo's `analysisPVLen`."""

CGOS_MOVES: Final = 20
"""Most moves in the JSON: CGOS's server closes the connection at a line of 64 KiB, which 361 moves can exceed."""

_OWNERSHIP_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HIGHEST_LETTER: Final = 62
"""Index of the letter for certain ownership; A is the opponent's.  The viewer does not use the last one."""

PV_LENGTH: Final = 8
"""Moves of the expected continuation that are shown; more hide the board."""

LABELLED_MOVES: Final = 8
"""Other moves that are marked with their share of the visits, in percent."""

TREE_MOVES: Final = 10
"""Moves that are listed for a choice, as in KataGo."""

_LEAST_OWNERSHIP: Final = 0.1
"""Points closer to neutral are not marked: their squares would be dots."""


# --- analyze commands and kata-raw-nn ---


def analysis_line(
    report: SearchReport, view: ReportView, *, is_kata: bool, min_moves: int = 0, max_moves: int | None = None
) -> str:
    """Return the line about a report; "" while no move has been searched.

    What the view wants are the parts that KataGo's format has on request.
    """
    moves = _at_least(min_moves, report)[:max_moves]
    if not moves:
        return ""
    write = _kata_move if is_kata else _lz_move
    parts = [write(view, view.move(order, move), move) for order, move in enumerate(moves)]
    if "rootInfo" in view.wanted:
        root = view.root(report)
        if (raw := report.raw) is not None:  # in KataGo's form for GTP
            root |= {"rawStWrError": raw.winloss_error, "rawStScoreError": raw.score_error}
            root["rawVarTimeLeft"] = raw.time_left
        parts.append(f"rootInfo {_fields(root, _ROOT_FIELDS)}")
    return " ".join([*parts, *_maps(view, report, "ownership")])


def _kata_move(view: ReportView, fields: dict[str, Any], move: MoveReport) -> str:
    """Return a move as KataGo writes it; its scoreMean is the lead, for tools older than scoreLead."""
    if "noResultValue" in view.wanted:
        fields["noResultValue"] = move.no_result
    parts = [f"info {_fields(fields, _MOVE_FIELDS)} pv {' '.join(fields['pv'])}"]
    visits = view.pv_visits(move)
    parts += [f"{name} {' '.join(map(str, visits[name]))}" for name in _VISITS if name in view.wanted]
    return " ".join([*parts, *_maps(view, move, "movesOwnership")])


def _maps(view: ReportView, found: MoveReport | SearchReport, name: str) -> list[str]:
    maps = view.maps(found, name).items()
    return [f"{name}{ending} {' '.join(map(as_text, values.tolist()))}" for ending, values in maps]


_VISITS: Final = ("pvVisits", "pvEdgeVisits")
_RESULTS: Final = ("utility", "winrate", "scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay")
_MOVE_FIELDS: Final = (
    *("move", "visits", "edgeVisits", *_RESULTS),
    *("noResultValue", "prior", "lcb", "utilityLcb", "weight", "isSymmetryOf", "order"),
)
_ROOT_FIELDS: Final = ("visits", *_RESULTS, "weight", "rawStWrError", "rawStScoreError", "rawVarTimeLeft")
"""What kata-analyze shows, in its order."""


def _fields(values: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return those of the named fields that are known."""
    return " ".join(f"{name} {as_text(values[name])}" for name in names if name in values)


def _lz_move(view: ReportView, fields: Mapping[str, Any], move: MoveReport) -> str:
    """Return a move as Leela Zero writes it: probabilities in ten thousandths."""
    shares = {name: round(10_000 * fields[name]) for name in ("winrate", "prior", "lcb")}
    return f"info {_fields({**fields, **shares}, _LZ_FIELDS)} pv {' '.join(fields['pv'])}"


_LZ_FIELDS: Final = ("move", "visits", "winrate", "prior", "lcb", "order")


def format_evaluation(
    evaluation: Evaluation, symmetries: Iterable[int], game: Game, color: int, *, is_human: bool = False
) -> str:
    """Return a network's evaluation of a position with `color` to play, White's view: a block for each of `symmetries`.

    `is_human`: in the form of kata-raw-human-nn, which has other names for the score and fewer lines.

    KataGo separates blocks by blank lines, which a GTP reply must not contain; its documentation allows other space.
    """
    legal: set[int] = {*game.legal_points(color)}
    return "\n".join(
        "\n".join([f"symmetry {symmetry}", *_evaluation_lines(evaluation, row, game, legal, is_human=is_human)])
        for row, symmetry in enumerate(symmetries)
    )


def _evaluation_lines(evaluation: Evaluation, row: int, game: Game, legal: set[int], *, is_human: bool) -> list[str]:
    policy, ownership = evaluation.policy[row], -evaluation.ownership_black[row]
    return [
        *result_lines(evaluation, row, is_human=is_human),
        "policy",
        board_text(game, lambda p: f"{policy[p]:8.6f}" if policy[p] > 0 or p in legal else "     NAN"),
        f"policyPass {policy[PASS]:8.6f}",
        "whiteOwnership",
        board_text(game, lambda point: f"{ownership[point]:9.7f}"),
    ]


def result_lines(evaluation: Evaluation, row: int, *, is_human: bool = False) -> list[str]:
    """Return the results of a row of a network's evaluation, White's view, without maps."""
    win, loss = float(evaluation.loss_black[row]), float(evaluation.win_black[row])
    mean, stdev = -float(evaluation.score_black[row]), float(evaluation.score_stdev[row])
    score = "whiteScore" if is_human else "whiteScoreSelfplay"
    return [
        f"whiteWin {win:.6f}",
        f"whiteLoss {loss:.6f}",
        f"noResult {max(0.0, 1.0 - win - loss):.6f}",
        *([] if is_human else [f"whiteLead {-float(evaluation.lead_black[row]):.3f}"]),
        f"{score} {mean:.3f}",
        f"{score}Sq {mean**2 + stdev**2:.3f}",
        *([] if is_human else [f"varTimeLeft {float(evaluation.time_left[row]):.3f}"]),
        f"shorttermWinlossError {float(evaluation.winloss_error[row]):.3f}",
        f"shorttermScoreError {float(evaluation.score_error[row]):.3f}",
    ]


def board_text(game: Game, show: Callable[[int], str]) -> str:
    """Return a line for each row of the board, from the top, with `show` applied to its points."""
    points, width = board_points(game.width, game.height), game.width
    return "\n".join(" ".join(map(show, points[start : start + width])) for start in range(0, len(points), width))


def _at_least(count: int, report: SearchReport) -> tuple[MoveReport, ...]:
    """Return the moves searched; if fewer than `count`, add likely moves with the results of the position itself.

    Moves that the search leaves out are not added.
    """
    moves = tuple(move for move in report.moves if move.position_visits > 0)
    missing, policy = count - len(moves), report.priors
    if missing <= 0 or policy is None:
        return moves
    known = {move.point for move in moves}
    others = [int(point) for point in np.argsort(-policy, kind="stable") if point not in known and policy[point] > 0]
    own = report.seen_by(report.to_play)
    position = MoveReport(
        point=PASS,
        visits=0,
        value_black=report.value_black,
        expected_black=report.value_black,
        lcb=own.winrate,
        utility_black=report.utility_black,
        utility_lcb=own.utility,
        score_black=report.score_black,
        score_stdev=report.score_stdev,
        lead_black=report.lead_black,
        no_result=report.no_result,
    )
    added = (replace(position, point=p, prior=float(policy[p]), pv=(p,), pv_visits=(0,)) for p in others[:missing])
    return (*moves, *added)


# --- what a search knows, as KataGo prints it for people (`printTree` in `cpp/search/searchresults.cpp`) ---


def search_text(game: Game, report: SearchReport, perspective: str, *, moves: int | None = None) -> str:
    """Return a line about a position that was searched and one for each of its moves, or the first `moves`.

    Utilities, and their parts from winning and from the score, are in hundredths; then come expected score and lead,
    points, the prior, what the move is chosen by, the visits and the expected continuation.
    """
    color = view_color(perspective, report.to_play)
    best = report.best
    head = f": {_results_text(report, color)}N {report.visits:7d}  --  "
    lines = [head + ("" if best is None else " ".join(map(game.vertex, best.pv)))]
    lines.append(f"---{format_color(report.to_play).capitalize()}({'^' if color == report.to_play else 'v'})---")
    for move in report.moves[:moves]:
        vertex = "pss" if move.point == PASS else game.vertex(move.point)
        _, bound = move.bounds_seen_by(color, report.to_play)
        known = f"LCB {100 * bound:7.2f}c " if move.selection_weight > 0.0 else ""
        chosen = f"PSV {move.selection_weight:7.0f} " if move.selection_weight > 0.0 else ""
        lines.append(
            f"{vertex:<3} : {_results_text(move, color)}{known}P {100 * move.prior:5.2f}% "
            f"WF {move.weight:5.1f} {chosen}N {move.position_visits:7d}  --  {' '.join(map(game.vertex, move.pv[1:]))}"
        )
    return "\n".join(line.rstrip() for line in lines)


def _results_text(found: MoveReport | SearchReport, color: int) -> str:
    seen = found.seen_by(color)
    value = for_color(found.value_black, color)
    return (
        f"T {100 * seen.utility:6.2f}c W {100 * value:6.2f}c S {100 * (seen.utility - value):6.2f}c "
        f"({seen.score:+5.1f} L {seen.lead:+5.1f}) "
    )


def choice_text(game: Game, choice: "Choice", perspective: str) -> str:
    """Return what was found for a choice, with the board before the move, for a person."""
    report = choice.report
    lines = [game.diagram(), f"Rules: {game.rules.to_json()}", f"Time taken: {report.seconds:.3f}"]
    lines += [f"Root visits: {report.visits}", f"New playouts: {report.playouts}"]
    lines += [f"PV: {' '.join(map(game.vertex, report.best.pv)) if report.best is not None else ''}", "Tree:"]
    return "\n".join([*lines, search_text(game, report, perspective, moves=TREE_MOVES)])


# --- Go servers ---


def ogs_chat_line(game: Game, choice: "Choice") -> str:
    """Return the line about a choice that gtp2ogs posts to the game's chat, or "" where nothing was searched.

    `game` holds the position before the move.  The continuation begins with the chosen move if that was searched, else
    with the best one; a line without any would end gtp2ogs.
    """
    report = choice.report
    if report.best is None:
        return ""
    chosen = next((move for move in report.moves if move.point == choice.point), report.best)
    if not chosen.pv:
        return ""
    return (
        f"MALKOVICH:Visits {report.visits} Winrate {100 * report.winrate:.2f}% "
        f"ScoreLead {report.seen_by(report.to_play).lead:.1f} ScoreStdev {report.score_stdev:.1f} "
        f"PV {' '.join(map(game.vertex, chosen.pv[:OGS_PV_LENGTH]))}"
    )


def cgos_analysis(game: Game, report: SearchReport) -> str:
    """Return a search as a line of JSON for CGOS, the best moves first; `game` holds the position that was searched."""
    moves = [move for move in report.moves if move.visits > 0][:CGOS_MOVES]
    seen = report.seen_by(report.to_play)
    owned = for_color(report.ownership_black, report.to_play)[list(board_points(game.width, game.height))]
    letters = np.rint((owned.clip(-1, 1) + 1) / 2 * _HIGHEST_LETTER).astype(int)  # row by row from the top left
    analysis = {
        "visits": report.visits,
        "winrate": round(report.winrate, 4),
        "score": round(seen.lead, 2),
        "moves": [_cgos_move(game, move, report.to_play) for move in moves],
        "ownership": "".join(_OWNERSHIP_LETTERS[letter] for letter in letters),
    }
    return json.dumps(analysis, separators=(",", ":"))


def _cgos_move(game: Game, move: MoveReport, color: int) -> dict[str, str | float]:
    seen = move.seen_by(color)
    return {
        "move": game.vertex(move.point),
        "visits": move.visits,
        "winrate": round(seen.winrate, 4),
        "prior": round(move.prior, 4),
        "score": round(seen.lead, 2),
        "pv": " ".join(map(game.vertex, move.pv[1:])),
    }


# --- stderr, while a search runs ---


def gogui_graphics(game: Game, report: SearchReport) -> str:
    """Return draw commands for GoGui with a newline after the last, so that the end of the line makes an empty one.

    They show the ownership, the expected continuation as numbered stones, other moves by their visits, and a line.
    """
    if report.best is None:
        return GOGUI_CLEAR
    pv = report.best.pv[:PV_LENGTH]
    others = [move for move in report.moves[: LABELLED_MOVES + 1] if move.point not in (PASS, *pv)]
    shares = [(move.point, f"{100 * move.visits / max(1, report.visits):.0f}%") for move in others]
    owned = [
        (point, f"{report.ownership_black[point]:.2f}")
        for point in board_points(game.width, game.height)
        if abs(report.ownership_black[point]) >= _LEAST_OWNERSHIP
    ]
    lines = ["gogui-gfx:", "CLEAR"]
    lines += [f"INFLUENCE {_pairs(game, owned)}"] if owned else []
    lines += [f"LABEL {_pairs(game, shares)}"] if shares else []
    colors = "bw" if report.to_play == BLACK else "wb"  # a pass keeps its place in the numbering
    variation = " ".join(f"{colors[number % 2]} {game.vertex(point)}" for number, point in enumerate(pv))
    lines += [f"VAR {variation}", f"TEXT {progress_line(game, report)}"]
    return "\n".join(lines) + "\n"


def progress_line(game: Game, report: SearchReport) -> str:
    """Return one line about a running search, from the view of the side to play."""
    if report.best is None:
        return "Thinking …"
    lead = report.seen_by(report.to_play).lead
    return (
        f"Thinking: {format_color(report.to_play)} {game.vertex(report.best.point)}, winrate {report.winrate:.0%}, "
        f"lead {lead:+.1f}, {counted(report.visits, 'visit')}, {report.seconds:.0f} s"
    )


def _pairs(game: Game, values: Iterable[tuple[int, str]]) -> str:
    return " ".join(f"{game.vertex(point)} {text}" for point, text in values)
