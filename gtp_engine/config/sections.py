"""The options of everything but the search with a network and human-like play, section by section.

To add an option, declare it here, in `puct` or in `human`; flags, files and documentation follow.  Names are unique
across all sections, because each name is a command line flag; only `QuantizeSettings` belong to commands of their own,
and are here because these read them without loading onnx.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gtp_engine.base.errors import ConfigError, shown
from gtp_engine.config.option import Section, option

MAX_LEVEL: Final = "max"

LEVELS: Final = (*(f"{kyu}k" for kyu in range(20, 0, -1)), *(f"{dan}d" for dan in range(1, 10)))
"""The ranks, the weakest first."""


def parse_level(text: str) -> str:
    """Return the name of a level, in lower case and without leading zeros; raises ConfigError."""
    name = text.strip().lower().lstrip("0")
    if name != MAX_LEVEL and name not in LEVELS:
        raise ConfigError(f"level {shown(text)}", expected=f"20k to 1k, 1d to 9d, or {MAX_LEVEL}")
    return name


DEFAULT_TIME_PER_MOVE: Final = 5.0
"""Seconds for a move without a clock, a time per move or a number of visits."""

DEFAULT_LAG: Final = 0.5
"""Seconds reserved for delays.  KataGo and Leela Zero reserve 1 s; so does this where a late move loses the game
(`time_manager.LAST_PERIOD_LAG`)."""


@dataclass(frozen=True)
class GameConfig(Section, name="game", shapes_trees=False):
    """The game that is set up at the start; GTP's boardsize, komi and kata-set-rules change it."""

    board_size: int | None = option(None, unit="points", bounds=(2, 25), katago_start="defaultBoardSize")
    """Points on a side of the board; not set: 19, or the network's own size if it cannot play on 19x19."""
    board_height: int | None = option(None, unit="points", bounds=(2, 25), katago_start="defaultBoardYSize")
    """Rows of a board that is not square; not set: as many as columns."""
    komi: float | None = option(None, unit="points")
    """Points White gets for moving second; not set: the usual komi of the rules, but 7 on 9x9 by area rules."""
    forced_komi: float | None = option(None, unit="points", katago_start="ignoreGTPAndForceKomi")
    """Komi of all games, whatever GTP's komi or a game record says ({katago_start}); not set: what these say."""
    rules: str = option("chinese", unit="name", katago_start="rules")
    """Rule set: a name such as chinese, japanese, aga, tromp-taylor, or KataGo's JSON."""
    handicap_by_moves: bool = option(True, katago_start="assumeMultipleStartingBlackMovesAreHandicap")
    """Count the moves that Black makes in a row at the start of a game as handicap ({katago_start})."""
    strict: bool = option(False)
    """Refuse illegal moves that records contain: repetitions, the retaking of a ko, suicide of several stones.
    Otherwise GTP accepts them with a warning, and analyses without one, so that any record can be replayed."""

    @cached_property
    def board(self) -> tuple[int, int] | None:
        """Width and height of the board that is set, None if none is."""
        width = self.board_size or self.board_height
        return None if width is None else (width, self.board_height or width)


@dataclass(frozen=True)
class SearchConfig(Section, name="search"):
    """How the engine searches."""

    search: str = option("auto", choices=("auto", "puct", "rave", "uct"))
    """Search algorithm: puct follows a network; uct evaluates positions by rollouts; rave does too and also uses
    all-moves-as-first results; auto is puct with a network and rave without."""
    visits: int = option(0, unit="visits", bounds=(0, 10**12), katago_gtp="maxVisits", shapes_tree=False)
    """Stop a search at this many visits, including those of the reused tree; 0: only time limits it."""
    threads: int = option(0, unit="threads", bounds=(0, 1024), katago_gtp="numSearchThreads")
    """Threads of the rollouts, in searches that have any; 0: one for each processor core.  The network's are
    --network-threads."""
    playouts: int = option(0, unit="playouts", bounds=(0, 10**12), katago_gtp="maxPlayouts", shapes_tree=False)
    """Stop a search after this many playouts, those of the reused tree not counted; 0: no limit ({katago_gtp})."""
    forget_history: bool = option(False, katago_gtp="ignorePreRootHistory", shapes_tree=False)
    """Search for a move to play without telling the network the moves that led to the position ({katago_gtp} in GTP);
    for analyses see --ignore-history."""
    seed: int | None = option(None, low=0)
    """Seed of the random numbers; not set: searches differ each time.  Searches of a fixed number of visits then repeat
    exactly, with any number of threads.  With a network, batches are then 8 positions on every machine."""
    max_memory: int | None = option(None, unit="MiB", bounds=(16, 2**20))
    """Largest size of the search tree; not set: an eighth of the free memory.  When it is full, a search with a network
    drops its least visited parts, and one by rollouts goes on without adding to it.  All trees and caches of a process
    share a quarter of the free memory."""
    batch: int = option(32, unit="leaves", bounds=(1, 4096))
    """Leaves that are selected together and played out in parallel; a larger batch uses many cores better, a smaller
    one learns from results sooner."""
    exploration_uct: float = option(0.3, bounds=(0, 10))
    """The constant c of UCB1 for results in [-1, 1], with --search uct."""
    exploration_rave: float = option(0.0, bounds=(0, 10))
    """The same constant with --search rave; 0: only all-moves-as-first results drive exploration."""
    rave_equivalence: float = option(3500.0, unit="visits", bounds=(1, 1e9))
    """Visits at which a move's own results and its all-moves-as-first results count the same."""
    expand_visits: int = option(4, unit="visits", bounds=(1, 10**6))
    """Visits after which the moves of a position are added to the tree."""
    prior_weight: float = option(1.0, bounds=(0, 100))
    """Factor on the prior knowledge about moves without visits (captures, escapes, patterns, nearness); 0: no prior
    knowledge."""
    reward: str = option("result", choices=("result", "margin"))
    """What a rollout is worth: result is winning or losing, with --margin-weight for the margin; margin is the margin
    alone, as a share of the board.  Values are mean margins then, as in programs for Othello."""
    margin_weight: float = option(0.02, bounds=(0, 1))
    """Weight of the margin (as a share of the board) beside winning and losing, so that points still count in a decided
    game; 0: only the winner counts."""
    rollout_policy: str = option("auto", choices=("auto", "linear", "network", "tactical", "uniform"))
    """How rollouts choose moves.  tactical answers ataris and plays 3x3 patterns; uniform plays at random; linear uses
    the weights in rollout-policy.npz beside the networks; network uses the rollout network.  auto is linear, or else
    network, in a search with networks that have them, and otherwise tactical.  --rollout-share mixes results of
    rollouts into a search with networks."""

    @cached_property
    def is_limited(self) -> bool:
        """Whether visits or playouts limit the search for a move."""
        return self.visits > 0 or self.playouts > 0


@dataclass(frozen=True)
class TimeConfig(Section, name="time", shapes_trees=False):
    """How the engine spends its time; the clock itself comes from the controller (GTP's time_settings)."""

    time_per_move: float | None = option(
        None,
        "Time for each move of a game without a clock; not set: "
        f"{DEFAULT_TIME_PER_MOVE:g} seconds, or no limit with --visits.",
        unit="seconds",
        bounds=(0.001, 1e6),
    )
    max_time: float | None = option(None, unit="seconds", low=0, katago_gtp="maxTime")
    """Longest search for a move, whether the controller keeps a clock or not ({katago_gtp}); not set: as long as the
    clock and the other options allow."""
    lag: float | None = option(
        None,
        "Time reserved on every move for delays of the network, the controller or a busy machine; not set: "
        f"{DEFAULT_LAG:g} seconds, less in short overtime periods once moves were on time.  In the last period of "
        "overtime it is twice as much, but never more than half of what is left.",
        unit="seconds",
        bounds=(0, 3600),
        katago_gtp="lagBuffer",
    )
    # Two programs on one machine lose 17 ms a move on average, 100 ms at worst (lc0, pull request 268).
    drift: float = option(0.02, unit="seconds", bounds=(0, 10))
    """Time added to every move on the engine's own clock, for controllers that never send time_left."""
    # This and max_share are chosen, not measured; time spent on one move is missing from the budgets of later moves.
    hard_move_factor: float = option(2.5, bounds=(1, 10))
    """Longest time for a move that is hard to choose, as a multiple of the planned time."""
    max_share: float = option(0.15, bounds=(0.01, 0.5))
    """Largest share of the remaining main time a single move may take, besides increments and overtime."""
    max_per_move: float = option(120.0, unit="seconds", bounds=(0.01, 1e6))
    """Longest time for a move where the controller keeps a clock, as correspondence games allow days."""
    stretch: float = option(1.0, bounds=(0.01, 100), katago_gtp="overallocateTimeFactor")
    """Factor on the planned time of moves with a clock; the longest stays as it is ({katago_gtp})."""
    midgame_stretch: float = option(1.0, bounds=(0.01, 100), katago_gtp="midgameTimeFactor")
    """Factor on it at --midgame-peak; towards the first move and the end of the game it nears 1 ({katago_gtp})."""
    midgame_peak: float = option(130.0, unit="moves", bounds=(0, 1000), katago_gtp="midgameTurnPeakTime")
    """Moves of both players on 19x19 until --midgame-stretch counts fully; fewer on smaller boards ({katago_gtp})."""
    endgame_decay: float = option(100.0, unit="moves", bounds=(0, 1000), katago_gtp="endgameTurnTimeDecay")
    """Moves after --midgame-peak in which that effect falls to 1/e, on 19x19 ({katago_gtp})."""
    obvious_share: float = option(1.0, bounds=(0.01, 1), katago_gtp="obviousMovesTimeFactor")
    """Share of the planned time that an obvious move gets: one that the network finds likely and the search best
    ({katago_gtp})."""
    obvious_entropy: float = option(
        0.3, unit="nats", bounds=(0.001, 2), katago_gtp="obviousMovesPolicyEntropyTolerance"
    )
    """Entropy of the network's policy at which a move is obvious to 1/e ({katago_gtp})."""
    obvious_surprise: float = option(
        0.15, unit="nats", bounds=(0.001, 2), katago_gtp="obviousMovesPolicySurpriseTolerance"
    )
    """The same for the divergence of the search's choice from the policy ({katago_gtp})."""
    early_stop: bool = option(True)
    """Play before the planned time is up when no other move can catch up or the move is settled.  In periods below 5
    seconds, the rest of which is lost, do so only when it is settled."""
    settled_winrate: float = option(0.98, bounds=(0.5, 1))
    """In the second half of a game, play at once when the winrate is at least this; not with --visits."""
    ponder: bool = option(False, katago_gtp="ponderingEnabled")
    """Keep searching while the opponent thinks, until the next command arrives."""
    # So that an engine left alone does not run all night; KataGo's config file suggests a minute.
    ponder_time: float = option(600.0, unit="seconds", low=0, katago_gtp="maxTimePondering")
    """Longest time for pondering ({katago_gtp})."""
    ponder_visits: int = option(0, unit="visits", bounds=(0, 10**12), katago_gtp="maxVisitsPondering")
    """Stop pondering at this many visits, those of the reused tree included; 0: no limit ({katago_gtp})."""
    ponder_playouts: int = option(0, unit="playouts", bounds=(0, 10**12), katago_gtp="maxPlayoutsPondering")
    """Stop pondering after this many playouts; 0: no limit ({katago_gtp})."""
    effort_after_pass: float = option(1.0, bounds=(0, 1), katago_gtp="searchFactorAfterOnePass")
    """Share of its time, visits and playouts that a move gets after the opponent's pass ({katago_gtp})."""
    effort_after_passes: float = option(1.0, bounds=(0, 1), katago_gtp="searchFactorAfterTwoPass")
    """The same share after two passes of the opponent's in a row ({katago_gtp})."""
    effort_when_winning: float = option(1.0, bounds=(0.01, 1), katago_gtp="searchFactorWhenWinning")
    """The same share at a winrate of 1; at a lower one it is more, up to all at --effort-winrate ({katago_gtp})."""
    effort_winrate: float = option(1.0, bounds=(0.5, 1), katago_gtp="searchFactorWhenWinningThreshold")
    """Winrate of the last three moves from which --effort-when-winning saves time ({katago_gtp}, from 0 to 1)."""

    @cached_property
    def without_clock(self) -> float | None:
        """Seconds for a move without a clock; None if neither option that limits them is set."""
        return min((limit for limit in (self.time_per_move, self.max_time) if limit is not None), default=None)


@dataclass(frozen=True)
class PlayConfig(Section, name="play", shapes_trees=False):
    """How strongly and how fast the engine plays, and when it resigns."""

    level: str = option(MAX_LEVEL, unit="rank", normalize=parse_level)
    """Play like a person of this rank, 20k to 1k or 1d to 9d, in a fraction of the time; max: as strongly as possible.
    Analyses are not affected."""
    delay: float = option(0.0, unit="seconds", bounds=(0, 10_000), katago_gtp="delayMoveScale")
    """Wait before a move as a person does; 0: play at once ({katago_gtp}).  The mean wait is this for a move to which
    the policy gives 40%, less for an obvious one, up to five times as long for a surprising one.  It is never longer
    than the time for the move.  At a level the policy is that of people of the rank."""
    delay_max: float = option(1e6, unit="seconds", bounds=(0, 1e6), katago_gtp="delayMoveMax")
    """Longest wait before a move ({katago_gtp})."""
    resign: bool = option(True, katago_gtp="allowResignation")
    """Resign lost games; otherwise play them out."""
    resign_winrate: float = option(0.05, bounds=(0, 0.5), katago_gtp="resignThreshold")
    """A move counts as lost when the engine's winrate is below this ({katago_gtp}, from -1 to 0)."""
    resign_turns: int = option(3, unit="moves", bounds=(1, 1000), katago_gtp="resignConsecTurns")
    """Resign when this many of the engine's moves in a row count as lost ({katago_gtp})."""
    resign_min_moves: float = option(
        0.2, unit="moves per point", bounds=(0, 10), katago_gtp="resignMinMovesPerBoardArea"
    )
    """Never resign before this many moves of both players for each point of the board, so that the engine does not
    resign a handicap game in the opening ({katago_gtp})."""
    resign_min_points: float | None = option(
        None, unit="points", bounds=(0, 1000), katago_gtp="resignMinScoreDifference"
    )
    """Never resign while fewer points behind than this; not set: however close the game is ({katago_gtp})."""
    book: str | None = option(None, unit="file")
    """Play from this book, a file of `gtp-engine book`, on its board and under its rules while it has the position, but
    not at a level; not set: no book."""


@dataclass(frozen=True)
class VarietyConfig(Section, name="variety"):
    """How earlier games, or the other corners of the board, change the moves that are played with a network."""

    # The numbers are those of KataGo's gtp_example.cfg, where it has no defaults.
    avoid_repeats: str | None = option(None, unit="folder", katago_gtp="autoAvoidRepeatDir")
    """Vary the games: keep the moves played in this folder, where the same ones cost a little utility in later games.
    Old ones are deleted; not set: none are kept ({katago_gtp})."""
    avoid_repeats_utility: float = option(0.004, bounds=(-3, 3), katago_gtp="autoAvoidRepeatUtility")
    """What a move of the last game costs; much more leads to bad moves ({katago_gtp})."""
    avoid_repeats_lambda: float = option(0.9995, bounds=(0, 1), katago_gtp="autoAvoidRepeatLambda")
    """Factor on that cost for each move that has been kept since ({katago_gtp})."""
    avoid_repeats_min_turn: int = option(
        0, unit="moves", bounds=(0, 1_000_000), katago_gtp="autoAvoidRepeatMinTurnNumber"
    )
    """Moves of both players before the first that is kept ({katago_gtp})."""
    avoid_repeats_max_turn: int = option(
        50, unit="moves", bounds=(0, 1_000_000), katago_gtp="autoAvoidRepeatMaxTurnNumber"
    )
    """Moves of both players before the last that is kept ({katago_gtp})."""
    avoid_repeats_most: int = option(10_000, unit="moves", bounds=(0, 10_000_000), katago_gtp="autoAvoidRepeatMaxPoses")
    """Moves that are kept for each size of the board ({katago_gtp})."""
    avoid_repeats_chunk: int = option(200, unit="moves", bounds=(1, 10_000), katago_gtp="autoAvoidRepeatSaveChunkSize")
    """Moves in each file of the folder ({katago_gtp})."""
    avoid_sgf: str | None = option(None, unit="folders", katago_gtp="avoidSgfPatternDirs")
    """Avoid the moves of these records: folders or files, joined by commas; not set: avoid none ({katago_gtp})."""
    avoid_sgf_utility: float = option(0.001, bounds=(-3, 3), katago_gtp="avoidSgfPatternUtility")
    """What a move of the newest record costs; below 0 it gains ({katago_gtp})."""
    avoid_sgf_lambda: float = option(1.0, bounds=(0, 1), katago_gtp="avoidSgfPatternLambda")
    """Factor on that cost for each newer record ({katago_gtp})."""
    avoid_sgf_min_turn: int = option(0, bounds=(0, 1_000_000), katago_gtp="avoidSgfPatternMinTurnNumber")
    """Number of the first move of a record that counts ({katago_gtp})."""
    avoid_sgf_files: int = option(1_000_000, unit="files", bounds=(1, 1_000_000), katago_gtp="avoidSgfPatternMaxFiles")
    """Records that count, the newest ones ({katago_gtp})."""
    avoid_sgf_names: str = option("", unit="names", katago_gtp="avoidSgfPatternAllowedNames")
    """Only moves of players with these names count, joined by commas; empty: all ({katago_gtp})."""
    avoid_repeated_patterns: float = option(0.0, bounds=(-3, 3), katago_gtp="avoidRepeatedPatternUtility")
    """Cost of moves that the engine has played elsewhere on the board in the same game, such as a joseki ({katago_gtp},
    in KataGo 0.005 in handicap games)."""


@dataclass(frozen=True)
class GtpConfig(Section, name="gtp", shapes_trees=False):
    """How the GTP server answers its controller."""

    name: str = option("Tengen")
    """Answer to the GTP command name; some front ends choose their dialect by it."""
    version: str | None = option(None)
    """Answer to the GTP command version; not set: the version of KataGo that has the same commands, then the engine's
    own."""
    kgs_chat: bool = option(False)
    """List and answer kgs-chat.  Off because kgsGtp 3.5.20 and later break engines that list it."""
    ogs_chat: bool = option(False, katago_gtp="ogsChatToStderr")
    """Write a line about each move to stderr that gtp2ogs posts to the chat of the game: visits, winrate, lead and
    expected continuation.  OGS shows it to the opponent when the game is over."""
    files: bool = option(True)
    """Let GTP commands load and write files of game records.  Always off for engines that play over a network."""
    more_memory: bool = option(True)
    """Let GTP commands raise --max-memory above its value at the start.  Always off for engines that play over a
    network."""
    log: str | None = option(None, unit="log file")
    """Append every line received and sent to this file; not set: no log."""
    # Sabaki, Lizzie and LizzieYzy assume the side to move.
    analysis_perspective: str = option(
        "sidetomove", choices=("sidetomove", "black", "white"), katago_gtp="reportAnalysisWinratesAs"
    )
    """Whose winrate, score and ownership GTP commands such as kata-analyze report ({katago_gtp} in GTP); for
    `gtp-engine analysis` see --perspective."""


@dataclass(frozen=True)
class AnalysisConfig(Section, name="analysis", shapes_trees=False):
    """What `gtp-engine analysis` searches and reports; a query may override each setting.

    The wide root noise and the history also apply to GTP's kata-analyze and lz-analyze.
    """

    # 500 visits, 15 moves, wide root noise 0.04 and Black's view are those of KataGo's analysis_example.cfg.
    analysis_visits: int = option(500, unit="visits", bounds=(1, 2**50), katago_analysis="maxVisits")
    """Visits of an analysis whose query gives none."""
    analysis_time: float | None = option(None, unit="seconds", low=0, katago_analysis="maxTime")
    """Longest time for one position; not set: only its visits end an analysis."""
    wide_root_noise: float = option(
        0.04, bounds=(0, 5), katago="analysisWideRootNoise", katago_analysis="wideRootNoise"
    )
    """Make analyses, those of GTP too, search more moves less deeply; 0: as for a move to play, 1: even bad moves."""
    ignore_history: bool = option(True, katago="analysisIgnorePreRootHistory", katago_analysis="ignorePreRootHistory")
    """Analyse a position, in GTP too, without telling the network the moves that led to it: it would trust them as a
    strong player's ({katago_analysis}; in GTP {katago})."""
    expect_mirroring: bool = option(False, katago="antiMirror")
    """Analyse as --anti-mirror plays: if one side has mirrored every move, expect this to go on."""
    pv_length: int = option(15, unit="moves", bounds=(1, 1000), katago="analysisPVLen")
    """Longest continuation to report, in GTP too, not counting its first move ({katago})."""
    perspective: str = option(
        "black", choices=("black", "white", "sidetomove"), katago_analysis="reportAnalysisWinratesAs"
    )
    """Whose winrate, score, utility and ownership `gtp-engine analysis` reports ({katago_analysis} in a query); for GTP
    commands see --analysis-perspective."""
    # KaTrain sends three kinds at once: an endless one, the position on the board, the rest of the game.
    parallel: int = option(4, unit="positions", bounds=(1, 1024))
    """Positions analysed at once, each with a search tree; short queries are still answered one after the other."""


@dataclass(frozen=True)
class NetworkConfig(Section, name="network"):
    """The network that evaluates positions, and what runs it."""

    model: str | None = option(None, unit="path")
    """Network: a file (.onnx, or KataGo's .bin.gz), a folder, or a name of `gtp-engine models list`; not set: that of
    `gtp-engine models default`."""
    human_model: str | None = option(None, unit="path")
    """Human-like network beside the one to play with: tengen-human, KataGo's b18c384nbt-humanv0, or an ONNX file that
    `gtp-engine models import` made from it; not set: none.  The options of [human] say what its policy decides."""
    provider: str = option(
        "auto",
        choices=(
            *("auto", "cpu", "openvino", "openvino-gpu", "openvino-npu"),
            *("webgpu", "cuda", "tensorrt-rtx", "tensorrt", "coreml", "directml"),
        ),
    )
    """What runs the network; auto is the fastest that is installed and works, `gtp-engine doctor` shows which."""
    device: int = option(0, bounds=(0, 64))
    """Graphics card of the provider, by the number that `gtp-engine doctor` shows; 0: the provider chooses."""
    precision: str = option("auto", choices=("auto", "float32", "float16", "bfloat16", "int8"))
    """Number format the network calculates in; auto is the best for the processor.  That is int8 where it has
    instructions for it and the network has an 8-bit copy (`gtp-engine models quantize`), else bfloat16, else float32.
    On a graphics card it is float16, if that gives the same results."""
    network_threads: int = option(0, unit="threads", bounds=(0, 1024))
    """Threads the network runs in; 0: one for each processor core."""
    cache_positions: int = option(65536, unit="positions", bounds=(0, 2**26))
    """Evaluations to cache; the least recently used are dropped first.  One takes up to 3 KiB; 0: none."""
    symmetry: str = option(
        "any", choices=("any", "none", "all", *map(str, range(1, 8))), katago_start="nnForcedSymmetry"
    )
    """Orientation in which the network sees a position ({katago_start}).  any rotates or mirrors it, always the same
    way for the same position; none leaves it unchanged.  all averages over all orientations, at up to eight times the
    cost; 1 to 7 is one of those that kata-raw-nn numbers."""
    # Chosen, not measured: low enough to cost no visits, high enough that a search finds the end of a game.
    pass_prior: float = option(0.005, bounds=(0, 0.5))
    """Probability of a pass, for networks whose policy has none."""


GOOD_ENOUGH: Final = 0.0005
"""Policy KL from float32, in nats, up to which all layers are quantized, measured on calibration positions.  On other
positions the KL is nearly twice that, which is no more than b6c96 and b15c192 lose (`quantization.quantize`)."""

GOOD_ENOUGH_WINRATE: Final = 0.003
"""The same limit for the winrate error, which may be large where the policy KL is small (`calibration`)."""


@dataclass(frozen=True)
class QuantizeSettings(Section, name="quantize"):
    """The settings of a quantization.

    `good_enough` and `good_enough_winrate` are the losses up to which all layers are quantized, without measuring each.
    """

    positions: int = option(768, bounds=(48, 100_000))
    """Positions to take from games: two thirds for calibration, one third for validation."""
    seed: int = option(1, low=0)
    """Seed of the games."""
    # If the network is accurate, `sensitivity.OUTLIER_SHARE` is the limit where that is smaller.
    float_share: float = option(0.4, bounds=(0, 1))
    """Largest share of the work left in floating point, for the layers that lose most accuracy; at most 0.1 if the
    network is accurate in 8 bits."""
    provider: str = option("auto", unit="name")
    """What runs the network for these measurements, as in `gtp-engine --provider`."""
    threads: int = option(0, low=0)
    """Threads of the network; 0: one for each core."""
    good_enough: float = GOOD_ENOUGH
    good_enough_winrate: float = GOOD_ENOUGH_WINRATE
