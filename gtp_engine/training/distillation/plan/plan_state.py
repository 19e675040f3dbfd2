"""What a part of a plan has: its time, the state that it passes on to the next one, and to whom it reports.

    PlanClock   how much time there is, and for what; pure arithmetic on seconds
    PlanState   what the parts pass on to each other: a JSON file in the plan's folder
    PlanPart    one part: what is planned, where, its clock, its state, its log

|<- startup ->|<--------- generate, train --------->|<- finish ->|<- reserve ->|
begin                                                                      end of part
"""

import json
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.files import json_of, replacing, sha256_of, writing
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.learning import check_same
from gtp_engine.training.distillation.distillation_settings import PlanSettings

RESERVE: Final = 0.02
"""Share of a part that is left for what nothing else accounts for."""
_USABLE: Final = 0.97
"""Share of the time for training that its steps get: the rest goes into checkpoints and reports."""
_FINISH_SHARE: Final = 0.08
_MOST_FINISH: Final = 30.0
"""Share of a part, and the most seconds, that export, tables and files get: a few seconds on an idle machine."""
_STARTUP_SHARE: Final = 0.1
"""Share of a part that its start is expected to take until that has been measured."""
_RECORD_SECONDS: Final = 10.0
"""Seconds after which the state is written again, so that a part that is killed counts."""
_STATE_FILE: Final = "plan.json"
_FORMAT: Final = 1
_FREE: Final = ("part", "minutes", "workers", "device", "compiled", "epochs")
"""Settings in which a part may differ from the one before."""


@dataclass(frozen=True)
class PlanClock:
    """The time of a part that began at `began` (of `now`, in seconds), of a plan of which `used` seconds are over."""

    began: float
    part: float
    """Seconds of this part, and of each part after it."""
    total: float
    """Seconds of the plan."""
    used: float
    finish: float
    """Seconds that the end of a part takes: export, tables, files."""
    now: Callable[[], float] = time.monotonic

    @property
    def elapsed(self) -> float:
        """Seconds since the part began."""
        return self.now() - self.began

    @property
    def length(self) -> float:
        """Seconds of this part: the last one may be shorter."""
        return max(0.0, min(self.part, self.total - self.used))

    @property
    def left(self) -> float:
        """Seconds that this part has left for work, before it has to finish."""
        return max(0.0, self.length * (1 - RESERVE) - self.finish - self.elapsed)

    @property
    def is_over(self) -> bool:
        """Whether it is time to finish the part."""
        return self.left <= 0

    def next_left(self, startup: float) -> float:
        """Return the seconds that the next part will have for work once it has begun, which takes it `startup`."""
        following = min(self.part, self.total - self.used - self.length)
        return max(0.0, following * (1 - RESERVE) - self.finish - startup)

    def training_left(self, startup: float) -> float:
        """Return the seconds of training in this part and those to come, each of which needs `startup` to begin."""
        following = max(0.0, self.total - self.used - self.length)
        parts = math.ceil(following / self.part - 1e-9)
        of_each = startup + self.finish + RESERVE * self.part
        return _USABLE * (self.left + max(0.0, following - parts * of_each))


def most_samples(runs: Iterable[tuple[int, float]], seconds: float) -> float:
    """Return how many samples the longest of some runs sees, which share `seconds` in their order.

    A run is its wanted samples, 0 for as many as there is time for, and its speed in samples per second.
    """
    most = 0.0
    for wanted, speed in runs:
        samples = min(wanted, speed * seconds) if wanted else speed * seconds
        seconds -= samples / speed
        most = max(most, samples)
    return most


@dataclass
class NetworkState:
    """One network of a plan."""

    batch: int = 0
    """Positions in a step; less than planned once memory was too small."""
    speed: float = 0.0
    """Samples per second, measured."""
    compiled: bool = False
    in_memory: bool = True
    """Whether all positions fit into the memory of the device, as far as that is known."""
    samples: int = 0
    seconds: float = 0.0
    done: bool = False


@dataclass
class PlanState:
    """Where a plan is."""

    settings: dict[str, Any]
    used: float = 0.0
    """Seconds of the parts so far."""
    parts: int = 0
    generated: bool = False
    """Whether there are enough positions."""
    positions: int = 0
    positions_per_second: float = 0.0
    startup: float = 0.0
    """Seconds from the beginning of a part to its first step of training."""
    networks: dict[str, NetworkState] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What did not go as planned."""
    init: str | None = None
    """Hash of the file that a network begins with, "" without one; None until a part has begun."""

    def network(self, title: str) -> NetworkState:
        """Return the state of a network by its size."""
        return self.networks.setdefault(title, NetworkState())

    def check_init(self, init: Path | None) -> None:
        """Record the file that a network begins with; raises ConfigError if an earlier part had another one, or none.

        A network that is still to begin would silently begin otherwise.
        """
        digest = "" if init is None else sha256_of(init)
        if self.init not in (None, digest):
            given = "no --init" if init is None else f"--init {shown_path(init)}"
            expected = "the file that the plan began with" if self.init else "none, as the plan began without"
            raise ConfigError(problem(given, expected=expected, advice="give the same command, or another folder"))
        self.init = digest

    def write(self, folder: Path) -> None:
        """Write the state, replacing an older one; raises ConfigError if that is impossible."""
        with writing(folder / _STATE_FILE, ConfigError, "plan"):
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(folder / _STATE_FILE) as unfinished:
                unfinished.write_text(json.dumps({"format": _FORMAT, **asdict(self)}, indent=2), encoding="utf-8")


def read_state(folder: Path, settings: PlanSettings) -> PlanState:
    """Return the state of the plan in a folder, a new one if there is none.

    Raises ConfigError if it is damaged, or of a plan with other settings.
    """
    path = folder / _STATE_FILE
    if not path.exists():
        return PlanState(asdict(settings))
    try:
        values = json_of(path.read_text(encoding="utf-8"))
        if values.pop("format") != _FORMAT:
            raise ValueError
        values["networks"] = {title: NetworkState(**each) for title, each in values["networks"].items()}
        state = PlanState(**values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(problem(f"plan {shown_path(path)} is damaged", advice="delete it")) from error
    check_same(state.settings, asdict(settings), free=_FREE)
    return state


@dataclass
class PlanPart:
    """One part of a plan."""

    settings: PlanSettings
    folder: Path
    state: PlanState
    clock: PlanClock
    bar: ProgressBar
    is_stopped: Callable[[], bool]
    _recorded: float | None = None
    """Second of the part in which the state was written last, None before the first time."""

    @property
    def is_over(self) -> bool:
        """Whether it is time to finish, or the part was stopped."""
        return self.clock.is_over or self.is_stopped()

    @property
    def startup(self) -> float:
        """Seconds that the next part is expected to need before it trains."""
        return self.state.startup or _STARTUP_SHARE * self.clock.part

    @property
    def training_left(self) -> float:
        """Seconds of training in this part and those to come."""
        return self.clock.training_left(self.startup)

    def record(self) -> None:
        """Write the state, unless that was done a moment ago."""
        elapsed = self.clock.elapsed
        if self._recorded is None or elapsed - self._recorded >= _RECORD_SECONDS:
            self._recorded = elapsed
            with suppress(ConfigError):  # the end of the part writes it once more, and complains
                self.write_state()

    def write_state(self) -> None:
        """Write the state with the time used so far; raises ConfigError if that is impossible."""
        self.state.used = self.clock.used + self.clock.elapsed
        self.state.write(self.folder)

    def note(self, text: str) -> None:
        """Log what did not go as planned, and keep it for the report."""
        self.state.notes.append(text)
        self.log(text)

    def log(self, text: str) -> None:
        """Log a line with the seconds of the part."""
        self.bar.log(f"{self.clock.elapsed:6.1f} s  {text}")


def begin_part(
    settings: PlanSettings, folder: Path, bar: ProgressBar, is_stopped: Callable[[], bool], began: float | None = None
) -> PlanPart:
    """Return the next part of the plan in `folder`, which began at `began` (`time.monotonic`) or begins now.

    Raises ConfigError if the plan there is damaged, or has other settings.
    """
    state, part = read_state(folder, settings), 60 * settings.part
    finish = min(_MOST_FINISH, _FINISH_SHARE * part)
    clock = PlanClock(time.monotonic() if began is None else began, part, 60 * settings.minutes, state.used, finish)
    return PlanPart(settings, folder, state, clock, bar, is_stopped)
