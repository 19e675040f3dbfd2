"""The connection to a Ray cluster, for what can be done on other machines.

Every machine needs the same version of Ray (the extra `ray`) and the dependencies of this package.  The package itself
is sent along.
https://docs.ray.io
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import gtp_engine
from gtp_engine.errors import WorkerError, problem

LOCAL: Final = "local"
"""In place of an address: start a cluster on this machine, for this run."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield the package `ray`, connected to the cluster at `address`; what was started there ends with the context.

    Raises WorkerError where Ray is missing or cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise WorkerError(problem("Ray is not installed", advice="pip install 'gtp-engine[ray]'")) from None
    try:
        ray.init(
            address=None if address == LOCAL else address,
            runtime_env={"py_modules": [gtp_engine]},
            log_to_driver=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        text = str(error).partition("\n")[0]
        raise WorkerError(
            problem(f"no Ray cluster at {address} ({text})", advice="`ray start --head` starts one")
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()
