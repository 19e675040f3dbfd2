"""Commands of the engine carried out by the tests' process, which has imported torch and loaded kernels already."""

import warnings
from collections.abc import Sequence

from gtp_engine.base.steps import ENGINE
from gtp_engine.cli import cli


def carry_out_here(command: Sequence[str]) -> int:
    """Return the exit status of a command of the engine; in place of `steps._status_of`, which starts a process.

    That processes are started, and what becomes of signals, is tested in `core/test_runs.py`.
    """
    assert tuple(command[: len(ENGINE)]) == ENGINE
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as in a process of its own, where they are no errors
        try:
            cli(list(command[len(ENGINE) :]), prog_name="gtp-engine")
        except SystemExit as end:
            return int(end.code or 0)
    raise AssertionError("a command ended without a status")
