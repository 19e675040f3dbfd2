"""The JavaScript of the pages, run by Node: what needs no browser is tested in `modules.test.js`."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gtp_engine.people.web.web_process import FOLDER, SHARED

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="no Node: apt-get install nodejs")
def test_modules(tmp_path: Path) -> None:
    for file in (*FOLDER.glob("*.js"), *SHARED, Path(__file__).with_name("modules.test.js")):
        shutil.copy(file, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    found = subprocess.run([str(NODE), "--test"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
