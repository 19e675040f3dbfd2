"""The networks of the server, shared by all of its clients, and the thread that does their analyses.

Every client has a schedule of its own; they take turns (`SharedSchedule` of `protocols.analysis.schedule`).  Games have
engines and searches of their own, which share the networks: what they ask for at once is evaluated together.  Games
that people play come before reviews, which take minutes anyway: a review uses the network as a guest, who waits for
games, half a second at most, and leaves their cache alone.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.base.errors import ModelError, TengenError, shown
from gtp_engine.base.streams import Log
from gtp_engine.config import Config
from gtp_engine.engine.shared_engines import SharedEngines
from gtp_engine.evaluation.evaluator import Evaluator, ForwardingEvaluator, Request
from gtp_engine.evaluation.evaluator_info import ANY_BOARD
from gtp_engine.nn.metadata import read_metadata
from gtp_engine.nn.named_networks import BUILTIN, default_name, named_networks, shipped_folder
from gtp_engine.nn.network_catalogue import BEST
from gtp_engine.nn.network_files import begin_faster_copy, onnx_files
from gtp_engine.nn.published_networks import get_network
from gtp_engine.protocols.analysis.schedule import SharedSchedule
from gtp_engine.protocols.analysis.worker import Worker
from gtp_engine.search.limits import CancelToken

PATIENCE: Final = 0.5
"""Seconds that a guest waits for games before each call of the network: while games go on without a pause, a review
gets on by a batch of positions every half second, so it ends, and games lose little."""

END_WAIT: Final = 2.0
"""Seconds that the server waits for its analyses at the end; a search ends sooner, a compiler may not."""


LoadSource = Callable[[Config], SharedEngines]
"""Loads the networks of a configuration."""


class EngineHost:
    """Loads the networks by `load`, which may take long, and analyses positions with them; `log` is for the user."""

    def __init__(self, config: Config, load: LoadSource, log: Log) -> None:
        self.config = config
        """The configuration of engines and analyses; it names the network."""
        self.log: Final = log
        self.precedence: Final = Precedence()
        """Held by games of pages while their engines search."""
        self._load: Final = load
        self.schedule: Final = SharedSchedule()
        """The schedules of all clients; each abandons its own at the end."""
        self.loading: Final[Future[SharedEngines]] = Future()
        """What the networks are loaded into, or the error that made loading fail."""
        self._chosen: SharedEngines | None = None
        self._thread: Final = threading.Thread(target=self._run, name="analyses", daemon=True)

    def start(self) -> None:
        """Begin to load; return at once."""
        self._thread.start()

    def source(self) -> SharedEngines:
        """Return what the networks are loaded into, waiting for it; raises the error that made loading fail."""
        return self._chosen or self.loading.result()

    def use_network(self, name: str) -> None:
        """Load another network, one of `NetworkMenu.names` or BEST, for games and analyses that begin later.

        Those that are under way keep the one before, which is freed after the last of them.  For one thread at a time.
        Raises ModelError, and ConfigError if the configuration does not go with the network.
        """
        self.source()
        known = NetworkMenu.of(self.config)
        if name == BEST:
            (file,) = get_network(BEST, log=self.log)
            if text := begin_faster_copy(file):
                self.log(text)
            name = file.stem
        elif name not in known.names:
            raise ModelError(f"network {shown(name)}", expected=" or ".join([*known.names, BEST]))
        if name != known.current:
            config = self.config.with_values({"network.model": name})
            self._chosen, self.config = self._load(config), config

    @property
    def is_loaded(self) -> bool:
        """Whether the networks are loaded."""
        return self.loading.done() and self.loading.exception() is None

    def stop_loading(self) -> None:
        """Let no one wait any longer for networks that are still being loaded; for `source` that is an error."""
        with suppress(InvalidStateError):
            self.loading.set_exception(TengenError("the server ends"))

    def close(self) -> bool:
        """End the analyses and free the networks; return False if that takes too long, or if they are being loaded.

        Clients have abandoned their schedules before.  Nothing has to be freed before `start`.
        """
        self.stop_loading()
        self.schedule.close()
        if self._thread.is_alive() and self.loading.exception() is None:
            self._thread.join(END_WAIT)
        return not self._thread.is_alive()

    def _run(self) -> None:
        """Load the networks, then do the analyses of all clients."""
        try:
            source = self._load(self.config)
        except BaseException as error:
            with suppress(InvalidStateError):  # the server ends
                self.loading.set_exception(error)
            return
        try:
            self.loading.set_result(source)
        except InvalidStateError:  # the server ends
            source.close()
            return
        Worker(self.schedule, self.source, self.log).run()
        self.source().close()


class NetworkMenu(NamedTuple):
    """The networks that games can be played with: what people call each, by the name that chooses it."""

    names: dict[str, str]
    current: str

    @staticmethod
    def of(config: Config) -> "NetworkMenu":
        """Return those that ship or are installed, and that of `config`; without those that need a profile."""
        current = config.network.model or default_name()
        names = {}
        for name, path in named_networks().items():
            try:
                info = read_metadata(onnx_files(path)[0] if path.is_dir() else path)
            except ModelError:
                continue
            is_builtin = path.parent == shipped_folder() and path.is_file()
            # One for a single board plays it anyway when the network that ships is chosen.
            if not info.needs_profile and not (is_builtin and info.sizes.only is not None):
                key = BUILTIN if is_builtin else name
                names[key] = name if info.sizes == ANY_BOARD else f"{name} ({info.sizes})"
        names.setdefault(current, Path(current).stem)
        return NetworkMenu(names, current)


class Precedence:
    """While any holder has precedence, others wait.  For any thread."""

    def __init__(self) -> None:
        self._holders = 0
        self._changed: Final = threading.Condition()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have precedence in the `with` block, at once, together with other holders."""
        with self._changed:
            self._holders += 1
        try:
            yield
        finally:
            with self._changed:
                self._holders -= 1
                self._changed.notify_all()

    def wait(self, cancel: CancelToken) -> None:
        """Wait until there is no holder, or until the cancellation, PATIENCE seconds at most."""
        with cancel.calling(self._wake), self._changed:
            self._changed.wait_for(lambda: cancel.is_cancelled or not self._holders, PATIENCE)

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class GuestCancelled(Exception):
    """The work of the guest has been cancelled."""


class GuestEvaluator(ForwardingEvaluator):
    """Forwards to `evaluator`, which evaluates each batch once nothing has precedence or PATIENCE has passed.

    Raises GuestCancelled after the cancellation.
    """

    def __init__(self, evaluator: Evaluator, precedence: Precedence, cancel: CancelToken) -> None:
        super().__init__(evaluator)
        self._precedence: Final = precedence
        self._cancel: Final = cancel

    def evaluate(self, request: Request) -> None:
        """Write the evaluation of the positions; see `Evaluator`."""
        for first in range(0, request.rows, self.info.batch):
            self._precedence.wait(self._cancel)
            if self._cancel.is_cancelled:
                raise GuestCancelled
            super().evaluate(request.part(first, self.info.batch))

    def clear_cache(self) -> None:
        """Do nothing: the cache serves the games too."""

    def close(self) -> None:
        """Do nothing: the evaluator belongs to the server."""
