"""What pyproject.toml promises to pip, the recipe of the container, and the advice to install what an extra needs."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from unittest.mock import Mock

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from gtp_engine import __version__
from gtp_engine.base.installation import Installation, _source
from gtp_engine.nn.providers import PROVIDERS

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = [Requirement(text) for text in PROJECT["dependencies"]]
MACHINES = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"), ("win32", "AMD64")]


def required(python: str, system: str, machine: str) -> list[str]:
    """Return the names of the packages that are installed there."""
    place = {"python_version": python, "sys_platform": system, "platform_machine": machine}
    return sorted(each.name for each in REQUIREMENTS if each.marker is None or each.marker.evaluate(place))


@pytest.mark.parametrize(("system", "machine"), MACHINES)
@pytest.mark.parametrize("python", ["3.8", "3.9", "3.10"])
def test_on_an_older_python_pip_has_nothing_to_name_but_its_version(python: str, system: str, machine: str) -> None:
    assert python not in SpecifierSet(PROJECT["requires-python"])
    assert required(python, system, machine) == []


@pytest.mark.parametrize(("system", "machine"), MACHINES)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_nothing_conflicts_with_another_projects_onnxruntime(python: str, system: str, machine: str) -> None:
    """Packages that share the import name `onnxruntime` overwrite each other; any of them will do."""
    runtimes = [each for each in required(python, system, machine) if each.startswith(("onnxruntime", "openvino"))]
    assert runtimes == ["onnxruntime", "openvino"]
    assert len(required(python, system, machine)) == len(REQUIREMENTS)


@pytest.mark.parametrize(("system", "machine"), [*MACHINES, ("win32", "ARM64")])
def test_extras_for_graphics_cards_bring_plug_ins_and_no_other_runtime(system: str, machine: str) -> None:
    def brought(extra: str) -> set[str]:
        place, found = {"sys_platform": system, "platform_machine": machine}, set()
        for text in PROJECT["optional-dependencies"][extra]:
            entry = Requirement(text)
            if entry.marker is None or entry.marker.evaluate(place):
                found |= {name for inner in entry.extras for name in brought(inner)} or {entry.name}
        return found

    assert brought("gpu") == {"onnxruntime", "onnxruntime-ep-webgpu"}
    has_rtx = system == "win32" or (system, machine) == ("linux", "x86_64")
    assert brought("nvidia") - brought("gpu") == ({"onnxruntime-ep-nv-tensorrt-rtx"} if has_rtx else set())
    modules = {provider.plug_in.replace("_", "-") for provider in PROVIDERS.values() if provider.plug_in}
    assert modules == {"onnxruntime-ep-webgpu", "onnxruntime-ep-nv-tensorrt-rtx"}, "as they are imported"


def test_the_citation_names_this_version_and_its_day() -> None:
    root = Path(__file__).parent.parent
    (day,) = re.findall(
        rf"^## \[{re.escape(__version__)}\] - (.*)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\ndate-released: {day}\n" in citation


def test_ci_installs_pinned_versions_with_hashes() -> None:
    """Of every requirement of the extras that it uses, from no particular index and no path."""
    text = (Path(__file__).parent.parent / ".ci" / "requirements.txt").read_text(encoding="utf-8")
    text = re.sub("^#.*\n", "", text, flags=re.MULTILINE)
    pins = re.findall(r"^([a-z0-9._-]+)==([^ ;]+)[^\n]*\\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(pins) == len(re.findall("^[^ ]", text, re.MULTILINE))
    assert "/" not in text and "index" not in text
    versions, extras = dict(pins), PROJECT["optional-dependencies"]
    used = [each for name in ("plot", "mcp", "test", "docs", "dev") for each in extras[name]]
    for requirement in map(Requirement, [*PROJECT["dependencies"], *used]):
        if requirement.name != "gtp-engine":
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


@pytest.mark.parametrize("repository", ["", "https://code.example/tengen"])
def test_the_readme_of_the_package_has_no_link_to_a_file_beside_it(repository: str) -> None:
    """On package indexes there is no such file; without an address of the project the text of the link stays."""
    pytest.importorskip("hatchling")
    hook = runpy.run_path(str(ROOT / "scripts" / "package_readme.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = hook["readme_elsewhere"](text, repository)
    targets = re.findall(r"\]\(([^)\s]+)\)", shown)
    assert all(target.startswith("https://") for target in targets)
    assert (len(targets) > 20 and "![" in shown) if repository else (not targets and "Run a server" in shown)


PYTHONS = ("3.11", "3.14")
"""The oldest and the newest."""
PLATFORMS = {
    "x86_64-manylinux_2_28": PYTHONS,
    "aarch64-manylinux_2_35": PYTHONS,
    "aarch64-manylinux_2_31": ("3.11", "3.13"),  # older releases of OpenVINO
    "x86_64-pc-windows-msvc": PYTHONS,
    "aarch64-apple-darwin": PYTHONS,
}
"""By uv's names, and the Python versions for which there is everything."""
OLDEST_MACOS = "14.0"


@pytest.mark.long
def test_there_are_wheels_for_every_system_and_python() -> None:
    """Uv resolves for other systems than this one; pip reads markers as if packages were for this one."""
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if uv is None:
        pytest.skip("uv, which resolves dependencies for other systems, is missing (pip install uv)")
    extras = (text for name, texts in PROJECT["optional-dependencies"].items() for text in texts)
    requirements = [*PROJECT["dependencies"], *(text for text in extras if not text.startswith("gtp-engine["))]

    def resolve(target: tuple[str, str]) -> tuple[str, str]:
        options = ["--quiet", "--no-config", "--no-annotate", "--no-header", "--only-binary", ":all:"]
        place = ["--python", sys.executable, "--python-platform", target[0], "--python-version", target[1]]
        done = subprocess.run(
            [uv, "pip", "compile", *options, *place, "-"],
            input="\n".join(requirements),
            env=os.environ | {"MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS, "NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.stdout, done.stderr if done.returncode else ""

    targets = [(platform, python) for platform, pythons in PLATFORMS.items() for python in pythons]
    with ThreadPoolExecutor(len(targets)) as pool:
        found = dict(zip(targets, pool.map(resolve, targets), strict=True))
    errors = {target: error for target, (_, error) in found.items() if error}
    if errors and all("Failed to fetch" in error or "error sending request" in error for error in errors.values()):
        pytest.skip("the package index cannot be reached")
    assert errors == {}
    for target, (packages, _) in found.items():
        names = {line.partition("==")[0] for line in packages.splitlines()}
        assert {"numba", "onnxruntime", "openvino", "torch", "aiohttp"} <= names, target


# --- The container's recipe, and the container itself where something can build it


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


# --- The advice to install what an extra needs, for each way in which this program can have been installed


REQUIRES = (
    "numpy>=2.0; python_version >= '3.11'",
    "a>1; extra == 'mcp'",
    "b>1; extra == 'plot'",
    "gtp-engine[mcp,plot]; extra == 'train'",
    "a>1; extra == 'train'",
)
PLAIN = Installation(Path("/venv"), "python", has_pip=True, source="/source", requires=REQUIRES)

WAYS = {
    "pip": ((), PLAIN, 'python -m pip install "a>1" "b>1"'),
    "pip, not activated": ((), replace(PLAIN, python="/a b/python"), '"/a b/python" -m pip install "a>1" "b>1"'),
    "uv": ((), replace(PLAIN, has_pip=False), 'uv pip install --python {prefix} "a>1" "b>1"'),
    "pipx": (("pipx_metadata.json",), PLAIN, 'pipx inject gtp-engine "a>1" "b>1"'),
    "uv tool": (("uv-receipt.toml",), PLAIN, 'uv tool install --with "a>1" --with "b>1" /source'),
    "uvx": (("../CACHEDIR.TAG",), PLAIN, 'uvx --with "a>1" --with "b>1" --from /source gtp-engine'),
    "not installed": ((), replace(PLAIN, requires=None), 'python -m pip install -e "/source[train]"'),
}
"""Files in the environment, what else is known of it, the command for an extra with others of ours in it."""


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_installing_has_its_command(way: str, tmp_path: Path) -> None:
    files, installation, command = WAYS[way]
    prefix = tmp_path / "gtp-engine"
    prefix.mkdir()
    for name in files:
        (prefix / name).touch()
    assert replace(installation, prefix=prefix).command_for("train") == command.format(prefix=prefix)


def test_a_copy_knows_where_it_came_from() -> None:
    places = {"file:///a%20b/c": "/a b/c", "https://x/y.whl": "https://x/y.whl"}
    for url, place in places.items():
        assert _source(Mock(**{"read_text.return_value": json.dumps({"url": url})})) == place
    assert _source(Mock(**{"read_text.return_value": None})) is None


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
