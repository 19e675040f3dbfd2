"""The commands `gtp-engine models …`: get, import, quantize, describe and list networks."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gtp_engine.base.errors import ModelError, shown_path
from gtp_engine.base.files import expanded
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.worker_process import join_command
from gtp_engine.cli.options import (
    NETWORK,
    PATH,
    ConfigCommand,
    UserPath,
    int8_option,
    out_option,
    saying_when_interrupted,
    settings_options,
)
from gtp_engine.config.sections import QuantizeSettings
from gtp_engine.nn.metadata import info_of, read_metadata, read_properties
from gtp_engine.nn.network_catalogue import BEST, LICENSE, PUBLISHED

if TYPE_CHECKING:
    from gtp_engine.nn.metadata import NetworkInfo
    from gtp_engine.nn.onnx_export.convert import Conversion
    from gtp_engine.training.quantization import Quantized


@click.group("models")
def models_command() -> None:
    """Get, import, quantize and inspect networks.

    \N{BACKSPACE}
    gtp-engine models get best

    gets the best published network for a processor, and `gtp-engine` plays with it from then on. `get` alone lists all
    networks on offer. There are more at https://katagotraining.org; `import` converts them to ONNX files:

    \N{BACKSPACE}
    gtp-engine models import NET.bin.gz
    gtp-engine --model NET.onnx
    """


@models_command.command("get")
@click.argument("wanted", metavar="[NAME|WHEEL]", required=False)
@int8_option
def get_command(wanted: str | None, int8: bool | None) -> None:
    """Get a strong network, and play with it from then on.

    \N{BACKSPACE}
    gtp-engine models get             # list the networks on offer
    gtp-engine models get best
    gtp-engine models get katrain-1.20.0-py3-none-any.whl

    The networks are KataGo's and come in releases of KaTrain, a program for studying Go. `get` downloads these from the
    package index that pip or uv uses here, and checks their hash. Without a connection, it takes the network from an
    installed KaTrain, or from WHEEL: a wheel of KaTrain, a folder with KataGo networks, or such a network's file.

    It plays at once. If this processor is faster in 8 bits, an 8-bit copy follows in the background, on one core while
    nothing else needs it. --int8 waits for it, --no-int8 leaves it out. The licence lies beside the network.
    `gtp-engine models default builtin` returns to the network that ships.
    """
    if wanted is None:
        click.echo(_catalogue())
        return
    from gtp_engine.nn.named_networks import set_default
    from gtp_engine.nn.published_networks import get_network

    with saying_when_interrupted("\nInterrupted; the default network is the same as before."):
        files = get_network(wanted, log=click.echo)
    if playing := [file.stem for file in files if not read_metadata(file).needs_profile]:
        set_default(playing[0])
        click.echo(
            f"`gtp-engine` plays with {playing[0]} from now on; `gtp-engine models default builtin` goes back to the "
            "network that ships."
        )
    offer_faster_copies(files, make=int8)


@models_command.command("default")
@click.argument("name", required=False)
def default_command(name: str | None) -> None:
    """Set the network that plays when --model names none.

    NAME is that of a network in `gtp-engine models list`, a file or a folder; `builtin` is the one that ships with the
    engine. Without NAME, print the current one.
    """
    from gtp_engine.nn.named_networks import default_name, named_networks, set_default
    from gtp_engine.nn.network_files import find_networks

    if name is not None:
        path = named_networks().get(name, expanded(name))
        if path.exists():
            find_networks(path)  # raises ModelError for what is not a network
        set_default(name)
    click.echo(default_name())


def offer_faster_copies(files: list[Path], *, make: bool | None) -> None:
    """Make 8-bit copies of networks where they are faster, in the background if `make` is None."""
    from gtp_engine.nn.network_files import begin_faster_copy
    from gtp_engine.nn.plug_ins import make_faster_copy

    for file in files:
        if not make:
            if make is None and (text := begin_faster_copy(file)):
                click.echo(text)
            continue
        command = join_command(["gtp-engine", "models", "quantize", str(file)])
        interrupted = f"\nInterrupted; {file.name} plays without an 8-bit copy; `{command}` goes on."
        with saying_when_interrupted(interrupted), ProgressBar() as bar:
            make_faster_copy(file, progress=bar.update, log=bar.log)


def _catalogue() -> str:
    """Return a table of the published networks."""
    from gtp_engine.nn.named_networks import default_name, named_networks

    here, default = named_networks(), default_name()
    lines = [f"{'name':<19}{'download':>9}  {'here':<9}strength"]
    for network in PUBLISHED:
        state = "default" if network.name == default else "yes" if network.name in here else "no"
        lines.append(f"{network.name:<19}{network.wheel_bytes / 1e6:>6.0f} MB  {state:<9}{network.strength}")
    return "\n".join(
        [*lines, "", f"Licence: {LICENSE}", f"`gtp-engine models get NAME` gets one; {BEST} is {PUBLISHED[0].name}."]
    )


@models_command.command("quantize", cls=ConfigCommand)
@click.argument("source", metavar="NET", type=NETWORK)
@out_option("the name of NET with -int8, beside it")
@settings_options(QuantizeSettings, is_own=True)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print the loss of each layer, and measure it even where all could be quantized.",
)
def quantize_command(source: Path, target: Path | None, verbose: bool, settings: QuantizeSettings) -> None:
    """Quantize NET, an ONNX file in float32, to 8 bits.

    \N{BACKSPACE}
    gtp-engine models quantize b15c192.onnx
    gtp-engine --model b15c192.onnx

    From then on `--model b15c192.onnx` plays with the copy, b15c192-int8.onnx beside it, where the processor gains from
    it. A copy that the comparison at the end finds too inaccurate or hardly faster plays only with --precision int8.
    `models import` and `models get` make the copy by themselves on such a processor. Interrupted work goes on where it
    was.

    Games of the network that ships supply positions for calibration and others for validation. If the network loses too
    much accuracy, the loss is measured layer by layer, and the layers that lose most stay in floating point. All this
    takes one to five minutes. The table at the end shows how far bfloat16 and int8 are from float32, and how fast they
    are here.
    """
    from gtp_engine.nn.quantized_copy import quantized_path
    from gtp_engine.training.quantization import quantize_file

    if verbose:
        settings = replace(settings, good_enough=0.0)
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


@models_command.command("import")
@click.argument("source", metavar="NET", type=PATH)
@out_option("the name of NET, ending in .onnx, in this folder")
@int8_option
def import_command(source: Path, target: Path | None, int8: bool | None) -> None:
    """Convert the KataGo network NET (.bin.gz or .txt.gz) to an ONNX file."""
    from gtp_engine.nn.onnx_export.convert import convert_file, onnx_name

    conversion = convert_file(source, target or Path(onnx_name(source.name)))
    _show_conversion(conversion)
    offer_faster_copies([conversion.path], make=int8)


@models_command.command("from-wheel")
@click.argument("package", metavar="[WHEEL]", required=False, type=PATH)
@click.option(
    "-d",
    "--folder",
    default=".",
    show_default=True,
    type=UserPath(path_type=Path, file_okay=False, exists=True),
    help="Where to write the ONNX files.",
)
@int8_option
def from_wheel_command(package: Path | None, folder: Path, int8: bool | None) -> None:
    """Convert the KataGo networks in a KaTrain wheel, or in the installed KaTrain, to ONNX files here.

    WHEEL is the file that `pip download --no-deps katrain==1.20.0` downloads, or a folder; without it, the installed
    package is used. Their licence is written beside them. `get` does the same for the engine's own folder.
    """
    from gtp_engine.nn.onnx_export.convert import onnx_name
    from gtp_engine.nn.published_networks import convert_package, installed_katrain

    package = package or installed_katrain()
    if package is None:
        advice = "name a wheel: `pip download --no-deps katrain==1.20.0`"
        raise ModelError("KaTrain is not installed here", advice=advice)
    for conversion, licence in convert_package(package, lambda data, name: folder / onnx_name(name)):
        click.echo(licence)
        _show_conversion(conversion)
        offer_faster_copies([conversion.path], make=int8)


@models_command.command("info")
@click.argument("given", metavar="NET")
def info_command(given: str) -> None:
    """Describe a network: an ONNX file, a file of KataGo's, a folder with an ONNX file per purpose, or a name.

    The names are those that `models list` shows.
    """
    from gtp_engine.nn.katago_format.parser import load_network
    from gtp_engine.nn.named_networks import model_path
    from gtp_engine.nn.network_files import is_katago_file, onnx_files

    place = model_path(given)
    for file in onnx_files(place) if place.is_dir() else [place]:
        if place.is_dir():
            click.echo(f"{file.name}:")
        if is_katago_file(file):
            network = load_network(file)
            rows = {
                "name": network.name,
                "format": f"KataGo, model version {network.version}; `gtp-engine models import` converts it to ONNX",
                "parameters": f"{network.parameters:,}",
            }
        else:
            rows = _rows(info_of(read_properties(file)))
        _show_rows(rows | {"size": f"{file.stat().st_size:,} bytes"})


@models_command.command("list")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=PATH)
def list_command(folders: tuple[Path, ...]) -> None:
    """List the networks in folders.

    Without FOLDER, list those in the current folder and in its folder `models`, those that `get` fetched and those that
    ship with the engine. An 8-bit copy is listed with its original, and a folder with one network per purpose as one.
    """
    from gtp_engine.nn.named_networks import FOLDER_NAME, PLACES, find_user_folder, shipped_networks
    from gtp_engine.nn.quantized_copy import is_quantized_copy, quantized_path

    for folder in folders:
        if not folder.is_dir():
            advice = "`gtp-engine models info FILE` describes one network"
            raise ModelError(f"{shown_path(folder)} is not a folder", expected="a folder with networks", advice=advice)
    places = folders or (Path(), Path(FOLDER_NAME), *filter(None, [find_user_folder()]), *PLACES)
    found = [file for folder in places for file in folder.glob("*.onnx")]
    # Two of the folders may be one, by different paths: `models` is in a checkout.
    files = sorted({(file.parent.resolve(), file.name): file for file in reversed(found)}.values())
    for file in files:
        if is_quantized_copy(file):
            continue
        mark = _mark_of_default(file)
        try:
            info = info_of(read_properties(file))
            precision = f"{info.precision} and int8" if quantized_path(file).exists() else info.precision
            text = f"{info.name} ({info.kind}, {info.encoder}, {precision}, boards {info.sizes})"
            if mark and info.sizes.only is not None:
                mark = f"  (default on {info.sizes})"
        except ModelError as error:
            text = f"unusable: {error}"
        click.echo(f"{file}  {text}{mark}")
    if not folders:
        for folder in filter(Path.is_dir, shipped_networks().values()):  # each has a network for every purpose
            infos = [info_of(read_properties(file)) for file in sorted(folder.glob("*.onnx"))]
            kinds = ", ".join(dict.fromkeys(info.kind for info in infos))  # a network and its copy are one
            click.echo(f"{folder}  {folder.name} ({kinds}, boards {infos[0].sizes}){_mark_of_default(folder)}")
    if not files:
        click.echo("No networks found; see `gtp-engine models --help` for how to get one.")


def _mark_of_default(path: Path) -> str:
    """Return what is printed behind the network with which a plain `gtp-engine` plays, "" for others."""
    from gtp_engine.nn.named_networks import model_path

    try:
        default = model_path(None).resolve()
    except ModelError:  # it is missing
        return ""
    found = path.resolve()
    return "  (default)" if default == found or (found.is_file() and default == found.parent) else ""


def _show_conversion(conversion: "Conversion") -> None:
    written = f"{conversion.path} ({conversion.path.stat().st_size:,} bytes)"
    rows = _rows(conversion.info) | {"parameters": f"{conversion.parameters:,}", "written": written}
    _show_rows(rows)
    before, after = ("--human-model", ["--level", "5k"]) if conversion.info.needs_profile else ("--model", [])
    click.echo(f"\nPlay with it:  {join_command(['gtp-engine', before, str(conversion.path), *after])}")


def _rows(info: "NetworkInfo") -> dict[str, str]:
    """Return the description of a network: a text by heading, without those that are unknown."""
    rows = {
        "name": info.name,
        "kind": info.kind,
        "encoder": info.encoder + (f", model version {info.model_version}" if info.model_version else ""),
        "boards": str(info.sizes),
        "precision": info.precision,
        "origin": info.origin,
        "licence": info.license.splitlines()[0] if info.license else "",
        "source sha256": info.source_sha256,
    }
    return {heading: text for heading, text in rows.items() if text}


def _show_rows(rows: dict[str, str]) -> None:
    for heading, text in rows.items():
        click.echo(f"{heading:<14}{text}")
