"""The commands `gtp-engine models …`: get, import, describe and list networks."""

import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gtp_engine.cli.get_command import default_command, get_command, offer_faster_copies
from gtp_engine.cli.parameters import int8_option, out_option
from gtp_engine.cli.quantize_command import quantize_command

if TYPE_CHECKING:
    from gtp_engine.networks.onnx_export import Conversion
    from gtp_engine.nn.metadata import NetworkInfo

_GROUP_HELP = """Get, import, quantize and inspect networks.

\b
gtp-engine models get best

gets the best published network for a processor. From then on `gtp-engine` plays with it. `get` alone lists all networks
on offer. There are more at https://katagotraining.org; `import` converts them to ONNX files for the engine:

\b
gtp-engine models import NET.bin.gz
gtp-engine --model NET.onnx
"""


@click.group("models", help=_GROUP_HELP)
def models_command() -> None:  # noqa: D103
    pass


@models_command.command("import")
@click.argument("source", metavar="NET", type=click.Path(path_type=Path))
@out_option("the name of NET, ending in .onnx, in this folder")
@int8_option
def import_command(source: Path, target: Path | None, int8: bool) -> None:
    """Convert the KataGo network NET (.bin.gz or .txt.gz) to an ONNX file."""
    from gtp_engine.networks.onnx_export import convert_file
    from gtp_engine.networks.onnx_export.convert import onnx_name

    conversion = convert_file(source, target or Path(onnx_name(source.name)))
    _show_conversion(conversion)
    offer_faster_copies([conversion.path], make=int8)


@models_command.command("from-wheel")
@click.argument("package", metavar="[WHEEL]", required=False, type=click.Path(path_type=Path))
@click.option(
    "-d",
    "--folder",
    default=".",
    show_default=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Where to write the ONNX files.",
)
@int8_option
def from_wheel_command(package: Path | None, folder: Path, int8: bool) -> None:
    """Convert the KataGo networks in a KaTrain wheel, or in the installed KaTrain, to ONNX files here.

    WHEEL is the file that `pip download --no-deps katrain==1.20.0` downloads, or a folder; without it, the installed
    package is used. The licence of the networks is printed. `get` does the same for the engine's own folder.
    """
    from gtp_engine.errors import ModelError, problem
    from gtp_engine.networks.onnx_export.convert import onnx_name
    from gtp_engine.networks.published_networks import convert_packed, installed_katrain, open_package, read_networks

    package = package or installed_katrain()
    if package is None:
        advice = "name a wheel: `pip download --no-deps katrain==1.20.0`"
        raise ModelError(problem("KaTrain is not installed here", advice=advice))
    with open_package(package) as opened:
        if opened.license:
            click.echo(f"Licence of {opened.name}:\n")
            click.echo(textwrap.indent(opened.license, "    ") + "\n")
        for data, name in read_networks(opened):
            conversion = convert_packed(data, name, opened, folder / onnx_name(name))
            _show_conversion(conversion)
            offer_faster_copies([conversion.path], make=int8)


for _command in (get_command, default_command, quantize_command):
    models_command.add_command(_command)


@models_command.command("info")
@click.argument("given", metavar="NET")
def info_command(given: str) -> None:
    """Describe a network: an ONNX file, a file of KataGo's, a folder with an ONNX file per purpose, or a name.

    The names are those that `models list` shows.
    """
    from gtp_engine.networks.katago_format.parser import load_network
    from gtp_engine.nn.metadata import info_of, read_properties
    from gtp_engine.nn.named_networks import model_path
    from gtp_engine.nn.network_files import is_katago_file, onnx_files

    file = model_path(given)
    if file.is_dir():
        for part in onnx_files(file):
            click.echo(f"{part.name}:")
            _show_rows(_rows(info_of(read_properties(part))) | {"size": f"{part.stat().st_size:,} bytes"})
        return
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
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
def list_command(folders: tuple[Path, ...]) -> None:
    """List the networks in folders.

    Without FOLDER, list those in the current folder and in its folder `models`, those that `get` has got and those that
    ship with the engine. An 8-bit copy is listed with its original, and a folder with one network per purpose as one.
    """
    from gtp_engine.errors import ModelError, problem, shown_path
    from gtp_engine.nn.metadata import info_of, read_properties
    from gtp_engine.nn.quantized_copy import is_quantized_copy, quantized_path

    for folder in folders:
        if not folder.is_dir():
            advice = "`gtp-engine models info FILE` describes one network"
            given = f"{shown_path(folder)} is no folder"
            raise ModelError(problem(given, expected="a folder with networks", advice=advice))
    found = [file for folder in folders or _default_folders() for file in folder.glob("*.onnx")]
    # Two of the folders may be one, by different paths: `models` is in a checkout.
    files = sorted({(file.parent.resolve(), file.name): file for file in reversed(found)}.values())
    for file in files:
        if is_quantized_copy(file):
            continue
        try:
            info = info_of(read_properties(file))
            precision = f"{info.precision} and int8" if quantized_path(file).exists() else info.precision
            text = f"{info.name} ({info.kind}, {info.encoder}, {precision}, boards {info.sizes})"
        except ModelError as error:
            text = f"unusable: {error}"
        click.echo(f"{file}  {text}")
    if not folders:
        for folder in _shipped_sets():
            infos = [info_of(read_properties(file)) for file in sorted(folder.glob("*.onnx"))]
            click.echo(f"{folder}  {folder.name} ({', '.join(info.kind for info in infos)}, boards {infos[0].sizes})")
    if not files:
        click.echo("No networks found; see `gtp-engine models --help` for how to get one.")


def _default_folders() -> list[Path]:
    from gtp_engine.nn.named_networks import find_user_folder
    from gtp_engine.nn.shipped import FOLDER_NAME, PLACES

    mine = find_user_folder()
    return [Path(), Path(FOLDER_NAME), *([] if mine is None else [mine]), *PLACES]


def _shipped_sets() -> list[Path]:
    """Return the folders of networks for one purpose each that came with the engine."""
    from gtp_engine.nn.shipped import shipped_networks

    return [path for path in shipped_networks().values() if path.is_dir()]


def _show_conversion(conversion: "Conversion") -> None:
    written = f"{conversion.path} ({conversion.size:,} bytes)"
    rows = _rows(conversion.info) | {"parameters": f"{conversion.parameters:,}", "written": written}
    _show_rows(rows)
    click.echo(f"\nPlay with it:  gtp-engine --model {shlex.quote(str(conversion.path))}")


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
