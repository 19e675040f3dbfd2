"""What pyproject.toml promises to pip."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from gtp_engine import __version__
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


def test_the_citation_names_this_version() -> None:
    citation = (Path(__file__).parent.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation


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
