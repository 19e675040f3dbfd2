"""The shared network as a review uses it, which is a guest: it waits for games and leaves their cache alone."""

from contextlib import AbstractContextManager
from typing import Final

from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.forwarding import ForwardingEvaluator
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.web.precedence import Precedence


class GuestCancelled(Exception):
    """The work of the guest has been cancelled."""


class GuestEvaluator(ForwardingEvaluator):
    """Forwards calls to `evaluator`, each once nothing has precedence; raises GuestCancelled after the cancellation."""

    def __init__(self, evaluator: Evaluator, precedence: Precedence, cancel: CancelToken) -> None:
        super().__init__(evaluator, _Turn(precedence, cancel))

    def clear_cache(self) -> None:
        """Do nothing: the cache serves the games too."""

    def close(self) -> None:
        """Do nothing: the evaluator belongs to the server."""


class _Turn(AbstractContextManager[None]):
    """A context that begins once nothing has precedence; raises GuestCancelled after the cancellation."""

    def __init__(self, precedence: Precedence, cancel: CancelToken) -> None:
        self._precedence: Final = precedence
        self._cancel: Final = cancel

    def __enter__(self) -> None:
        self._precedence.wait(self._cancel)
        if self._cancel.is_cancelled:
            raise GuestCancelled

    def __exit__(self, *_: object) -> None:
        return None
