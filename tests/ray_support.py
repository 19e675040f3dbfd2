"""A Ray cluster of small nodes on this machine, for tests; skipped without Ray."""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray, the extra [ray], is not installed")


@contextmanager
def small_cluster(nodes: int, **options: Any) -> Iterator[Any]:
    """Yield a `ray.cluster_utils.Cluster` of so many nodes of one core, and a head that has none; all have `options`.

    Their workers can import the modules of the tests.
    """
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "1")
        patch.setenv("RAY_TMPDIR", folder)  # the address of the cluster is noted there too
        head = {"num_cpus": 0, "include_dashboard": False, **options}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            for _ in range(nodes):
                cluster.add_node(num_cpus=1, **options)
            yield cluster
        finally:
            cluster.shutdown()
