"""What pyproject.toml promises to pip."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gtp_engine.nn.providers import PROVIDERS

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
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
