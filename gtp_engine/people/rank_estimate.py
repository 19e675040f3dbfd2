"""The rank that a player's moves look like, from games between people of known rank.

    measured_moves  what each move of one side of a game shows to two networks
    RankTable       how that depends on the rank; kept in a file beside the human-like network
    estimate        the rank of a player, with an interval that holds the true one in nine of ten cases
    estimate_ranks  the ranks of all players in some records, or of one of them

What a move shows (`COLUMNS`): how likely people of three ranks are to play it, how many points it loses by phase of the
game, and how clear the position was.  The means over a player's moves are taken for normally distributed around values
that depend on the rank by a parabola.  Their covariance has three parts, which shrink with the number of moves, with
that of games, and not at all: a player of some rank has a style.  Every rank is as likely beforehand.
`training.people.rank_fit` makes the table.

K moves, D columns.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError, ModelError, SgfError, TengenError, counted, shown_path
from gtp_engine.base.files import MAX_TEXT_BYTES, json_of, read_regular, write_whole
from gtp_engine.base.languages import _, message_text, ngettext, rank_text
from gtp_engine.config import Config
from gtp_engine.config.human import MOVES_OF_RANK, HumanProfile, rank_name
from gtp_engine.engine.level_table import HUMAN_MODEL, table_path
from gtp_engine.evaluation.evaluator import Evaluator, evaluated
from gtp_engine.evaluation.from_game import conditions_of, replayed_rows, write_conditions
from gtp_engine.evaluation.positions import FloatArray, take_rows
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move
from gtp_engine.go.game import Game, replayed
from gtp_engine.nn.evaluators import networks_of
from gtp_engine.nn.named_networks import model_path
from gtp_engine.search.limits import CancelToken
from gtp_engine.search.report import for_color
from gtp_engine.sgf.collection import games_in
from gtp_engine.sgf.reader import parse_sgf
from gtp_engine.sgf.record import SgfRecord, no_game_of_player, play_record

Numbers = NDArray[np.float64]

SIDE: Final = 19
"""The only board for which ranks can be told: of others there were no games."""
PROFILES: Final = (1, 8, 13)
"""The ranks whose policies are compared: 9d, 2d, 4k."""
BEST: Final = 1
WORST: Final = 14
"""The ranks that can be told, 9d to 5k, as `HumanProfile` counts them: of others there were no games."""
COLUMNS: Final = (
    "9d less 4k", "ends less middle", "2d", "opening", "middle game", "endgame", "policy", "best", "clear"
)  # fmt: skip
"""Logarithms of the probability that people play the move: 9d less 4k, both ends less twice 2d, and 2d; logarithms of
one more than the points lost, in each phase; the logarithm of the probability in the strong network's policy, whether
the move is the likeliest in that, and the logarithm of the probability of the likeliest."""
SERVER: Final = "the Fox server"
"""Where the games were played to which others are compared."""
LEAST_MOVES: Final = 24
"""Moves from which a rank is estimated at all, as many as the table was made from.  Of the first 20 of 61 games the
interval held the rank in 79%, of the first 25 to 55 in 85 to 89%."""
UNLIKE: Final = 36.0
"""Distance to the nearest rank (`RankTable.distances`) from which moves are unlike people's: the largest of 500 games
between people was 34, their median 8."""

_PHASES: Final = (50, 150)
"""Numbers of the moves with which middle game and endgame begin."""
_LEAST_LOG: Final = -8.0
_MOST_POINTS: Final = 30.0
_LEAST_VARIANCE: Final = 1e-6
COVERED: Final = 0.9
"""Probability of the interval."""


class RankEstimate(NamedTuple):
    """A rank as `HumanProfile` counts, and the ends of its interval, the weaker one first."""

    rank: int
    low: int
    high: int
    moves: int
    games: int
    is_unlike: bool = False
    """Whether the moves are unlike those of people of any rank that can be told."""

    def to_json(self) -> dict[str, Any]:
        """Return it for programs; `or_weaker` and `or_stronger` say whether the interval has no end there."""
        ranks = {"rank": rank_name(self.rank), "low": rank_name(self.low), "high": rank_name(self.high)}
        ends = {"or_weaker": self.low == WORST, "or_stronger": self.high == BEST}
        unlike = {"unlike_people": True} if self.is_unlike else {}
        return ranks | ends | {"moves": self.moves, "games": self.games} | unlike


def played_like_text(name: str, estimate: dict[str, Any]) -> str:
    """Return for people which rank a player played like, from the JSON of an estimate."""
    low, high, rank = (rank_text(estimate[each]) for each in ("low", "high", "rank"))
    low = _("{rank} or weaker", rank=low) if estimate["or_weaker"] else low
    high = _("{rank} or stronger", rank=high) if estimate["or_stronger"] else high
    if estimate["low"] == estimate["high"]:
        return _("{name} played like {rank}.", name=name, rank=low if estimate["or_weaker"] else high)
    return _("{name} played like {rank}, between {low} and {high}.", name=name, rank=rank, low=low, high=high)


def no_rank_text(name: str) -> str:
    """Return for people that there is no rank of a player; reasons in the JSON and of errors are English."""
    return _("{name}: no rank. It takes {moves} moves of an even game on 19x19.", name=name, moves=LEAST_MOVES)


# Moves

_USUAL_KOMI: Final = (0.0, 10.0)
"""Komi of even games; Black without komi has a rank's advantage, with more or less it is another game."""
_HANDICAP_PASSES: Final = 10
"""First moves, a pass among which gives Black stones."""


def check_comparable(record: SgfRecord, game: Game) -> None:
    """Raise TengenError for a record, and the game that was played from it, that says nothing about ranks.

    The games that were compared were even ones on 19×19.
    """
    if (game.width, game.height) != (SIDE, SIDE):
        given = f"a game on {game.width}x{game.height}"
        raise TengenError(given, expected=f"one on {SIDE}x{SIDE}, where ranks have been compared")
    colors, komi = [move.color for move in game.moves], record.komi
    turn = next((i for i in range(1, len(colors)) if colors[i] == colors[i - 1]), None)
    given = ""
    if record.handicap or game.setup_stones:
        given = "a game with handicap or stones set up"
    elif colors[:1] == [WHITE]:
        given = "a game that White begins, as after handicap stones"
    elif any(move.point == PASS for move in game.moves[:_HANDICAP_PASSES]):
        given = f"a game with a pass among the first {_HANDICAP_PASSES} moves"
    elif komi is not None and not _USUAL_KOMI[0] <= komi <= _USUAL_KOMI[1]:
        given = f"a game with komi {komi:g}"
    elif turn is not None:
        given = f"a game whose moves {turn} and {turn + 1} are of one color"
    if given:
        raise TengenError(given, expected="an even game from the start")


def measured_moves(strong: Evaluator, human: Evaluator, game: Game, color: int, *, most: int) -> Numbers:
    """Return what the moves of one side tell, [K, D], up to `most` of them, evenly chosen; NaN in other phases.

    Both networks have KataGo's outputs, and are not for two threads.  Passes are left out.  The game is one that
    `check_comparable` accepts.
    """
    plies = [ply for ply, move in enumerate(game.moves) if move.color == color and move.point != PASS]
    if len(plies) > most:
        plies = [plies[i] for i in np.linspace(0, len(plies) - 1, most).round().astype(int)]
    count = len(plies)
    if count == 0:
        return np.zeros((0, len(COLUMNS)))
    numbers = np.unique([plies, np.add(plies, 1)])
    rows = replayed_rows(replayed(game), numbers.tolist(), SIDE, SIDE)
    before, after = (take_rows(rows, np.searchsorted(numbers, np.add(plies, more))) for more in (0, 1))
    points = np.array([game.moves[ply].point for ply in plies])
    here, later = evaluated(strong, before), evaluated(strong, after)
    lost = np.array([for_color(float(each), color) for each in here.lead_black - later.lead_black])
    lost = np.log1p(np.clip(lost, 0.0, _MOST_POINTS))
    by_strong = here.policy[np.arange(count), points]
    likeliest = here.policy[:count].max(axis=1)
    logs = []
    for rank in PROFILES:
        conditions = conditions_of(game)._replace(human_profile=HumanProfile("rank", rank, rank).code)
        write_conditions(before, slice(0, count), conditions)
        policy = evaluated(human, before).policy[np.arange(count), points]
        logs.append(_logarithms(policy))
    best, middle, weak = logs
    phase = np.searchsorted(_PHASES, plies, side="right")
    by_phase = np.where(phase[:, None] == np.arange(len(_PHASES) + 1), lost[:, None], np.nan)
    people = [best - weak, best + weak - 2 * middle, middle]
    columns = [*people, *by_phase.T, _logarithms(by_strong), by_strong == likeliest, _logarithms(likeliest)]
    return np.stack(columns, axis=1).astype(np.float64)


def _logarithms(policy: FloatArray) -> FloatArray:
    """Return the logarithms of probabilities; those of very unlikely moves count alike."""
    logarithms: FloatArray = np.log(np.maximum(policy, np.exp(_LEAST_LOG)))
    return logarithms


# The table


@dataclass(frozen=True)
class RankTable:
    """How the means of a player's moves depend on the rank r, and their covariance."""

    networks: tuple[str, str]
    """Names of the strong and the human-like network."""
    means: Numbers
    """[D, 3]: a, b, c of `a + b x + c x²` with x = r / 10."""
    of_player: Numbers
    """[D, D], the part of the covariance that stays."""
    of_game: Numbers
    """The part that is divided by the number of games."""
    of_move: Numbers
    """The part that is divided by the number of moves."""
    factor: float
    """Of the whole covariance, with which the intervals hold the true rank as often as they should."""

    def posterior(self, games: Sequence[Numbers], *, players: int = 1) -> Numbers:
        """Return the probability of each rank from BEST to WORST, given moves by game, each [K, D].

        They are one player's, or those of several players of one rank.
        """
        distances = self.distances(games, players=players)
        weights = np.exp(-(distances - distances.min()) / 2)
        probabilities: Numbers = weights / weights.sum()
        return probabilities

    def distances(self, games: Sequence[Numbers], *, players: int = 1) -> Numbers:
        """Return how far moves are from those of people of each rank: squares, in standard deviations."""
        moves = np.concatenate(games)
        counts = np.isfinite(moves).sum(axis=0)
        known = counts > 1
        found = means_of(moves)[known]
        sizes = np.sqrt(np.outer(counts[known], counts[known]))
        parts = [part[np.ix_(known, known)] for part in (self.of_player, self.of_game, self.of_move)]
        covariance = self.factor * (parts[0] / players + parts[1] / len(games) + parts[2] / sizes)
        covariance += _LEAST_VARIANCE * np.eye(len(found))
        differences = found - powers_of(np.arange(BEST, WORST + 1)) @ self.means[known].T
        squares: Numbers = np.einsum("ri,ij,rj->r", differences, np.linalg.inv(covariance), differences)
        return squares


def estimate(table: RankTable, games: Sequence[Numbers]) -> RankEstimate:
    """Return the rank that a player's moves look like, by game, each [K, D]; raises TengenError for too few."""
    games = [game for game in games if len(game)]
    count = sum(map(len, games))
    if count < LEAST_MOVES:
        raise TengenError(f"{counted(count, 'move')} of a player", expected=f"at least {LEAST_MOVES} to tell a rank")
    posterior = table.posterior(games)
    is_unlike = bool(table.distances(games).min() > UNLIKE)
    return RankEstimate(middle_rank(posterior), *interval_of(posterior), count, len(games), is_unlike)


def middle_rank(posterior: Numbers) -> int:
    """Return the rank than which others are as likely to be weaker as stronger."""
    return BEST + int(np.searchsorted(np.cumsum(posterior), 0.5))


def interval_of(posterior: Numbers) -> tuple[int, int]:
    """Return the weakest and the strongest rank of the interval."""
    summed, rest = np.cumsum(posterior), (1 - COVERED) / 2
    high, low = (BEST + int(np.searchsorted(summed, share)) for share in (rest, 1 - rest))
    return min(low, WORST), high


def means_of(moves: Numbers) -> Numbers:
    """Return the means of columns over the moves in which they are known, [D]; not a number without such a move."""
    counts = np.isfinite(moves).sum(axis=0)
    means: Numbers = np.where(counts > 0, np.nansum(moves, axis=0) / np.maximum(counts, 1), np.nan)
    return means


def powers_of(ranks: NDArray[Any]) -> Numbers:
    """Return 1, x and x² of ranks, [R, 3]."""
    powers: Numbers = (np.asarray(ranks, dtype=np.float64)[:, None] / 10) ** np.arange(3)
    return powers


_FORMAT: Final = 1
RANKS_ENDING: Final = ".ranks.json"
"""What the names of tables end with (`engine.level_table.table_path`)."""


def write_table(table: RankTable, path: Path) -> None:
    """Write the table of a human-like network beside it."""
    values = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in asdict(table).items()}
    write_whole(path, json.dumps({"format": _FORMAT} | values, indent=1) + "\n")


def read_rank_table(path: Path) -> RankTable:
    """Return the table in a file; raises ModelError."""
    try:
        values: dict[str, Any] = json_of(read_regular(path, MAX_TEXT_BYTES))
        if values.pop("format") != _FORMAT:
            raise ValueError("another format")
        arrays = {name: np.array(values[name], dtype=np.float64) for name in ("means", *_PARTS)}
        if any(arrays[name].shape != (len(COLUMNS), len(COLUMNS)) for name in _PARTS):
            raise ValueError("other columns")
        return RankTable(networks=tuple(values["networks"]), factor=float(values["factor"]), **arrays)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"rank table {shown_path(path)} cannot be read ({error})", advice="install the engine again"
        ) from error


_PARTS: Final = ("of_player", "of_game", "of_move")


# Players


@dataclass
class RankReport:
    """What was found about the players of some records; ranks are those of the server whose games were compared."""

    ranks: dict[str, RankEstimate]
    """By the player's name, or the side of a nameless one."""
    untold: dict[str, str]
    """Why a player has no rank."""
    left_out: dict[str, str]
    """Why records were left out, by their names."""
    notes: list[str]
    """Sentences about records that end early, and about players who may not be people."""
    games: int = 0
    """How many records could be read."""
    names: set[str] = field(default_factory=set)
    """The players' own names, which are the same in every language."""

    def to_json(self) -> dict[str, Any]:
        """Return it for programs: of a single player one object, else one for each in a list."""
        found = [{"player": name} | each.to_json() for name, each in self.ranks.items()]
        found += [{"player": name, "error": reason} for name, reason in self.untold.items()]
        more = {"left_out": self.left_out, "notes": self.notes}
        rest = {"server": SERVER} | {name: value for name, value in more.items() if value}
        return found[0] | rest if len(found) == 1 else {"players": found} | rest

    def to_text(self) -> str:
        """Return it for people."""
        lines = []
        for name, each in self.ranks.items():
            moves = ngettext("{count} move", "{count} moves", each.moves)
            games = ngettext("{count} game", "{count} games", each.games)
            lines.append(f"{played_like_text(self._shown(name), each.to_json())} ({moves}, {games})")
        for name, reason in self.untold.items():
            lines.append(_("{name}: no rank. {reason}.", name=self._shown(name), reason=message_text(reason)))
        for name, reason in self.left_out.items():
            lines.append(_("{name} was left out: {reason}.", name=message_text(name), reason=message_text(reason)))
        lines += map(message_text, self.notes)
        if self.ranks:
            lines.append(
                _("Nine of ten such intervals hold the rank. Ranks are those of the Fox server; other servers differ.")
            )
        return "\n".join(lines)

    def _shown(self, player: str) -> str:
        return player if player in self.names else message_text(player)


_PROGRAM: Final = re.compile(
    r"\b(?:bot|ai|a\.i\.|gnu\s?go|kata(?:go)?|leela(?:zero)?|alphago\w*|pachi|fuego|tengen|crazy\s?stone|zen19\w*|elf|"
    r"fine\s?art|golaxy|sai|ray|mogo|many\s?faces)(?:\b|[\d_-])|\w+bot\b|[绝絶]艺|电脑|電腦|人工智能",
    re.IGNORECASE,
)
"""Names of players, or what stands in place of their ranks, by which programs are known."""


def estimate_ranks(
    records: Mapping[str, bytes],
    config: Config | None = None,
    *,
    player: str | None = None,
    most: int = MOVES_OF_RANK,
    progress: Callable[[float, str], None] = lambda share, text: None,
    cancel: CancelToken | None = None,
) -> RankReport:
    """Return which ranks the players of records look like, or `player` only, from up to `most` moves of a game.

    Records are files by their names, with any number of games.  `config` names the networks; the human-like one is by
    default the one that ships.  `progress` is called with the share that is done, 0 to 1, and the name of the game that
    follows; games that follow when `cancel` is cancelled are left out.  Raises ModelError, and ConfigError without a
    network.

        report = estimate_ranks({path.name: path.read_bytes() for path in Path("games").glob("*.sgf")})
        print(report.to_text())
    """
    config = config or Config()
    if config.network.human_model is None:
        config = config.with_values({"network.human_model": HUMAN_MODEL})
    games, unreadable = list[tuple[str, SgfRecord]](), dict[str, str]()
    for name, data in records.items():
        found = games_in(data)
        for number, game in enumerate(found, start=1):
            title = name if len(found) == 1 else f"{name}, game {number}"
            try:
                games.append((title, parse_sgf(game)))
            except SgfError as error:
                unreadable[title] = str(error)
    if not games:
        return RankReport({}, {}, unreadable, [])
    strong, human, _ = networks_of(config)
    if strong is None or human is None:
        raise ConfigError("a search without a network", expected="a network", advice="leave out --search")
    table = read_rank_table(table_path(model_path(config.network.human_model), human.info.name, RANKS_ENDING))
    measure = partial(measured_moves, strong, human, most=most)
    report = rank_players(measure, table, games, player=player, progress=progress, cancel=cancel)
    report.left_out |= unreadable
    return report


def rank_players(
    measure: Callable[[Game, int], Numbers],
    table: RankTable,
    records: Sequence[tuple[str, SgfRecord]],
    *,
    player: str | None,
    progress: Callable[[float, str], None] = lambda share, text: None,
    cancel: CancelToken | None = None,
) -> RankReport:
    """Return what `estimate_ranks` does of records that have been read, by their names.

    `measure` is `measured_moves` with its networks.  What a player of one name played counts together, but the nameless
    of several records are several people.
    """
    report = RankReport({}, {}, {}, [], len(records))
    moves: dict[str, list[Numbers]] = {}
    seen: dict[tuple[Move, ...], str] = {}
    met: dict[str, bool] = {}
    for place, (name, record) in enumerate(records):
        if cancel is not None and cancel.is_cancelled:
            report.left_out[name] = "cancelled"
            continue
        progress(place / len(records), name)
        players = _players(record, name if len(records) > 1 else "")
        report.names |= {(each or "").strip() for each in (record.black_name, record.white_name)}
        try:
            game, played = play_record(record)
            check_comparable(record, game)
            if players[BLACK] == players[WHITE]:
                raise TengenError(f"both players are called {players[BLACK]}", expected="two names")
            if game.moves and (other := seen.setdefault(tuple(game.moves), name)) != name:
                raise TengenError(f"the same moves as in {other}", expected="each game once")
            ranks = {BLACK: record.black_rank, WHITE: record.white_rank}
            for color, each in players.items():
                met[each] = met.get(each, False) or any(_PROGRAM.search(text or "") for text in (each, ranks[color]))
                if player is None or each.strip().casefold() == player.strip().casefold():
                    moves.setdefault(each, []).append(measure(game, color))
            report.notes += [f"Record {name}: {note}." for note in played.notes[len(record.notes) :]]
        except TengenError as error:
            report.left_out[name] = str(error)
    for each, games in moves.items():
        try:
            report.ranks[each] = estimate(table, games)
        except TengenError as error:
            report.untold[each] = str(error)
    report.notes += [_ABOUT_PROGRAMS.format(each) for each in moves if met[each]]
    report.notes += [_ABOUT_UNLIKE.format(each) for each, found in report.ranks.items() if found.is_unlike]
    if player is not None and not moves:
        report.untold[player] = no_game_of_player([record for _, record in records])
    return report


_ABOUT_PROGRAMS: Final = (
    "{} looks like a program: people of this rank play like this, which says little about its strength."
)
_ABOUT_UNLIKE: Final = (
    "{}'s moves are unlike those of people from 9d to 5k: weaker or stronger, of a program, or not serious."
)


def _players(record: SgfRecord, file: str) -> dict[int, str]:
    """Return the names of the players by color; a nameless one is told by its side, and by the file, if it is given."""
    of_file = f" of {file}" if file else ""
    names = {BLACK: (record.black_name, "Black"), WHITE: (record.white_name, "White")}
    return {color: (name or "").strip() or f"{side}{of_file}" for color, (name, side) in names.items()}
