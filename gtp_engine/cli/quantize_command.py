"""The command `gtp-engine models quantize`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gtp_engine.cli.parameters import out_option

if TYPE_CHECKING:
    from gtp_engine.networks.quantization import Quantized

_HELP = """Quantize NET, an ONNX file in float32, to 8 bits.

\b
gtp-engine models quantize b15c192.onnx
gtp-engine --model b15c192.onnx

From then on `--model b15c192.onnx` plays with the copy, b15c192-int8.onnx beside it, where the processor gains from it,
unless the comparison at the end shows that it is too inaccurate or hardly faster; --precision overrides. `models
import` and `models get` make that copy by themselves on such a processor.

Games of the network that ships supply positions for calibration and others for validation. If the network loses too
much accuracy, the loss is measured layer by layer, and the layers that lose most stay in floating point. All this takes
one to five minutes. The table at the end shows how far bfloat16 and int8 are from float32, and how fast they are here.
"""


@click.command("quantize", help=_HELP)
@click.argument("source", metavar="NET", type=click.Path(path_type=Path))
@out_option("the name of NET with -int8, beside it")
@click.option(
    "--positions",
    default=768,
    show_default=True,
    type=click.IntRange(min=48, max=100_000),
    help="Positions to take from games: two thirds for calibration, one third for validation.",
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0), help="Seed of the games.")
@click.option(
    "--float-share",
    default=0.4,
    show_default=True,
    type=click.FloatRange(min=0, max=1),
    help="Largest share of the work left in floating point, for the layers that lose most accuracy; at most 0.1 if the "
    "network is accurate in 8 bits.",
)
@click.option(
    "--provider",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="What runs the network for these measurements, as in `gtp-engine --provider`.",
)
@click.option(
    "--threads", default=0, type=click.IntRange(min=0), help="Threads of the network. [default: one for each core]"
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print the loss of each layer, and measure it also where all could be quantized.",
)
def quantize_command(  # noqa: D103
    source: Path,
    target: Path | None,
    positions: int,
    seed: int,
    float_share: float,
    provider: str,
    threads: int,
    verbose: bool,
) -> None:
    from gtp_engine.networks.quantization import GOOD_ENOUGH, QuantizeSettings, quantize_file
    from gtp_engine.nn.quantized_copy import quantized_path
    from gtp_engine.progress import ProgressBar

    settings = QuantizeSettings(positions, seed, float_share, provider, threads, 0.0 if verbose else GOOD_ENOUGH)
    with ProgressBar() as bar:
        result = quantize_file(source, target or quantized_path(source), settings, progress=bar.update)
    if verbose:
        click.echo(_format_sensitivities(result) + "\n")
    click.echo(_format_comparison(result))
    click.echo(f"\nWritten: {result.path} ({result.path.stat().st_size:,} bytes)")
    if result.objection:
        click.echo(f"It will not be used by default on this processor: {result.objection}.")


def _format_comparison(result: "Quantized") -> str:
    """Return a table: a line for each precision."""
    positions = result.differences["int8"].positions
    lines = [
        f"With {result.provider}; differences from float32 on {positions} held-out positions",
        f"{'':<10}{'eval/s':>9}{'policy KL':>11}{'same first move':>17}{'winrate error':>16}",
    ]
    for name in sorted(result.speeds, key=lambda name: result.speeds[name]):
        line = f"{name:<10}{result.speeds[name]:>9.1f}"
        if found := result.differences.get(name):
            line += f"{found.policy_kl:>11.5f}{found.same_first_move:>17.1%}{found.winrate_error:>16.4f}"
        lines.append(line)
    return "\n".join(lines)


def _format_sensitivities(result: "Quantized") -> str:
    """Return a table: a line for each layer, in the network's order, with the loss from quantizing it alone."""
    work = sum(entry.layer.work for entry in result.sensitivities)
    lines = [f"{'input of layer':<24}{'work':>8}{'policy KL':>12}{'winrate error':>16}"]
    for entry in result.sensitivities:
        lines.append(
            f"{entry.layer.source:<24}{entry.layer.work / work:>8.1%}{entry.difference.policy_kl:>12.6f}"
            f"{entry.difference.winrate_error:>16.5f}"
            f"{'   left in floating point' if entry.layer.source in result.exact else ''}"
        )
    return "\n".join(lines)
