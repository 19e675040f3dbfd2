"""Score and status of the stones of a position (dead, alive, seki, territory), as `final_score` of GTP gives them.

They come from one search for each side; groups that these leave in doubt are read out.
In an open position, where nothing is settled, no group is read out.
"""

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from gtp_engine.engine.game_end import (
    Ownership,
    StatusEstimate,
    chains_of,
    counts_all_stones,
    estimate_status,
    has_both_colors,
    reach,
)
from gtp_engine.engine.life_reading import LifeReader
from gtp_engine.engine.searches import Searches
from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, EMPTY, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.scoring import Score, find_groups, groups_in_seki, remove_dead, territory_owners
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport, completed

ALIVE: Final = "alive"
DEAD: Final = "dead"
SEKI: Final = "seki"
BLACK_TERRITORY: Final = "black_territory"
WHITE_TERRITORY: Final = "white_territory"
DAME: Final = "dame"


class Scorer:
    """Scores positions with the separate search; caches the estimate for the last position unless cancelled."""

    def __init__(self, searches: Searches) -> None:
        self._searches = searches
        self._cached: tuple[object, StatusEstimate, SearchReport] | None = None

    def clear(self) -> None:
        """Forget the cached estimate."""
        self._cached = None

    def score(self, game: Game, cancel: CancelToken) -> Score:
        """Return the score: the expected lead while something is open, else counted without the dead stones."""
        if game.is_over:
            return game.score(self.dead_stones(game, cancel))
        return self.estimate(game, cancel)[0]

    def estimate(self, game: Game, cancel: CancelToken) -> tuple[Score, StatusEstimate]:
        """Return the expected score, whether the game is over or not, and the status of all stones and points."""
        status, report = self._estimate(game, cancel)
        if not status.is_decided and (report.has_score or not has_both_colors(game)):
            return score_by_lead(game, completed(report, game).lead_black), status
        return estimated_score(game, status), status

    def dead_stones(self, game: Game, cancel: CancelToken) -> frozenset[int]:
        """Return the stones to remove at the end of the game; none if it is over and the rules count all stones."""
        if game.is_over and counts_all_stones(game):
            return frozenset()
        return self._estimate(game, cancel)[0].dead

    def _estimate(self, game: Game, cancel: CancelToken) -> tuple[StatusEstimate, SearchReport]:
        """Return the status estimate, and the report of the search for the side to play.

        Passes at the end of the game are left out: they decide nothing, but to a network they are moves.
        """
        key = (game.hash, game.to_play, game.rules, game.komi, game.moves)
        if self._cached is not None and self._cached[0] == key:
            return self._cached[1:]
        without_passes = game.copy()
        without_passes.undo(game.consecutive_passes)
        limits = Limits(self._searches.thresholds.status_visits, cancel=cancel)
        reports = {color: self._searches.search_afresh(without_passes, color, limits) for color in (BLACK, WHITE)}
        ownerships = tuple(report.ownership_black for report in reports.values())
        status = estimate_status(game, np.mean(ownerships, axis=0))
        if has_both_colors(game) and (game.is_over or not status.is_open):
            ownerships = self._read_out(game, ownerships, cancel)
            status = estimate_status(game, np.mean(ownerships, axis=0))
        if not cancel.is_cancelled:
            self._cached = key, status, reports[game.to_play]
        return status, reports[game.to_play]

    def _read_out(self, game: Game, ownerships: Sequence[Ownership], cancel: CancelToken) -> tuple[Ownership, ...]:
        """Return `ownerships` after reading out the groups in doubt.

        Unsettled stones become what the side to play makes of them by moving first.  In a game that is over they keep
        what the searches expected, because both sides have passed.
        """
        reader = LifeReader(self._searches, cancel=cancel)
        if not game.is_over:
            return reader.read_out(game, ownerships, to_play=game.to_play)
        found = reader.read_out(game, ownerships)
        return tuple(np.where(now == 0, before, now) for before, now in zip(ownerships, found, strict=True))


def estimated_score(game: Game, status: StatusEstimate) -> Score:
    """Return the score of an unfinished game; open areas count for the side that owns them in the estimate."""
    score = game.score(status.dead)
    open_owners = [int(status.owners[point]) for point in status.neutral]
    return Score(score.black + open_owners.count(BLACK), score.white + open_owners.count(WHITE))


def score_by_lead(game: Game, lead_black: float) -> Score:
    """Return the possible score nearest to `lead_black`, the points by which Black is expected to win."""
    is_area = game.rules.scoring is Scoring.AREA
    white = game.area_komi if is_area else game.komi
    margin = round(lead_black + white)
    return Score(float(max(margin, 0)), max(-margin, 0) + white)


def status_map(game: Game, dead: Collection[int]) -> dict[int, str]:
    """Return the status of every point: alive, dead or seki for stones, territory or dame for empty points."""
    colors = remove_dead(game.board, dead)
    stride = int(game.board.info[STRIDE])
    owners = territory_owners(colors, stride)
    in_seki = groups_in_seki(find_groups(colors, owners, stride))
    seki = {point for group in in_seki for point in group.stones}
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


def groups_with_status(game: Game, statuses: dict[int, str], status: str) -> list[list[int]]:
    """Return the groups whose stones have a status, each as its sorted points.

    Dead chains in one enclosed area form one group, because they live or die together; any other chain is a group of
    its own.
    """
    chains = [chain for chain in chains_of(game) if statuses[chain[0]] == status]
    if status != DEAD:
        return chains
    groups: list[set[int]] = []
    for chain in chains:
        joined = {*chain}
        color = int(game.board.color[chain[0]])
        reachable = reach(game, chain, np.isin(game.board.color, (EMPTY, color)))
        separate = []
        for group in groups:
            if reachable.isdisjoint(group):
                separate.append(group)
            else:
                joined |= group
        groups = [*separate, joined]
    return sorted(sorted(group) for group in groups)
