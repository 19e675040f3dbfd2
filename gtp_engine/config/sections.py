"""The options, section by section.  To add one, declare it here; flags, files and documentation follow.

Names are unique over all sections, because each is a command line flag of its own.
"""

from dataclasses import dataclass
from typing import Final

from gtp_engine.config.option import Section, option

DEFAULT_TIME_PER_MOVE: Final = 5.0
"""Seconds a move takes when nobody has set a clock, a time per move or a number of visits."""


@dataclass(frozen=True)
class GameConfig(Section, name="game"):
    """The game that is set up at the start; GTP's boardsize, komi and kata-set-rules change it."""

    board_size: int | None = option(
        None,
        "Points on a side of the board; not set: 19, or what the network plays where that is another board.",
        unit="points",
        low=2,
        high=25,
    )
    komi: float | None = option(
        None, "Points White gets for moving second; not set: what the rules suggest.", unit="points"
    )
    rules: str = option("chinese", "Rule set: a name such as chinese, japanese, aga, tromp-taylor, or KataGo's JSON.")
    strict: bool = option(
        False,
        "Refuse GTP play commands that repeat a position under superko.  Otherwise they are accepted with a "
        "warning, so that front ends can replay any record.",
    )


@dataclass(frozen=True)
class SearchConfig(Section, name="search"):
    """How the engine searches."""

    search: str = option(
        "auto",
        "Search algorithm: puct follows a network; rave plays positions out and shares results between those in which "
        "the same move is played, uct plays out and shares nothing; auto is puct with a network and rave without.",
        choices=("auto", "puct", "rave", "uct"),
    )
    visits: int = option(
        0,
        "Stop a search at this many visits, those of the reused tree included; 0: no limit but time.",
        unit="visits",
        low=0,
        high=10**12,
    )
    threads: int = option(
        0, "Rollouts run in this many threads; 0: one for each processor core.", unit="threads", low=0, high=1024
    )
    seed: int | None = option(
        None,
        "Start the random numbers here, so that searches of a given number of visits repeat exactly, whatever the "
        "number of threads; not set: they differ every time.",
        low=0,
        high=2**63 - 1,
    )
    max_memory: int = option(
        512,
        "Largest size of the search tree; a full tree is searched on without growing.",
        unit="MiB",
        low=16,
        high=2**20,
    )
    batch: int = option(
        32,
        "Leaves that are selected together and played out in parallel; more use many cores better, fewer see results "
        "sooner.",
        unit="leaves",
        low=1,
        high=4096,
    )
    exploration_uct: float = option(
        0.3, "The constant c of UCB1 for results in [-1, 1] when search is uct.", low=0, high=10
    )
    exploration_rave: float = option(
        0.0,
        "The constant c of the same term when search is rave; 0: all-moves-as-first results alone make it explore.",
        low=0,
        high=10,
    )
    rave_equivalence: float = option(
        3500.0,
        "Visits at which a move's own results and its all-moves-as-first results count the same.",
        unit="visits",
        low=1,
        high=1e9,
    )
    expand_visits: int = option(
        4,
        "A position gets its moves into the tree once it has been visited so often.",
        unit="visits",
        low=1,
        high=10**6,
    )
    prior_weight: float = option(
        1.0,
        "Factor on what is assumed about moves before they are tried (captures, escapes, patterns, nearness); "
        "0: nothing is assumed.",
        low=0,
        high=100,
    )
    margin_weight: float = option(
        0.02,
        "Weight of the margin (as a share of the board) beside winning and losing, so that a won game is not frittered "
        "away and a lost one is played on; 0: only the winner counts.",
        low=0,
        high=1,
    )
    rollout_policy: str = option(
        "auto",
        "How positions are played out: tactical answers ataris and plays 3x3 patterns, uniform plays at random, "
        "linear plays by the weights that lie beside the networks (rollout-policy.npz), network by the rollout "
        "network (rollout_share mixes its results into a search with networks); auto is the first there is of linear "
        "and network in a search with networks, else tactical.",
        choices=("auto", "linear", "network", "tactical", "uniform"),
    )


@dataclass(frozen=True)
class TimeConfig(Section, name="time"):
    """How the engine spends its time; the clock itself comes from the controller (GTP's time_settings)."""

    time_per_move: float | None = option(
        None,
        "Time for each move when the controller has set no clock; not set: "
        f"{DEFAULT_TIME_PER_MOVE:g} seconds, or no limit where search.visits is given.",
        unit="seconds",
        low=0.001,
        high=1e6,
    )
    # KataGo and Leela Zero keep back 1 s; so does this where a late move loses the game (time_manager doubles it).
    lag: float = option(
        0.5,
        "Time kept back on every move for what the engine cannot see: the network, the controller, a busy "
        "machine.  Where less than twice this is left, half of what is left is kept back.",
        unit="seconds",
        low=0,
        high=60,
    )
    # Between two programs on one machine 17 ms pass unseen on average, 100 ms at worst (lc0, pull request 268).
    drift: float = option(
        0.02,
        "Time added to every move the engine books on its own clock, for controllers that never send time_left.",
        unit="seconds",
        low=0,
        high=10,
    )
    # This and max_share are chosen, not measured; what one move takes, the budgets of the later ones lose.
    hard_move_factor: float = option(
        2.5, "A hard move may take this many times the time planned for it.", low=1, high=10
    )
    max_share: float = option(
        0.15,
        "Largest share of the remaining main time a single move may take, besides increments and overtime.",
        low=0.01,
        high=0.5,
    )
    max_per_move: float = option(
        120.0,
        "Longest time for a move where the controller keeps a clock: correspondence games allow days.",
        unit="seconds",
        low=0.01,
        high=1e6,
    )
    early_stop: bool = option(
        True, "Play before the planned time is up when no other move can catch up or the move is settled."
    )
    settled_winrate: float = option(
        0.98,
        "A move is settled, and played at once, when the winrate is at least this or at most one minus this.",
        low=0.5,
        high=1,
    )
    ponder: bool = option(
        False, "Go on thinking about the opponent's move after our own, until the next command comes."
    )


@dataclass(frozen=True)
class PlayConfig(Section, name="play"):
    """When the engine gives up."""

    resign: bool = option(True, "Resign lost games; otherwise play them out.")
    resign_winrate: float = option(
        0.05, "A move counts as lost when the engine's winrate is below this.", low=0, high=0.5
    )
    resign_turns: int = option(
        3, "Resign when this many own moves running count as lost.", unit="moves", low=1, high=1000
    )
    resign_min_moves: float = option(
        0.2,
        "Never resign before this many moves of both players for each point of the board, so that a handicap game "
        "is not given up in the opening.",
        unit="moves per point",
        low=0,
        high=10,
    )


@dataclass(frozen=True)
class GtpConfig(Section, name="gtp"):
    """What the GTP server tells its controller."""

    name: str = option("Tengen", "Answer to the GTP command name; some front ends choose their dialect by it.")
    version: str | None = option(None, "Answer to the GTP command version; not set: the version of the package.")
    kgs_chat: bool = option(
        False, "List and answer kgs-chat.  Off, because kgsGtp 3.5.20 and later break engines that list it."
    )
    log: str | None = option(None, "Append every line received and sent to this file; not set: no log.", unit="path")
    # Side to move is what Sabaki, Lizzie and LizzieYzy take for granted; KataGo calls it reportAnalysisWinratesAs.
    analysis_perspective: str = option(
        "sidetomove",
        "Whose winrate, score and ownership kata-analyze and its relatives report.",
        choices=("sidetomove", "black", "white"),
    )


@dataclass(frozen=True)
class AnalysisConfig(Section, name="analysis"):
    """What `gtp-engine analysis` searches and reports; a query may change it for itself.

    The wide root noise is also that of GTP's kata-analyze and lz-analyze.
    """

    # 500 visits, 15 moves, wide root noise 0.04 and Black's view are those of KataGo's analysis_example.cfg.
    analysis_visits: int = option(
        500, "Visits of an analysis whose query names none.", unit="visits", low=1, high=2**50
    )
    analysis_time: float | None = option(
        None, "Longest time for one position; not set: only its visits end an analysis.", unit="seconds", low=0.001
    )
    wide_root_noise: float = option(
        0.04,
        "Make an analysis, GTP's too, look at more moves, less deeply; 0: it searches as for a move to play, 1: even "
        "at bad ones.",
        low=0,
        high=5,
    )
    pv_length: int = option(
        15, "Longest continuation reported, not counting its first move.", unit="moves", low=1, high=1000
    )
    perspective: str = option(
        "black",
        "Whose winrate, score, utility and ownership it reports.",
        choices=("black", "white", "sidetomove"),
    )
    # KaTrain has three at once: one without end, the position looked at, the rest of the game.
    parallel: int = option(
        4,
        "Positions in analysis at once, a search tree for each; only long analyses share the processor.",
        unit="positions",
        low=1,
        high=1024,
    )
