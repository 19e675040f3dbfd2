"""The container's recipe: what goes into the build, and the container itself where something can build it."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def builder() -> str | None:
    """Return a command that builds containers on this machine, None if there is none."""
    for name in ("docker", "podman"):
        path = shutil.which(name)
        if path and _answers(path):
            return path
    return None


def _answers(path: str) -> bool:
    """Return whether the program's service is running, which a stuck one does not say."""
    try:
        return subprocess.run([path, "info"], capture_output=True, timeout=30, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_the_build_gets_all_that_the_wheel_is_made_of() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = [line[1:] for line in lines if line.startswith("!")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [*wheel["packages"], *wheel["force-include"], "README.md", "pyproject.toml"]
    hatch = project["tool"]["hatch"]
    needed += [hook["path"] for kind in ("build", "metadata") for hook in hatch[kind]["hooks"].values()]
    assert set(needed) | set(project["project"]["license-files"]) == set(sent)
    assert all((ROOT / name).exists() for name in sent)


def test_the_container_installs_the_project_as_it_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "Dockerfile").read_text()
    assert f"{project['name'].replace('-', '_')}-*.whl" in recipe
    assert f'ENTRYPOINT ["{next(iter(project["scripts"]))}"]' in recipe


@pytest.mark.skipif(builder() is None, reason="no running docker or podman")
def test_the_container_speaks_gtp() -> None:
    command = builder()
    assert command is not None
    subprocess.run([command, "build", "--tag", "tengen-test", str(ROOT)], check=True, timeout=600)
    run = [command, "run", "--rm", "-i", "tengen-test"]
    answer = subprocess.run(run, input="name\nquit\n", capture_output=True, text=True, check=True, timeout=120)
    assert answer.stdout == "= Tengen\n\n= \n\n"
