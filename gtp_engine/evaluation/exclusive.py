"""One evaluator for several threads: their calls wait for each other."""

import threading

from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.forwarding import ForwardingEvaluator


class ExclusiveEvaluator(ForwardingEvaluator):
    """Forwards calls to `evaluator`, which by contract serves one thread at a time.

    A search that was stopped may leave a batch behind, whose evaluation is not used, while the next search begins.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator, threading.Lock())
