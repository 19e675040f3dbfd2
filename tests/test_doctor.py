"""The doctor: everything is reported, and nothing that is broken stops the report."""

import json
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from documents import ROOT
from nn.tiny_networks import v7_network

from gtp_engine import __version__
from gtp_engine.base.machine import available_cores
from gtp_engine.cli import cli
from gtp_engine.compiled import kernel_cache
from gtp_engine.nn import named_networks, onnx_model
from gtp_engine.nn.named_networks import set_default, shipped_folder
from gtp_engine.nn.providers import Runtime
from gtp_engine.people.doctor import PACKAGES, RUNTIMES, examine, format_findings


def test_findings_are_complete_and_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "onnxruntime_directml-1.0.dist-info").mkdir()  # left behind by an uninstallation
    monkeypatch.syspath_prepend(tmp_path)
    findings = examine()
    assert json.loads(json.dumps(findings)) == findings
    *packages, runtime = findings["packages"]
    assert packages == list(PACKAGES) and runtime in RUNTIMES
    assert findings["kernels"]["directory"] and findings["network"]["reasons"]
    assert (findings["version"], findings["threads"]) == (__version__, available_cores())
    assert findings["network"]["precision"] in ("float32", "bfloat16", "int8")
    plays_with = findings["plays_with"]
    assert plays_with["is_builtin"] and (shipped_folder() / f"{plays_with['name']}.onnx").exists()
    assert "cpu" in findings["providers"] and findings["problems"] == []


def test_all_that_an_installation_brings_is_looked_for() -> None:
    """Without a package of the server the doctor found no problem."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.split(r"[<>=;]", entry)[0] for entry in entries}
    assert names - {"onnxruntime"} == {*PACKAGES} - {"llvmlite"}


def test_report_shows_the_findings() -> None:
    findings = examine()
    text = format_findings(findings)
    assert f"numba {metadata.version('numba')}" in text
    assert f"{findings['cores']['usable']} of {findings['cores']['online']} usable" in text
    assert findings["kernels"]["directory"] in text
    network = findings["network"]
    assert f"network        {network['provider']} in {network['precision']}. {network['reasons'][0]}" in text
    name = findings["plays_with"]["name"]
    assert f"plays with     {name} (which ships with the engine), on 9x9 tengen-9x9, unless set by --model" in text
    assert text.endswith("No problems found.")
    memory = {"cpu_quota": 1.5, "memory_mib": 8000, "free_memory_mib": 7000, "simd": ["avx2", "fma"]}
    devices = {"devices": [{"provider": "cuda", "number": 1, "name": "A card"}], "providers": ["cuda", "cpu"]}
    text = format_findings(findings | memory | devices | {"problems": ["one"]})
    text_of_memory = "\nmemory         8,000 MiB, 7,000 MiB of it free; a"
    for line in ("quota allows 1.5\n", text_of_memory, "\ninstructions   avx2 fma\n", "\nPROBLEM        one"):
        assert line in text
    assert "\nproviders      cuda, cpu\ngraphics cards cuda 1: A card\n" in text
    text = format_findings(findings | dict.fromkeys(("memory_mib", "free_memory_mib", "simd")) | {"providers": []})
    for line in ("memory         unknown; a", "instructions   unknown\n", "providers      no provider\n"):
        assert line in text


@pytest.mark.parametrize("compiled", [True, False])
def test_first_start_is_predicted(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    monkeypatch.setattr(kernel_cache, "is_cache_filled", lambda: compiled)
    kernels = examine()["kernels"]
    assert (kernels["directory"], kernels["compiled"]) == (str(kernel_cache.find_directory()), compiled)
    assert ("loads compiled code" in kernels["first_start"]) == compiled
    assert ("gtp-engine warmup" in kernels["first_start"]) != compiled


VERSION = metadata.version
PROBLEMS: dict[str, tuple[dict[str, object], str]] = {
    "no known provider": (
        {
            "gtp_engine.nn.onnx_model.find_spec": lambda name: None,
            "onnxruntime.get_available_providers": lambda: ["AzureExecutionProvider"],
        },
        "no provider is installed, so networks cannot be run: run `",
    ),
    "two of one import name": (
        {"importlib.metadata.version": lambda name: "1.24" if name in RUNTIMES[:2] else VERSION(name)},
        "onnxruntime and onnxruntime-openvino are installed together",
    ),
    "no runtime": ({"gtp_engine.people.doctor.RUNTIMES": ("no-such-package",)}, "onnxruntime is not installed"),
    "the cache had to move": (
        {
            "gtp_engine.compiled.kernel_cache.wanted_directory": lambda: Path("no", "such", "place"),
            "gtp_engine.compiled.kernel_cache.find_directory": lambda: Path("temporary"),
        },
        "TENGEN_CACHE_DIR",
    ),
}


@pytest.mark.parametrize(("patches", "message"), PROBLEMS.values(), ids=PROBLEMS)
def test_problems(monkeypatch: pytest.MonkeyPatch, patches: dict[str, object], message: str) -> None:
    for name, value in patches.items():
        monkeypatch.setattr(name, value)
    assert any(message in problem for problem in examine()["problems"])


def test_missing_and_broken_parts_are_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr("gtp_engine.nn.onnx_model.find_spec", lambda name: None)
    monkeypatch.setattr("gtp_engine.people.doctor.PACKAGES", ("numpy", "no-such-package"))
    findings = examine()
    found = (findings["packages"]["no-such-package"], findings["providers"], findings["network"]["provider"])
    assert found == (None, [], None)
    text = format_findings(findings)
    assert "no-such-package MISSING" in text and "network        cannot run." in text
    for problem in ("the package no-such-package is not installed", "onnxruntime cannot be used: ModuleNotFoundError"):
        assert f"PROBLEM        {problem}" in text


def test_a_provider_that_does_not_load_gives_way_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_openvino(runtime: Runtime) -> str | None:
        return "OpenVINO could not be started" if runtime.provider.name == "openvino" else None

    monkeypatch.setattr(onnx_model, "try_provider", fail_openvino)
    monkeypatch.setattr("gtp_engine.nn.onnx_model.installed_providers", lambda: ["openvino", "cpu"])
    network = (findings := examine())["network"]
    assert (network["precision"], network["reasons"][0]) == ("float32", "OpenVINO could not be started.")
    assert findings["problems"] == []
    monkeypatch.setattr(onnx_model, "try_provider", lambda runtime: None)
    monkeypatch.setattr("gtp_engine.nn.onnx_model.installed_providers", lambda: ["cuda", "cpu"])
    assert "CUDA uses a graphics or neural processor, if a trial at the start" in examine()["network"]["reasons"][0]
    monkeypatch.setattr(onnx_model, "try_provider", lambda runtime: "broken")
    assert any("none of the providers works: broken." in problem for problem in examine()["problems"])


def test_a_missing_network_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(named_networks, "PLACES", (tmp_path, tmp_path))
    findings = examine()
    assert findings["plays_with"]["name"] is None and "plays with     no network" in format_findings(findings)
    assert any("the network that ships with the engine is missing" in problem for problem in findings["problems"])


def test_a_default_of_the_user_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    file = v7_network(tmp_path / "strong.onnx", name="strong")
    set_default(str(file))
    text = format_findings(examine())
    assert f"plays with     strong (set by `gtp-engine models default`: {file}), unless set by --model" in text
    file.unlink()
    (problem,) = examine()["problems"]
    assert f"the network '{file}', which `gtp-engine models default` has set, is missing; set another" in problem


@pytest.mark.parametrize("damaged", ["strong", "nine"])
def test_damaged_weights_of_the_default_are_a_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damaged: str
) -> None:
    """The doctor found nothing wrong with a network that every start refused."""
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    v7_network(tmp_path / "strong.onnx", name="strong")
    v7_network(tmp_path / "nine.onnx", name="nine", sizes="9x9")
    set_default(str(tmp_path))
    assert examine()["problems"] == []
    file = tmp_path / f"{damaged}.onnx"
    model = onnx.load(file)
    for tensor in model.graph.initializer:
        if (array := onnx.numpy_helper.to_array(tensor)).dtype == np.float32:
            tensor.CopyFrom(onnx.numpy_helper.from_array(array * np.float32(np.nan), tensor.name))
    onnx.save(model, file)
    (problem,) = examine()["problems"]
    assert problem.startswith(f"network '{damaged}.onnx' returns NaN, infinity or absurd numbers; the file is damaged")


def test_a_damaged_default_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TENGEN_DATA_DIR", str(tmp_path))
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "default.txt").write_bytes(b"\xff\xfe\0")
    (problem,) = examine()["problems"]
    assert "default.txt' is damaged: expected the name of the default network" in problem


def test_command_prints_json_and_fails_on_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    assert (result.exit_code, json.loads(result.stdout)["problems"]) == (0, [])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert CliRunner().invoke(cli, ["doctor"]).exit_code == 1


def clean(monkeypatch: pytest.MonkeyPatch, directory: Path) -> str:
    """Return what `doctor --clean` prints where compiled code is in that folder."""
    monkeypatch.setattr("gtp_engine.people.doctor._kernels", lambda problems: {"directory": str(directory)})
    result = CliRunner().invoke(cli, ["doctor", "--clean"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_clean_removes_all_versions_and_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = tmp_path / "tengen"
    current, older = root / "kernels" / ("a" * 16), root / "kernels" / "0123456789abcdef"
    for folder in (current, older, root / kernel_cache.NETWORKS_FOLDER):
        folder.mkdir(parents=True)
        (folder / "kernel.nbc").write_bytes(bytes(2**20))
    assert clean(monkeypatch, current) == f"Removed the compiled code in {root / 'kernels'}, 3.0 MiB.\n"
    assert not root.exists()
    assert clean(monkeypatch, current) == f"There is no compiled code in {root / 'kernels'}.\n"
    current.mkdir(parents=True)
    (root / "kernels" / "notes").mkdir()
    (root / "networks").mkdir()
    clean(monkeypatch, current)
    assert sorted(path.name for path in root.rglob("*")) == ["kernels", "networks", "notes"]


def test_clean_leaves_other_programs_code_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """NUMBA_CACHE_DIR may be shared: only the folder of this version is surely ours."""
    (tmp_path / "numba" / ("a" * 16)).mkdir(parents=True)
    (tmp_path / "numba" / ("b" * 16)).mkdir()
    (tmp_path / kernel_cache.NETWORKS_FOLDER).mkdir()
    clean(monkeypatch, tmp_path / "numba" / ("a" * 16))
    assert (tmp_path / kernel_cache.NETWORKS_FOLDER).exists()
    assert [path.name for path in (tmp_path / "numba").iterdir()] == ["b" * 16]


def test_clean_reports_what_cannot_be_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("gtp_engine.people.doctor._kernels", lambda problems: {"directory": str(tmp_path / ("a" * 16))})
    monkeypatch.setattr("gtp_engine.people.doctor.shutil.rmtree", refuse)
    (tmp_path / ("a" * 16)).mkdir()
    result = CliRunner().invoke(cli, ["doctor", "--clean"])
    assert result.exit_code == 2
    assert result.stderr == f"Error: cannot remove {tmp_path / ('a' * 16)}: Permission denied\n"
