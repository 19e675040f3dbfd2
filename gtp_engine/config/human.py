"""Human-like play, which needs a network that imitates people: the players it imitates, and its options.

A *profile* names the players as KataGo's `humanSLProfile` does:

    rank_5k, rank_5k_1d            players of this rank today; of two ranks, Black's and White's
    preaz_5k, preaz_5k_1d          the same before AlphaZero changed the openings
    proyear_1950                   professionals of this year, 1800 to 2023

Ranks go from 20k over 1k and 1d to 9d.  A profile is part of the conditions under which a position is evaluated, so it
also has a form as a number, its `code`.  Facts from KataGo 1.17 (`cpp/neuralnet/sgfmetadata.cpp`), whose defaults the
options have.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gtp_engine.base.errors import ConfigError, shown
from gtp_engine.config.option import Section, option

KINDS: Final = ("", "rank", "preaz", "proyear")
"""Kinds of profiles by the first digit of their code; the first is that of no profile."""

DAN_RANKS: Final = 9
KYU_RANKS: Final = 20
FIRST_YEAR: Final = 1800
LAST_YEAR: Final = 2023

MOVES_OF_RANK: Final = 60
"""Moves of a player looked at in a game to tell the rank, unless another number is given."""

_RANK: Final = "[1-9]d|[1-9]k|1[0-9]k|2[0-5]k"
_BEYOND: Final = re.compile("_2[1-5]k")
_RANKS: Final = re.compile(rf"(rank|preaz)_({_RANK})(?:_({_RANK}))?")
_YEAR: Final = re.compile(r"proyear_[ \t\n\r\v\f]*\+?0*([0-9]{4})[ \t\n\r\v\f]*")
_CLEARING: Final = ("", "_", '""')
"""What KataGo takes for no profile."""

_KIND_UNIT: Final = 10**8
_BLACK_UNIT: Final = 10**4


@dataclass(frozen=True)
class HumanProfile:
    """The players to imitate; ranks count from 1, for 9d, to 29, for 20k."""

    kind: str = ""
    """One of KINDS."""
    black_rank: int = 0
    white_rank: int = 0
    year: int = 0
    """Of professionals; else 0."""

    @cached_property
    def code(self) -> int:
        """The profile as a number, 0 for none; different for different profiles."""
        return KINDS.index(self.kind) * _KIND_UNIT + self.black_rank * _BLACK_UNIT + (self.year or self.white_rank)

    def __str__(self) -> str:
        if self.kind == "proyear":
            return f"proyear_{self.year}"
        ranks = dict.fromkeys(map(rank_name, (self.black_rank, self.white_rank)))
        return "_".join([self.kind, *ranks]) if self.kind else ""


NO_PROFILE: Final = HumanProfile()


def parse_profile(text: str) -> HumanProfile:
    """Return the profile that `text` names, NO_PROFILE for "", "_" and two quotes; raises ConfigError."""
    if text in _CLEARING:
        return NO_PROFILE
    if ranks := _RANKS.fullmatch(text):  # 21k to 25k are KataGo's to come: the nearest that there is
        kind, black, white = ranks.groups()
        return HumanProfile(kind, rank_number(black), rank_number(white or black))
    if (year := _YEAR.fullmatch(text)) and FIRST_YEAR <= int(year[1]) <= LAST_YEAR:
        return HumanProfile("proyear", 1, 1, int(year[1]))
    raise ConfigError(
        f"Unknown human SL network profile: {shown(text)[1:-1]}",
        expected=f"rank_20k to rank_9d, rank_BLACK_WHITE, preaz_20k to preaz_9d, or proyear_{FIRST_YEAR} to "
        f"proyear_{LAST_YEAR}",
    )


def nearest_profile_line(text: object) -> str | None:
    """Return a line for the user if `text` names a profile that networks do not know, None if it does not."""
    if not isinstance(text, str) or _BEYOND.search(text) is None:
        return None
    return f"humanSLProfile {shown(text)}: networks know people down to {KYU_RANKS}k, so it is {parse_profile(text)}"


def profile_of(code: int) -> HumanProfile:
    """Return the profile with this code."""
    kind, ranks = KINDS[code // _KIND_UNIT], code % _KIND_UNIT
    black, last = divmod(ranks, _BLACK_UNIT)
    return HumanProfile("proyear", 1, 1, last) if kind == "proyear" else HumanProfile(kind, black, last)


def rank_number(name: str) -> int:
    """Return the number of a rank such as "5k", as `HumanProfile` counts."""
    number = int(name[:-1])
    return DAN_RANKS + 1 - number if name.endswith("d") else DAN_RANKS + min(number, KYU_RANKS)


def rank_name(number: int) -> str:
    """Return the rank with this number."""
    return f"{DAN_RANKS + 1 - number}d" if number <= DAN_RANKS else f"{number - DAN_RANKS}k"


@dataclass(frozen=True)
class HumanConfig(Section, name="human"):
    """Whom a human-like network imitates, and what its policy decides."""

    human_profile: str = option("", normalize=lambda text: str(parse_profile(text)), katago="humanSLProfile")
    """Players to imitate: rank_5k, rank_BLACK_WHITE, preaz_5k (openings before AlphaZero) or proyear_1950
    (professionals of that year); empty: none."""
    human_move_share: float = option(0.0, bounds=(0, 1), katago="humanSLChosenMoveProp")
    """Share of the human-like policy in the choice of a move, beside the search's."""
    human_ignore_pass: bool = option(False, katago="humanSLChosenMoveIgnorePass")
    """Leave to the search whether to pass."""
    human_pikl_lambda: float = option(1e9, bounds=(0, 1e9), katago="humanSLChosenMovePiklLambda")
    """Difference of utility that makes a worse move e times less likely than people play it: low values avoid mistakes,
    very high ones play as people do."""

    human_root_weightless: float = option(0.0, bounds=(0, 1), katago="humanSLRootExploreProbWeightless")
    """Share of playouts whose first move is selected by the human-like policy, to evaluate it without changing the
    evaluation of the position."""
    human_root_weightful: float = option(0.0, bounds=(0, 1), katago="humanSLRootExploreProbWeightful")
    """Share of playouts whose first move is selected by the human-like policy and counts like any other."""
    human_own_weightless: float = option(0.0, bounds=(0, 1), katago="humanSLPlaExploreProbWeightless")
    """As --human-root-weightless, for the player's own moves deeper in the tree, where the human-like network then
    evaluates every position too."""
    human_own_weightful: float = option(0.0, bounds=(0, 1), katago="humanSLPlaExploreProbWeightful")
    """As --human-root-weightful, for the player's own moves deeper in the tree."""
    human_opponent_weightless: float = option(0.0, bounds=(0, 1), katago="humanSLOppExploreProbWeightless")
    """As --human-own-weightless, for the opponent's moves."""
    human_opponent_weightful: float = option(0.0, bounds=(0, 1), katago="humanSLOppExploreProbWeightful")
    """As --human-own-weightful, for the opponent's moves."""
    human_c_puct: float = option(1.0, bounds=(0, 1000), katago="humanSLCpuctExploration")
    """Exploration constant where the human-like policy selects."""
    human_c_puct_permanent: float = option(0.0, bounds=(0, 1000), katago="humanSLCpuctPermanent")
    """Added to --human-c-puct, times the square root of the visits, so that moves that people play stay explored even
    if they are bad."""

    @property
    def explores(self) -> bool:
        """Whether the human-like policy selects moves of the search."""
        return self.explores_tree or self.human_root_weightless + self.human_root_weightful > 0.0

    @property
    def explores_tree(self) -> bool:
        """Whether it does so elsewhere than at the root."""
        own = self.human_own_weightless + self.human_own_weightful
        return own + self.human_opponent_weightless + self.human_opponent_weightful > 0.0

    @property
    def explores_unevenly(self) -> bool:
        """Whether it does so otherwise for the side to play at the root than for its opponent."""
        root = (self.human_root_weightless, self.human_root_weightful)
        own = (self.human_own_weightless, self.human_own_weightful)
        return not root == own == (self.human_opponent_weightless, self.human_opponent_weightful)

    @cached_property
    def profile(self) -> HumanProfile:
        """The players to imitate, NO_PROFILE if there are none."""
        return parse_profile(self.human_profile)
