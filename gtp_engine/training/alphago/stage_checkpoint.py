"""The networks in the checkpoints of the AlphaGo stages (`training.core.checkpoint`)."""

from pathlib import Path

from gtp_engine.errors import ModelError, problem, shown_path
from gtp_engine.training.alphago.nets import KINDS, Net, NetShape, PolicyNet
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint


def net_of(checkpoint: Checkpoint) -> Net:
    """Return the network of a checkpoint, on the CPU and in evaluation; raises ModelError for another kind."""
    if checkpoint.kind not in KINDS:
        raise ModelError(problem(f"a checkpoint of a {checkpoint.kind} network", expected=f"{' or '.join(KINDS)}"))
    net = KINDS[checkpoint.kind](NetShape(**checkpoint.network))
    net.load_state_dict(checkpoint.weights)
    return net.eval()


def policy_of(folder: Path) -> PolicyNet:
    """Return the policy network of the run in `folder`; raises ModelError if it has none."""
    net = net_of(read_checkpoint(folder))
    if not isinstance(net, PolicyNet):
        raise ModelError(
            problem(f"{shown_path(folder)} has a {net.KIND} network", expected="a run with a policy network")
        )
    return net
