"""The networks of finished runs: from a checkpoint, and exported to a file."""

from pathlib import Path

from gtp_engine.alphago.stages.net_export import export_net
from gtp_engine.alphago.stages.nets import KINDS, Net, NetShape, PolicyNet
from gtp_engine.alphago.stages.stage_run import StageRun
from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.training.core.checkpoint import read_checkpoint


def read_net(folder: Path) -> Net:
    """Return the network of the run in `folder`, on the CPU; raises ModelError if it has none of AlphaGo's kinds."""
    checkpoint = read_checkpoint(folder)
    if checkpoint.kind not in KINDS:
        raise ModelError(
            problem(f"{shown_path(folder)} has a {checkpoint.kind} network", expected=f"one of {', '.join(KINDS)}")
        )
    net = KINDS[checkpoint.kind](NetShape(**checkpoint.network))
    net.load_state_dict(checkpoint.weights)
    return net.eval()


def read_policy(folder: Path) -> PolicyNet:
    """Return the policy network of the run in `folder`; raises ModelError if it has none."""
    net = read_net(folder)
    if not isinstance(net, PolicyNet):
        raise ModelError(
            problem(f"{shown_path(folder)} has a {net.KIND} network", expected="a run with a policy network")
        )
    return net


def export_run(run: StageRun, file_name: str, *, default_name: str, origin: str) -> Path:
    """Write the network of a finished run; return its file, `file_name` in the run's folder.

    The network's name is the run's, or `default_name` with its size.
    """
    net, target = read_net(run.out), run.out / file_name
    export_net(net, target, name=run.name or f"{default_name}-{net.shape.title}", origin=origin, terms=run.terms)
    run.bar.log(f"Written: {target}")
    return target
