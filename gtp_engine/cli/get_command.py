"""The commands `gtp-engine models get` and `gtp-engine models default`."""

import sys
from pathlib import Path

import click

from gtp_engine.cli.parameters import INTERRUPTED, int8_option

_GET_HELP = """Get a strong network, and play with it from then on.

\b
gtp-engine models get             # list the networks on offer
gtp-engine models get best
gtp-engine models get katrain-1.20.0-py3-none-any.whl

The networks are KataGo's. They are part of releases of KaTrain, a program for studying Go. pip downloads these from the
package index that it uses here, and their hash is checked. Without a connection, a network is taken from an installed
KaTrain, or from WHEEL: a wheel of KaTrain, a folder with KataGo networks, or such a network's file.

The licence is shown. If this processor is faster in 8 bits, an 8-bit copy is made too, which takes one to five minutes.
`gtp-engine models default builtin` returns to the network that ships.
"""


@click.command("get", help=_GET_HELP)
@click.argument("wanted", metavar="[NAME|WHEEL]", required=False)
@int8_option
def get_command(wanted: str | None, int8: bool) -> None:  # noqa: D103
    if wanted is None:
        click.echo(_catalogue())
        return
    from gtp_engine.networks.published_networks import get_network
    from gtp_engine.nn.metadata import read_info
    from gtp_engine.nn.named_networks import set_default

    try:
        files = get_network(wanted, log=click.echo)
    except KeyboardInterrupt:
        click.echo("\nInterrupted; the default network is the same as before.", err=True)
        sys.exit(INTERRUPTED)
    if playing := [file.stem for file in files if not read_info(file).needs_profile]:
        set_default(playing[0])
        click.echo(
            f"`gtp-engine` plays with {playing[0]} from now on; `gtp-engine models default builtin` goes back to the "
            "network that ships."
        )
    offer_faster_copies(files, make=int8)


@click.command("default")
@click.argument("name", required=False)
def default_command(name: str | None) -> None:
    """Set the network that plays when --model names none.

    NAME is that of a network in `gtp-engine models list`, a file or a folder; `builtin` is the one that ships with the
    engine. Without NAME, print the current one.
    """
    from gtp_engine.files import expanded
    from gtp_engine.nn.named_networks import default_name, named_networks, set_default
    from gtp_engine.nn.network_files import find_networks

    if name is not None:
        path = named_networks().get(name, expanded(name))
        if path.exists():
            find_networks(path)  # raises ModelError for what is no network
        set_default(name)
    click.echo(default_name())


def offer_faster_copies(files: list[Path], *, make: bool) -> None:
    """Make the 8-bit copies of networks that are faster on this processor; if not `make`, print how to."""
    from gtp_engine.networks.quantization.faster_copy import faster_copy_hint, make_faster_copy
    from gtp_engine.progress import ProgressBar

    for file in files:
        if not make:
            if hint := faster_copy_hint(file):
                click.echo(hint)
            continue
        try:
            with ProgressBar() as bar:
                make_faster_copy(file, progress=bar.update, log=bar.log)
        except KeyboardInterrupt:
            click.echo(f"\nInterrupted; {file.name} plays without an 8-bit copy.", err=True)
            sys.exit(INTERRUPTED)


def _catalogue() -> str:
    """Return a table of the published networks."""
    from gtp_engine.networks.published_networks import BEST, LICENSE, PUBLISHED
    from gtp_engine.nn.named_networks import default_name, named_networks

    here, default = named_networks(), default_name()
    lines = [f"{'name':<19}{'download':>9}  {'here':<9}strength"]
    for network in PUBLISHED:
        state = "default" if network.name == default else "yes" if network.name in here else "no"
        lines.append(f"{network.name:<19}{network.wheel_bytes / 1e6:>6.0f} MB  {state:<9}{network.strength}")
    return "\n".join(
        [
            *lines,
            "",
            f"Licence: {LICENSE}",
            f"`gtp-engine models get NAME` gets one; {BEST} is {PUBLISHED[0].name}.",
        ]
    )
