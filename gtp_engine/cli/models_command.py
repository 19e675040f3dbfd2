"""The commands `gtp-engine models …`: import, describe and list network files."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gtp_engine.cli.parameters import out_option
from gtp_engine.cli.quantize_command import quantize_command

if TYPE_CHECKING:
    from gtp_engine.networks.onnx_export import Conversion
    from gtp_engine.nn.metadata import NetworkInfo

_KATAGO_ENDINGS = (".bin.gz", ".txt.gz", ".gz", ".bin", ".txt")

_GROUP_HELP = """Import, quantize and inspect networks.

The engine plays with ONNX files. `import` converts KataGo's networks to such files. KaTrain, a program on PyPI,
contains some of them, which `from-wheel` converts:

\b
pip download --no-deps katrain==1.20.0     (b10c384h6nbttflrs, a transformer, 38 MB: the best for a CPU)
pip download --no-deps katrain==1.17.1     (kata1-b18c384nbt, 98 MB: as strong, slower)
pip download --no-deps katrain==1.13.0     (g170e-b15c192, 36 MB: older and weaker)
gtp-engine models from-wheel katrain-1.20.0-py3-none-any.whl
gtp-engine --model b10c384h6nbttflrs.onnx

Others are at https://katagotraining.org.
"""


@click.group("models", help=_GROUP_HELP)
def models_command() -> None:  # noqa: D103
    pass


@models_command.command("import")
@click.argument("source", metavar="NET", type=click.Path(path_type=Path))
@out_option("the name of NET, ending in .onnx, in this folder")
def import_command(source: Path, target: Path | None) -> None:
    """Convert the KataGo network NET (.bin.gz or .txt.gz) to an ONNX file."""
    from gtp_engine.networks.onnx_export import convert_file

    _show_conversion(convert_file(source, target or Path(_onnx_name(source.name))))


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
def from_wheel_command(package: Path | None, folder: Path) -> None:
    """Import the KataGo networks from a KaTrain wheel, or from the installed KaTrain.

    WHEEL is the file that `pip download --no-deps katrain==1.20.0` downloads, or a folder; without it, the installed
    package is used. The licence of the networks is printed.
    """
    from gtp_engine.networks.katrain_wheels import installed_katrain, open_package
    from gtp_engine.networks.onnx_export import convert_bytes
    from gtp_engine.networks.onnx_export.convert import KATAGO_LICENSE

    with open_package(package or installed_katrain()) as opened:
        if opened.license:
            click.echo(f"Licence of {opened.name}:\n")
            click.echo(textwrap.indent(opened.license, "    ") + "\n")
        for file in opened.networks:
            origin, terms = f"{file.name} in {opened.name}", f"{KATAGO_LICENSE}\n\n{opened.license}".strip()
            target = folder / _onnx_name(file.name)
            _show_conversion(convert_bytes(file.read_bytes(), file.name, target, origin=origin, terms=terms))


models_command.add_command(quantize_command)


@models_command.command("info")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def info_command(file: Path) -> None:
    """Describe a network file: an ONNX file, or one of KataGo's."""
    from gtp_engine.networks.katago_format.parser import load_network
    from gtp_engine.nn.metadata import info_of, read_properties

    if file.name.endswith(_KATAGO_ENDINGS):
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

    Without FOLDER: in the current folder, in its folder `models`, and those that came with the engine.
    """
    from gtp_engine.errors import ModelError
    from gtp_engine.nn.metadata import info_of, read_properties

    files = sorted({file for folder in folders or _default_folders() for file in folder.glob("*.onnx")})
    for file in files:
        try:
            info = info_of(read_properties(file))
            text = f"{info.name} ({info.kind}, {info.encoder}, {info.precision}, boards {info.sizes})"
        except ModelError as error:
            text = f"unusable: {error}"
        click.echo(f"{file}  {text}")
    if not files:
        click.echo("No networks found; see `gtp-engine models --help` for how to get one.")


def _default_folders() -> list[Path]:
    package = Path(__file__).resolve().parents[1]
    return [Path(), Path("models"), package / "models", package.parent / "models"]


def _onnx_name(name: str) -> str:
    """Return the name of the ONNX file for a KataGo file."""
    for ending in _KATAGO_ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending) + ".onnx"
    return name + ".onnx"


def _show_conversion(conversion: "Conversion") -> None:
    written = f"{conversion.path} ({conversion.size:,} bytes)"
    rows = _rows(conversion.info) | {"parameters": f"{conversion.parameters:,}", "written": written}
    _show_rows(rows)


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
