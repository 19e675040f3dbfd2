"""All measurements as a report with stable keys, ready for JSON.

    version, machine    of the engine; as `machine.describe_machine` describes it
    rollouts_per_s      {"9x9": {"uniform": …, "tactical": …}, "19x19": …}   played and counted, on one core
    playouts_per_s      {"9x9": {"rave": …, "uct": …}, "19x19": …}           of a search with all threads
    startup_s           {"name": …, "first_genmove": …}                      from the start of a process
    network             {"name", "runtime", "board", "evaluations_per_s": {threads: {batch: …}},
                         "playouts_per_s": {batch: …}, "recommended": {"network_threads", "eval_batch"}}
    katago              {"command", "board", "threads", "playouts_per_s", "evaluations_per_s"}

The last two are there if they were asked for.
"""

from collections.abc import Callable
from typing import Any

from gtp_engine import __version__
from gtp_engine.benchmark.katago_speed import measure_katago
from gtp_engine.benchmark.network_speed import measure_network
from gtp_engine.benchmark.startup import measure_startup
from gtp_engine.benchmark.without_network import measure_playouts, measure_rollouts
from gtp_engine.config import NetworkConfig
from gtp_engine.machine import describe_machine
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_files import find_networks

Report = dict[str, Any]


def run_benchmark(
    *,
    seconds: float,
    repeats: int,
    progress: Callable[[str], None],
    network: NetworkConfig | None = None,
    katago: str | None = None,
) -> Report:
    """Return all measurements, each of about `seconds`; `progress` is called with a line before each kind.

    With `network`, the speed of that network is measured too, and with `katago`, a `katago benchmark` command, KataGo's
    right before it: what is wrong with the command shows at once, not after minutes of measuring.

    Raises BenchmarkError when a started engine does not answer or KataGo fails, ModelError when there is no such
    network.
    """
    asked_for: Report = {}
    if network is not None:
        find_networks(model_path(network.model))
    if katago is not None:
        progress("KataGo …")
        asked_for["katago"] = measure_katago(katago)
    if network is not None:
        asked_for["network"] = measure_network(network, seconds, repeats, progress)
    progress("Rollouts on one core …")
    rollouts = measure_rollouts(seconds, repeats)
    progress("Search on all cores …")
    playouts = measure_playouts(seconds, repeats)
    progress("Start of a process …")
    return {
        "version": __version__,
        "machine": describe_machine(),
        "rollouts_per_s": rollouts,
        "playouts_per_s": playouts,
        "startup_s": measure_startup(repeats),
        **asked_for,
    }
