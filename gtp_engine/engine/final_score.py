"""Score and status of the stones of a position (dead, alive, seki, territory), as `final_score` of GTP gives them.

They come from what the network expects with each side to play, averaged over the orientations of the board, or without
a network from a search for each side; what can be proved of doubtful chains replaces that (`life_reading`).  In an open
position, where nothing is settled, nothing is read.  After two passes, a stone that would live only if its side moved
first is dead: it did not get that move.  A score is *counted* only if every doubtful chain was proved and the winner
by counting is the expected one; else it is an estimate.  It depends on the position and the network, neither on how the
board is turned nor on the seed nor on the machine's load, and takes no more than `life_reading.READING_NODES` and two
evaluations.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.base.languages import later
from gtp_engine.engine.game_end import (
    DEAD_BELOW,
    Ownership,
    StatusEstimate,
    chain_ownership,
    chains_of,
    counts_all_stones,
    estimate_status,
    has_both_colors,
    settled,
    with_dead,
    with_proofs,
)
from gtp_engine.engine.life_reading import doubtful_chains, is_in_doubt, read_out
from gtp_engine.engine.searches import Searches
from gtp_engine.go.area import area_owners
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import CAPTURED
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import TRANSPOSE, Point, board_points, neighbors, points_by_number, transformed_points
from gtp_engine.go.game import Game, after_move
from gtp_engine.go.rules import Scoring, Tax
from gtp_engine.go.scoring import Score, components, find_groups
from gtp_engine.search.limits import CancelToken, Limits
from gtp_engine.search.puct.cleanup import DECIDED
from gtp_engine.search.report import for_color

ALIVE: Final = "alive"
DEAD: Final = "dead"
SEKI: Final = "seki"
BLACK_TERRITORY: Final = "black_territory"
WHITE_TERRITORY: Final = "white_territory"
DAME: Final = "dame"


CLOSE: Final = 2.0
"""Points by which the lead that searches expect may differ from a count: they are off by as much in settled positions,
and where a last neutral point is left."""

NOISE: Final = 0.75
"""Points by which the lead of a search may differ from a count though both mean the same; see `ending.POINT`."""

LIKELY: Final = 0.05
"""Least probability of a move that is tried against doubtful chains.  One that captures thirteen stones, though the
network expects them to live, had 0.14; in 81 other endings with doubtful chains such moves change nothing."""

_NOT_OVER: Final = later("the game is not over")
_OPEN: Final = later("both sides have passed, but the game is not settled")


@dataclass(frozen=True)
class FinalScore:
    """The score of a position, with the dead stones and the owners of all points that it comes from."""

    game: Game = field(repr=False)
    score: Score
    status: StatusEstimate
    doubt: str = ""
    """Why the score is not counted, but the lead that is expected, or not what is expected; empty if counted."""
    is_lead: bool = False
    """Whether only the difference of the two sides' points is estimated, not the points of each."""

    @property
    def is_counted(self) -> bool:
        """Whether the points of `statuses` make the score, and searches expect this winner."""
        return not self.doubt

    @property
    def statuses(self) -> dict[Point, str]:
        """The status of each point: alive, dead or seki for stones, territory or dame for empty points."""
        found = status_map(self.game, self.status.dead)
        for point, owner in _neutral_owners(self.game, self.status).items():
            if self.game.board.color[point] == EMPTY:
                found[point] = BLACK_TERRITORY if owner == BLACK else WHITE_TERRITORY
        points = points_by_number(self.game.width, self.game.height)
        return {points[point]: status for point, status in found.items()}


class Expectation(NamedTuple):
    """What is expected of a position with one side to move first."""

    to_play: int
    ownership_black: Ownership
    lead_black: float
    has_score: bool
    """Whether the lead counts points."""
    likely: Sequence[int] = ()
    """That side's moves of a probability of `LIKELY` or more by the network."""


class Scorer:
    """Scores positions with the separate search; caches the outcome for the last position unless cancelled."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches
        self._cached: tuple[object, FinalScore] | None = None

    def clear(self) -> None:
        """Forget the cached outcome."""
        self._cached = None

    def outcome(self, game: Game, cancel: CancelToken) -> FinalScore:
        """Return the score: the expected lead while something is open, else counted without the dead stones."""
        key = (game.hash, game.to_play, game.rules, game.komi, game.moves)
        if self._cached is not None and self._cached[0] == key:
            return self._cached[1]
        found = self._estimate(game, cancel)
        if not cancel.is_cancelled:
            self._cached = key, found
        return found

    def _estimate(self, game: Game, cancel: CancelToken) -> FinalScore:
        """Return the outcome that is expected."""
        left, taken, expected = game, frozenset[int](), self._expect(game, cancel)
        leads = {each.to_play: each.lead_black for each in expected}
        status = estimate_status(game, np.mean([each.ownership_black for each in expected], axis=0))
        if game.is_over and counts_all_stones(game.rules):
            return FinalScore(game.copy(), game.score(), with_dead(game, status, frozenset()))
        while game.is_over and not status.is_open and (chain := _left_to_die(left, status, expected)):
            if cancel.is_cancelled:
                break
            taken = taken.union(chain)
            left = _without(game, taken)
            expected = self._expect(left, cancel)
            status = estimate_status(left, np.mean([each.ownership_black for each in expected], axis=0))
        is_settled = not taken
        if has_both_colors(left) and (game.is_over or not status.is_open) and not cancel.is_cancelled:
            before = [each.ownership_black for each in expected]
            read = _read_out(left, before)
            status = estimate_status(left, np.mean(read, axis=0))
            is_settled = is_settled and not is_in_doubt(left, before, read)
        if game.is_over:
            status = with_dead(game, status, status.dead | taken) if taken else status
            return outcome_of_ended(game, status, leads, is_settled=is_settled)
        return outcome_of_unfinished(game, status, next(each for each in expected if each.to_play == game.to_play))

    def _expect(self, game: Game, cancel: CancelToken) -> list[Expectation]:
        """Return what is expected if Black moves first and if White does.

        Searches leave out the passes at the end of the game: they decide nothing, but for a search they are moves.
        """
        thresholds = self._searches.thresholds
        if thresholds.status_visits == 1:
            found = [self._evaluated(game, color) for color in (BLACK, WHITE)]
            return [self._with_captures(game, each, found) for each in found] if game.is_over else found
        without_passes = game.copy()
        without_passes.undo(game.consecutive_passes)
        limits = Limits(thresholds.status_visits, cancel=cancel)
        reports = [self._searches.search_afresh(without_passes, color, limits) for color in (BLACK, WHITE)]
        return [Expectation(each.to_play, each.ownership_black, each.lead_black, each.has_score) for each in reports]

    def _evaluated(self, game: Game, color: int) -> Expectation:
        """Return what the network expects if `color` moves first, the mean over the board's orientations.

        A rectangle has four for the network; it is evaluated upright, so that those of the board turned by 90 degrees
        are the same.
        """
        symmetry = TRANSPOSE if game.width > game.height else 0
        found = self._searches.evaluate_impartially(game.transformed(symmetry), color)
        means, ownership = found.ownership_black.mean(axis=0, dtype=np.float64), np.zeros(game.board.color.size)
        policy, turned = found.policy.mean(axis=0), transformed_points(symmetry, game.width, game.height)
        for point, place in turned.items():
            ownership[point] = means[place]
        likely = [point for point in turned if policy[turned[point]] >= LIKELY and point != PASS]
        return Expectation(color, ownership, float(found.lead_black.mean()), has_score=True, likely=likely)

    def _with_captures(self, game: Game, known: Expectation, both: Sequence[Expectation]) -> Expectation:
        """Return what is expected, for doubtful chains that a likely move is sure to capture what is expected then."""
        ownership, color = known.ownership_black.copy(), known.to_play
        chains = doubtful_chains(game, [each.ownership_black for each in both])
        chains = [each for each in chains if game.board.color[each[0]] != color]
        chains = [each for each in chains if chain_ownership(game, each, ownership) >= DEAD_BELOW]
        for point in (each for each in known.likely if chains and game.is_legal(each, color)):
            found = self._evaluated(after_move(game, point, color), opponent(color)).ownership_black
            for chain in chains:
                if chain_ownership(game, chain, found) <= -DECIDED:
                    ownership[chain] = found[chain]
        return known._replace(ownership_black=ownership)


def _left_to_die(game: Game, status: StatusEstimate, expected: Sequence[Expectation]) -> list[int]:
    """Return the weakest chain that would live if its side moved first, but is dead if the opponent does; [] if none.

    Both sides have passed: it did not get the move that it needs.  Where either side could take stones of the other,
    the weaker ones are those with fewer stones around their liberties; once they are gone, the others may be safe.  A
    chain without which an area lies open is not left to die: the players would have closed it.
    """
    proved = pass_alive_owners(game.board, suicide=game.rules.suicide)
    owned = {each.to_play: with_proofs(each.ownership_black, proved) for each in expected}

    def is_dying(chain: list[int]) -> bool:
        color = int(game.board.color[chain[0]])
        attacked, defended = (chain_ownership(game, chain, owned[first]) for first in (opponent(color), color))
        is_due = attacked < DEAD_BELOW and defended > -DEAD_BELOW
        return is_due and not with_dead(game, status, status.dead.union(chain)).is_open

    return min(filter(is_dying, chains_of(game)), key=lambda chain: len(_with_neighbors(game, chain)), default=[])


def _with_neighbors(game: Game, chain: list[int]) -> set[int]:
    """Return the points of a chain and of the others of its colour that share a liberty with it."""
    around = {near for liberty in game.liberties(chain[0]) for near in neighbors(liberty, width=game.width)}
    found = set(chain)
    for point in around:
        if point not in found and game.board.color[point] == game.board.color[chain[0]]:
            found.update(game.chain(point))
    return found


def _without(game: Game, taken: frozenset[int]) -> Game:
    """Return the position without these stones as a new game that has ended, in which areas count as before."""
    left = Game(game.width, game.height, game.rules, game.komi)
    left.set_up([(color, point) for point, color in game.stones.items() if point not in taken], game.to_play)
    left.komi += game.area_komi - left.area_komi
    left.play(PASS)
    left.play(PASS)
    return left


def _read_out(game: Game, ownerships: Sequence[Ownership]) -> tuple[Ownership, ...]:
    """Return `ownerships` with what is proved of doubtful chains.

    Unsettled stones become what the side to play makes of them by moving first.  In a game that is over they keep what
    is expected, because both sides have passed.
    """
    if not game.is_over:
        return read_out(game, ownerships, to_play=game.to_play)
    found = read_out(game, ownerships)
    return tuple(np.where(now == 0, before, now) for before, now in zip(ownerships, found, strict=True))


def outcome_of_ended(
    game: Game, status: StatusEstimate, leads_black: dict[int, float], *, is_settled: bool = True
) -> FinalScore:
    """Return the outcome after two passes: counted, unless another winner is expected, or it is not settled.

    `leads_black` are those expected with each colour to move first.  Where the players left an open area, a winner that
    both expect is more reliable than a count.  Elsewhere the count is.  The lead is that of the side to play, as before
    the passes.
    """
    final = settled(game, status)
    count = game.score(final.dead)
    lead, leads = leads_black[game.to_play], leads_black.values()
    winners = [score_by_lead(game, each).winner for each in leads]
    off = max(abs(each - count.margin_black) for each in leads)
    is_agreed = off <= NOISE or score_by_lead(game, lead).winner == count.winner
    is_same = off <= NOISE or winners[0] == winners[1] or status.is_decided
    if _is_proved(game, final) or (is_settled and not final.is_open and is_agreed and is_same):
        return FinalScore(game.copy(), count, final)
    is_far = abs(lead - count.margin_black) > CLOSE
    is_lead = final.is_open or (status.is_open and count.winner not in winners and is_far)
    return FinalScore(game.copy(), score_by_lead(game, lead) if is_lead else count, final, _OPEN, is_lead)


def outcome_of_unfinished(game: Game, status: StatusEstimate, expected: Expectation) -> FinalScore:
    """Return the outcome of a game that is not over, as expected for the side to play."""
    count, by_lead = estimated_score(game, status), score_by_lead(game, expected.lead_black)
    is_close = not status.is_open and abs(expected.lead_black - count.margin_black) <= CLOSE
    is_expected = (is_close or not expected.has_score) and status.is_decided and by_lead.winner == count.winner
    if is_expected or (game.stones and _is_proved(game, status)):
        return FinalScore(game.copy(), count, status)
    is_count = is_close or not (expected.has_score or not has_both_colors(game))
    return FinalScore(game.copy(), count if is_count else by_lead, status, _NOT_OVER, not is_count)


def _is_proved(game: Game, status: StatusEstimate) -> bool:
    """Return whether every point is pass-alive, or neutral between stones that are."""
    return all(status.proved[p] != EMPTY or p in status.neutral for p in board_points(game.width, game.height))


def estimated_score(game: Game, status: StatusEstimate) -> Score:
    """Return the score of an unfinished game, in which both sides fill neutral points beside living stones in turn."""
    score, owners, stones = game.score(status.dead), _neutral_owners(game, status), status_map(game, status.dead)
    points = [*owners.values()]
    if not status.is_open and game.rules.scoring is Scoring.AREA:
        beside = ({*map(stones.get, neighbors(p, width=game.width))} for p in status.neutral if p not in owners)
        if sum(ALIVE in each for each in beside) % 2:
            points.append(game.to_play)
            if game.has_free_button:  # it is worth less than the last neutral point
                score = replace(score, white=score.white + for_color(1.0, game.to_play))
    return Score(score.black + points.count(BLACK), score.white + points.count(WHITE))


def _neutral_owners(game: Game, status: StatusEstimate) -> dict[int, int]:
    """Return the colour that a neutral point of an unfinished game counts for with either side to play.

    Under area rules it is the one that is expected to fill it.  Under territory rules it counts for neither, but in an
    open area both sides will have territory.
    """
    if game.is_over or (game.rules.scoring is Scoring.TERRITORY and not status.is_open):
        return {}
    owners = status.owners if status.is_open else status.decided
    return {point: int(owners[point]) for point in status.neutral if owners[point] != EMPTY}


def score_by_lead(game: Game, lead_black: float) -> Score:
    """Return the possible score nearest to `lead_black`, the points by which Black is expected to win.

    No side gets more than all points, and by territory all stones of the other side as prisoners.
    """
    is_area = game.rules.scoring is Scoring.AREA
    white = game.area_komi if is_area else game.komi
    black_most, white_most = (_most_points(game, color) for color in (BLACK, WHITE))
    margin = min(max(round(lead_black + white), -white_most), black_most)
    return Score(float(max(margin, 0)), max(-margin, 0) + white)


def _most_points(game: Game, color: int) -> int:
    """Return the largest margin without komi by which `color` can win from here if no more stones are captured."""
    area = game.width * game.height
    if game.rules.scoring is Scoring.AREA:
        return area
    own, other = (int(np.count_nonzero(game.board.color == each)) for each in (color, opponent(color)))
    prisoners = int(game.board.info[CAPTURED + opponent(color)]) - int(game.board.info[CAPTURED + color])
    return area - own + other + prisoners


def status_map(game: Game, dead: Collection[int]) -> dict[int, str]:
    """Return the status of every point: alive, dead or seki for stones, territory or dame for empty points.

    Eyes in seki are no territory where the rules tax them.
    """
    colors, owners = game.board.color.copy(), area_owners(game.board, dead)
    colors[list(dead)] = EMPTY
    groups = find_groups(colors.tolist(), owners.tolist(), game.width + 1)
    in_seki = [group for group in groups if group.is_in_seki]
    seki = {point for group in in_seki for point in group.stones}
    if game.rules.tax is not Tax.NONE:
        owners[[point for group in in_seki for eye in group.eyes for point in eye]] = EMPTY
    empty_names = {BLACK: BLACK_TERRITORY, WHITE: WHITE_TERRITORY, EMPTY: DAME}
    result = {}
    for point in board_points(game.width, game.height):
        if game.board.color[point] == EMPTY:
            result[point] = empty_names[int(owners[point])]
        elif point in dead:
            result[point] = DEAD
        else:
            result[point] = SEKI if point in seki else ALIVE
    return result


def groups_with_status(game: Game, statuses: dict[Point, str], status: str) -> list[list[int]]:
    """Return the groups whose stones have a status, each as its sorted points.

    Dead chains in one enclosed area form one group, because they live or die together; any other chain is a group of
    its own.
    """
    chains = [chain for chain in chains_of(game) if statuses[game.point(chain[0])] == status]
    if status != DEAD:
        return chains
    colors, groups = game.board.color, list[list[int]]()
    for color in (BLACK, WHITE):
        dead = {point for chain in chains if colors[chain[0]] == color for point in chain}
        passable = [point for point in board_points(game.width, game.height) if colors[point] in (EMPTY, color)]
        areas = components(passable, game.width + 1)
        groups += [sorted(area & dead) for area in areas if area & dead]
    return sorted(groups)
