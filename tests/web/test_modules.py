"""The JavaScript of the pages: its types, and what needs no browser, which Node runs (`modules.test.js`)."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gtp_engine.people.web.web_process import FOLDER, SHARED

NODE, TSC = shutil.which("node"), shutil.which("tsc")
MODULES = (*FOLDER.glob("*.js"), *SHARED)
WORKER = "worker.js"
"""It runs in another world than the page, with other globals."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the modules of both pages side by side, as the server has them."""
    for file in MODULES:
        shutil.copy(file, tmp_path)
    return tmp_path


@pytest.mark.skipif(NODE is None, reason="no Node: apt-get install nodejs")
def test_modules(folder: Path) -> None:
    shutil.copy(Path(__file__).with_name("modules.test.js"), folder)
    (folder / "package.json").write_text('{"type": "module"}')
    found = subprocess.run([str(NODE), "--test"], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.skipif(TSC is None, reason="no TypeScript: npm install --global typescript")
@pytest.mark.parametrize("is_strict", [False, True], ids=["all", "those with @ts-check"])
def test_types(folder: Path, is_strict: bool) -> None:
    """Modules that begin with `@ts-check` declare all their types; the others are checked as far as types are known."""
    options = (
        "--noEmit --allowJs --target es2022 --module es2022 --moduleResolution bundler --lib es2024,dom,dom.iterable"
    )
    kind = ["--strict"] if is_strict else ["--checkJs", "--strict", "false"]
    files = sorted(file.name for file in MODULES if file.suffix == ".js" and file.name != WORKER)
    found = subprocess.run([str(TSC), *options.split(), *kind, *files], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
