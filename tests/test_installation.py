"""The advice to install what an extra needs, for each way in which this program can have been installed."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest

from gtp_engine.base.installation import Installation

REQUIRES = (
    "numpy>=2.0; python_version >= '3.11'",
    "mcp>=2.0; extra == 'mcp'",
    "matplotlib>=3.9; extra == 'plot'",
    "gtp-engine[plot]; extra == 'train'",
    "torch>=2.9; extra == 'train'",
)
PLAIN = Installation(Path("/venv"), "python", has_pip=True, source="/source", requires=REQUIRES)

WAYS = {
    "pip": ((), PLAIN, 'python -m pip install "mcp>=2.0"'),
    "pip, not activated": ((), replace(PLAIN, python="/a b/python"), '"/a b/python" -m pip install "mcp>=2.0"'),
    "uv": ((), replace(PLAIN, has_pip=False), 'uv pip install --python {prefix} "mcp>=2.0"'),
    "pipx": (("pipx_metadata.json",), PLAIN, 'pipx inject gtp-engine "mcp>=2.0"'),
    "uv tool": (("uv-receipt.toml",), PLAIN, 'uv tool install --with "mcp>=2.0" /source'),
    "uvx": (("../CACHEDIR.TAG",), PLAIN, 'uvx --with "mcp>=2.0" --from /source gtp-engine'),
    "not installed": ((), replace(PLAIN, requires=None), 'python -m pip install -e "/source[mcp]"'),
}
"""Files in the environment, what else is known of it, the command."""


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_installing_has_its_command(way: str, tmp_path: Path) -> None:
    files, installation, command = WAYS[way]
    prefix = tmp_path / "gtp-engine"
    prefix.mkdir()
    for name in files:
        (prefix / name).touch()
    assert replace(installation, prefix=prefix).command_for("mcp") == command.format(prefix=prefix)


def test_an_extra_brings_what_the_extras_in_it_require() -> None:
    assert PLAIN.command_for("train") == 'python -m pip install "matplotlib>=3.9" "torch>=2.9"'


@pytest.mark.parametrize("extra", ["gpu", "mcp", "plot", "ray", "train"])
def test_this_copy_knows_its_extras_and_asks_no_index_for_its_own_name(extra: str) -> None:
    try:
        entries = requires("gtp-engine") or ()
    except PackageNotFoundError:
        pytest.skip("needs the metadata of an installed copy: pip install -e .")
    command = Installation.of_this_process().command_for(extra)
    needed = [text for text in entries if f"'{extra}'" in text and "gtp-engine[" not in text]
    assert needed
    assert all(f'"{text.partition(";")[0].strip()}"' in command for text in needed)
    assert "gtp-engine[" not in command
