"""What pyproject.toml promises to pip."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

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
