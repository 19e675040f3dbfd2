"""Encoders: what turns a batch of positions into the arrays that a network reads.

Encoder             the protocol
KatagoV7Encoder     KataGo's networks, and all that read positions as they do (`katago_inputs`)
KatagoHumanEncoder  KataGo's human-like networks: the same, and a profile of the players
new_encoder         makes an encoder, by the name in a network's metadata

An encoder is made for one board size (`KatagoV7Encoder(width, height)`) and owns the work arrays of its kernels, so
each thread needs its own.

The 192 values that describe the players to a human-like network, KataGo's "SGF metadata" (`PROFILE_INPUTS`):

      0, 1   whether the side to move, the opponent is human
      2–5    whether they are unranked, whether their ranks are unknown: never with a profile
      6–39   rank of the side to move: the first r are 1, with r = 1 for 9d, 2 for 8d …
     40–73   rank of the opponent
      74     whether the game is unrated; ½ if unknown
     75–81   time control: unknown, none, absolute, simple, byo-yomi, Canadian, Fischer
     82–85   logarithms of the seconds of main time and of a period, the periods of byo-yomi, and the stones of a
             Canadian period
      86     logarithm of the board's area
     87–150  date of the game: cosine and sine of 32 angles
    151–166  source of the game: OGS, KGS, Fox, … GoGoD, Go4Go
    167–191  not used

Facts from KataGo 1.17 (`cpp/neuralnet/sgfmetadata.cpp`).
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from math import cos, log, pi, sin
from typing import Final, NamedTuple, Protocol

import numpy as np

from gtp_engine.base.errors import ModelError
from gtp_engine.config.human import HumanProfile, profile_of
from gtp_engine.evaluation.evaluator_info import FULL_AREA
from gtp_engine.evaluation.positions import Conditions, FloatArray, Positions
from gtp_engine.go.board import IntArray
from gtp_engine.go.constants import BLACK
from gtp_engine.nn.katago_inputs import GLOBALS, PLANES, encode_rows, new_encoder_work
from gtp_engine.nn.metadata import HUMAN_ENCODER, KATAGO_ENCODER, PROFILE_INPUTS
from gtp_engine.nn.plug_ins import plugged_in_encoder
from gtp_engine.nn.symmetry import cell_table

Rows = Sequence[int] | IntArray
"""Numbers of rows of a batch."""


class Inputs(NamedTuple):
    """What a network reads of K positions on boards of H rows by W columns; C-contiguous."""

    spatial: FloatArray  # [K, planes, H, W]
    globals_: FloatArray  # [K, globals]


class Encoder(Protocol):
    """Turns positions into planes and global values.

    `name` is that of the encoding in network files ("katago-v7"), `planes` the number of planes of a position,
    `globals` the number of values beside them (0 if there are none).
    """

    name: str
    planes: int
    globals: int

    def encode(self, positions: Positions, rows: Rows, symmetries: IntArray) -> Inputs:
        """Return the inputs for these rows, K of them, in their order, each under its own conditions.

        `symmetries`, int32[K], are the orientations in which the positions are shown (`nn.symmetry`; 0: as they are;
        4 to 7 only on square boards).  The scratch parts of the boards in `positions` are used and restored.  Does not
        hold the GIL.
        """


def new_inputs(encoder: Encoder, count: int, width: int, height: int) -> Inputs:
    """Return arrays for inputs that are still to be written, of an encoder of boards of this size."""
    return Inputs(
        spatial=np.empty((count, encoder.planes, height, width), dtype=np.float32),
        globals_=np.empty((count, encoder.globals), dtype=np.float32),
    )


class KatagoV7Encoder:
    """Encodes for boards of one size, on one thread at a time.

    `suicide_area`: the network expects areas computed as if suicide were legal under all rules
    (`NetworkInfo.suicide_area`).
    """

    name = KATAGO_ENCODER
    planes = PLANES
    globals = GLOBALS

    def __init__(self, width: int, height: int, *, suicide_area: bool = False) -> None:
        self._board = width, height
        self._suicide_area = suicide_area
        self._cells = cell_table(width, height)
        self._work = new_encoder_work(width, height)

    def encode(self, positions: Positions, rows: Rows, symmetries: IntArray) -> Inputs:
        """Return the inputs for some rows; see `Encoder`."""
        inputs, numbers = new_inputs(self, len(rows), *self._board), np.asarray(rows, dtype=np.int32)
        planes = inputs.spatial.reshape(len(rows), self.planes, -1)
        settings = self._suicide_area, symmetries, self._cells, self._work
        encode_rows(positions, numbers, *settings, planes, inputs.globals_)
        return inputs


OWN_RANK: Final = 6
OPPONENT_RANK: Final = 40
MOST_RANKS: Final = 34
_UNRATED: Final = 74
_TIME_UNKNOWN: Final = 75
_BYO_YOMI: Final = 79
_TIMES: Final = 82
AREA: Final = 86
_DATE: Final = 87
_SOURCE: Final = 151

_KGS: Final = 2
_GOGOD: Final = 5
_GO4GO: Final = 6
_FIRST_GO4GO_YEAR: Final = 2021
"""Games of professionals come from GoGoD up to the year before."""

_PLAYED: Final = {"rank": date(2020, 3, 1), "preaz": date(2016, 9, 1)}
"""Date of the games of amateurs; those of professionals are of 1 June of their year."""
_EPOCH: Final = date(1970, 1, 1)

_MAIN_SECONDS, _PERIOD_SECONDS, _PERIODS = 1200, 30, 5
"""Time settings of the games of amateurs."""

_ANGLES: Final = 32
_SHORTEST_PERIOD: Final = 7.0
_LONGEST_FACTOR: Final = 80000.0
"""The angles turn once in 7 days to 7 · 80000 days."""


@lru_cache(maxsize=64)
def profile_values(code: int, color: int, area: int) -> FloatArray:
    """Return the values for a profile, `color` to play on a board of `area` points, float32[192]; not to be changed.

    Raises ModelError if the code stands for no profile.
    """
    profile = profile_of(code)
    if not profile.kind:
        raise ModelError(
            "the network imitates people",
            expected="a profile of the players",
            advice="set human.human_profile (humanSLProfile, --human-profile), for example to rank_5k",
        )
    values = np.zeros(PROFILE_INPUTS)
    values[0:2] = 1.0
    own, opponent = profile.black_rank, profile.white_rank
    if color != BLACK:
        own, opponent = opponent, own
    values[OWN_RANK : OWN_RANK + min(own, MOST_RANKS)] = 1.0
    values[OPPONENT_RANK : OPPONENT_RANK + min(opponent, MOST_RANKS)] = 1.0
    _write_time(profile, values)
    values[AREA] = 0.5 * log(area / FULL_AREA)
    _write_date(profile, values)
    return values.astype(np.float32)


def _write_time(profile: HumanProfile, values: np.ndarray) -> None:
    """Write whether the games were rated, and their time settings: those of amateurs, unknown for professionals."""
    is_amateur = profile.kind != "proyear"
    values[_UNRATED] = 0.5 if is_amateur else 0.0
    values[_BYO_YOMI if is_amateur else _TIME_UNKNOWN] = 1.0
    main, period, periods = (_MAIN_SECONDS, _PERIOD_SECONDS, _PERIODS) if is_amateur else (0, 0, 0)
    values[_TIMES] = 0.4 * (log(main + 60) - 6.5)
    values[_TIMES + 1] = 0.3 * (log(period + 1) - 3)
    values[_TIMES + 2] = 0.5 * (log(periods + 2) - 1.5)
    values[_TIMES + 3] = 0.25 * (log(2) - 1.5)  # no stones of a Canadian period


def _write_date(profile: HumanProfile, values: np.ndarray) -> None:
    """Write date and source of the games."""
    days = (_PLAYED.get(profile.kind) or date(profile.year, 6, 1)) - _EPOCH
    for i in range(_ANGLES):
        angle = 2 * pi * days.days / (_SHORTEST_PERIOD * _LONGEST_FACTOR ** (i / (_ANGLES - 1)))
        values[_DATE + 2 * i : _DATE + 2 * i + 2] = cos(angle), sin(angle)
    source = _KGS
    if profile.kind == "proyear":
        source = _GOGOD if profile.year < _FIRST_GO4GO_YEAR else _GO4GO
    values[_SOURCE + source] = 1.0


_PROFILE: Final = Conditions._fields.index("human_profile")


class KatagoHumanEncoder(KatagoV7Encoder):
    """The same with a profile of the players."""

    name = HUMAN_ENCODER
    globals = GLOBALS + PROFILE_INPUTS

    def encode(self, positions: Positions, rows: Rows, symmetries: IntArray) -> Inputs:
        """Return the inputs for some rows; see `Encoder`.  Raises ModelError if the conditions hold no profile."""
        inputs, (width, height) = super().encode(positions, rows, symmetries), self._board
        for k, row in enumerate(rows):
            profile, color = int(positions.conditions[row, _PROFILE]), int(positions.to_play[row])
            inputs.globals_[k, GLOBALS:] = profile_values(profile, color, width * height)
        return inputs


def new_encoder(name: str, width: int, height: int, *, suicide_area: bool = False) -> Encoder:
    """Return the encoder of a name, one of `metadata.ENCODERS`, for boards of one size."""
    kinds = {kind.name: kind for kind in (KatagoV7Encoder, KatagoHumanEncoder)}
    if name in kinds:
        return kinds[name](width, height, suicide_area=suicide_area)
    encoder: Encoder = plugged_in_encoder(name, width, height)
    return encoder
