"""A report about this machine and installation, and what the first start will do: `gtp-engine doctor`.

It collects facts and describes them; it changes nothing and decides nothing.  What cannot be examined is reported as
unknown, what is broken as a problem, so that the report itself never fails.  `remove_compiled_code` is the exception:
it removes what would outlive an uninstallation.
"""

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gtp_engine import __version__
from gtp_engine.base.errors import TengenError
from gtp_engine.base.installation import command_with
from gtp_engine.base.machine import available_cores, describe_machine
from gtp_engine.compiled import kernel_cache
from gtp_engine.config import SearchConfig
from gtp_engine.evaluation.memory_budget import tree_memory

if TYPE_CHECKING:
    from gtp_engine.nn.network_files import NetworkFiles

PACKAGES: Final = (
    *("numpy", "numba", "llvmlite", "sgfmill", "onnx", *(["openvino"] if platform.machine() != "ARM64" else [])),
    *("click", "filelock", "rich", "aiohttp", "prometheus-client", "segno"),
)
"""Packages that the engine needs on this machine, besides one of `RUNTIMES`: those of pyproject.toml, and llvmlite."""

RUNTIMES: Final = ("onnxruntime", "onnxruntime-openvino", "onnxruntime-gpu", "onnxruntime-directml")
"""Packages that are imported as `onnxruntime`; exactly one may be installed."""

COMPILE_SECONDS: Final = 40
"""Seconds the first start compiles, rounded up from 28 measured on a server core; for the report, not a limit."""

Findings = dict[str, Any]
"""The facts, ready for JSON.  Keys are stable; see `examine`."""


def examine() -> Findings:
    """Return the facts about this machine and installation.

    Keys: version, python, those of `describe_machine`, packages (version or None), kernels (directory, compiled,
    first_start), threads (of a search by default), providers (those installed), devices (graphics cards and the like
    that they know: provider, number, name), missing (what plug-ins lack, in sentences), plays_with (the default
    network: name, None if it is missing, file or folder, is_builtin, for_boards (by size, the names of those that
    play in its place), and where its levels were measured; all None if it cannot be used), network (how that is run:
    provider and precision, both None if no provider works, and reasons in sentences), problems (sentences).
    """
    problems: list[str] = []
    providers, files = _providers(problems), _default_network(problems)
    devices, missing = _devices(problems)
    return {
        "version": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()}, {sys.executable})",
        **describe_machine(),
        "packages": _packages(problems),
        "kernels": _kernels(problems),
        "threads": available_cores(),
        "tree_memory_mib": tree_memory(SearchConfig()),
        "providers": providers,
        "devices": devices,
        "missing": missing,
        "plays_with": _plays_with(files, problems),
        "network": _network(files, providers, problems),
        "problems": problems,
    }


def format_findings(findings: Mapping[str, Any]) -> str:
    """Return the findings as lines of text."""
    cores, kernels = findings["cores"], findings["kernels"]
    usable = f"{cores['usable']} of {cores['online']} usable"
    if findings["cpu_quota"] is not None:
        usable += f", a container's quota allows {findings['cpu_quota']:g}"
    memory, free = findings["memory_mib"], findings["free_memory_mib"]
    memory_text = "unknown" if memory is None else f"{memory:,} MiB"
    memory_text += "" if free is None else f", {free:,} MiB of it free"
    simd, network, default = findings["simd"], findings["network"], findings["plays_with"]
    runs = f"{network['provider']} in {network['precision']}." if network["provider"] else "cannot run."
    chosen = f"set by `gtp-engine models default`: {default['file']}"
    how = "which ships with the engine" if default["is_builtin"] else chosen
    others = "".join(f", on {board} {name}" for board, name in (default["for_boards"] or {}).items())
    lines = {
        "Tengen": findings["version"],
        "Python": findings["python"],
        "system": findings["platform"],
        "processor": findings["processor"],
        "cores": usable,
        "threads": f"{findings['threads']} for the network (--network-threads) or rollouts (--threads)",
        "memory": f"{memory_text}; a search tree takes up to {findings['tree_memory_mib']:,} MiB, unless set by "
        "--max-memory",
        "instructions": "unknown" if simd is None else " ".join(simd) or "no useful vector instructions",
        "packages": ", ".join(f"{name} {version or 'MISSING'}" for name, version in findings["packages"].items()),
        "providers": ", ".join(findings["providers"]) or "no provider",
        "graphics cards": ", ".join("{provider} {number}: {name}".format(**each) for each in findings["devices"])
        or "none found",
        **({"missing": " ".join(findings["missing"])} if findings["missing"] else {}),
        "network": " ".join([runs, *network["reasons"]]),
        "plays with": f"{default['name']} ({how}){others}, unless set by --model" if default["name"] else "no network",
        "levels": default["levels"] or "none without a network",
        "compiled code": kernels["directory"] or "unknown",
        "first start": kernels["first_start"],
    }
    text = [f"{label:<14} {value}" for label, value in lines.items()]
    problems = [f"PROBLEM        {problem}" for problem in findings["problems"]]
    return "\n".join([*text, *(problems or ["No problems found."])])


def _packages(problems: list[str]) -> dict[str, str | None]:
    """Return the version of each package; those of `RUNTIMES` only where they are installed."""
    versions: dict[str, str | None] = dict.fromkeys(PACKAGES)
    for name in (*PACKAGES, *RUNTIMES):
        with suppress(metadata.PackageNotFoundError):
            if version := metadata.version(name):  # None of a folder that an uninstallation left behind
                versions[name] = version
    missing = [name for name, version in versions.items() if version is None]
    problems += [f"the package {name} is not installed: run `{command_with(name)}`" for name in missing]
    runtimes = [name for name in RUNTIMES if name in versions]
    if not runtimes:
        problems.append(
            "onnxruntime is not installed, so networks can neither run on graphics cards nor be compared: run "
            f"`{command_with('onnxruntime')}`"
        )
    if len(runtimes) > 1:
        problems.append(
            f"{' and '.join(runtimes)} are installed together and overwrite each other's files: keep one, run "
            f"`python -m pip uninstall {' '.join(runtimes)}`, then for example `{command_with(runtimes[0])}`"
        )
    return versions


def _kernels(problems: list[str]) -> dict[str, Any]:
    """Return where compiled code is cached, whether it exists, and what the next start will do."""
    try:
        import numba  # noqa: F401
    except Exception as error:  # a broken numba fails in many ways, and this command exists to report it
        problems.append(f"numba cannot be used: {type(error).__name__}: {error}")
        return {"directory": None, "compiled": False, "first_start": "fails, see below"}
    directory, wanted = kernel_cache.find_directory(), kernel_cache.wanted_directory()
    if directory != wanted:
        reason = "there is no home directory" if wanted is None else f"{wanted} cannot be written"
        problems.append(
            f"{reason}, so compiled code goes to a temporary folder: set TENGEN_CACHE_DIR to a permanent one"
        )
    compiled = kernel_cache.is_cache_filled()
    first_start = (
        "loads compiled code in a second or two"
        if compiled
        else f"compiles for about {COMPILE_SECONDS} seconds, once; GTP commands are answered meanwhile. "
        "`gtp-engine warmup`, with the options of the later start, does it now"
    )
    return {"directory": str(directory), "compiled": compiled, "first_start": first_start}


def _providers(problems: list[str]) -> Sequence[str]:
    """Return the names of the providers that are installed."""
    from gtp_engine.nn.onnx_model import installed_providers
    from gtp_engine.nn.onnxruntime_session import available_providers

    try:
        available_providers()
    except Exception as error:  # a missing system library is an ImportError, a broken wheel can raise anything
        problems.append(f"onnxruntime cannot be used: {type(error).__name__}: {error}")
    found = installed_providers()
    if not found:
        problems.append(f"no provider is installed, so networks cannot be run: run `{command_with('openvino')}`")
    return found


def _devices(problems: list[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the devices beside the processor, and why plug-ins cannot be used."""
    from gtp_engine.nn.onnx_model import listed_devices
    from gtp_engine.nn.onnxruntime_session import plug_in_troubles

    try:
        devices = [dict(zip(("provider", "number", "name"), found, strict=True)) for found in listed_devices()]
        return devices, [f"{trouble}." for trouble in plug_in_troubles().values()]
    except Exception as error:  # drivers may raise anything
        problems.append(f"the devices cannot be listed: {type(error).__name__}: {error}")
        return [], []


def _network(files: "NetworkFiles | None", providers: Sequence[str], problems: list[str]) -> dict[str, Any]:
    """Return which provider runs the default network, and why; each is tried in order."""
    reasons: list[str] = []
    if providers:
        from gtp_engine.nn.network_files import quantization_hint
        from gtp_engine.nn.onnx_model import runtimes_here, try_provider

        try:
            if files is None:
                runtimes = runtimes_here("auto", "auto", ["float32"])
            else:
                runtimes = runtimes_here("auto", "auto", files.paths, files.quality)
        except TengenError as error:  # none that the engine knows
            problems.append(str(error))
            runtimes = ()
        for runtime in runtimes:
            failure = try_provider(runtime)
            if failure is None:
                problems += _damage(files, runtime.precision) if files else []
                hint = quantization_hint(files, runtime.provider, describe_machine()["simd"]) if files else ""
                found = {"provider": runtime.provider.title, "precision": runtime.precision}
                return {**found, "reasons": [*reasons, *runtime.reasons, *([hint] if hint else [])]}
            reasons.append(f"{failure}.")
        if reasons:
            problems.append("none of the providers works: " + " ".join(reasons))
    return {"provider": None, "precision": None, "reasons": reasons}


def _damage(files: "NetworkFiles", precision: str) -> list[str]:
    """Return what is wrong with the weights of the default network, and those of networks for one board beside it.

    That is what one evaluation of each shows.  It is run by ONNX Runtime, which writes no compiled network to the disk.
    """
    from gtp_engine.nn.loading import check_evaluation
    from gtp_engine.nn.onnx_model import OnnxModel
    from gtp_engine.nn.providers import PROVIDERS, Runtime

    found = []
    for each in files.networks:
        try:
            with closing(OnnxModel(each.path(precision), Runtime(PROVIDERS["cpu"], "float32"), batch=1)) as model:
                check_evaluation(model, model.info.sizes.usual, model.path)
        except TengenError as error:
            found.append(str(error))
    return found


def _default_network(problems: list[str]) -> "NetworkFiles | None":
    """Return the files of the network that is played with by default; None if they are missing or cannot be used."""
    from gtp_engine.nn.named_networks import model_path
    from gtp_engine.nn.network_files import find_networks

    try:
        files = find_networks(model_path(None))["policy"]
    except TengenError as error:
        problems.append(str(error))
        return None
    problems += [each.remark for each in files.networks if each.remark]
    return files


def _plays_with(files: "NetworkFiles | None", problems: list[str]) -> dict[str, Any]:
    """Return name and file of the default network, where levels were measured, and whether it is the one that ships."""
    from gtp_engine.engine.level_table import HUMAN_MODEL, read_table
    from gtp_engine.nn.named_networks import BUILTIN, default_name

    if files is None:
        return {"name": None, "file": None, "for_boards": None, "levels": None, "is_builtin": None}
    levels = None
    try:
        levels = read_table(None, HUMAN_MODEL).describe()
    except TengenError as error:
        problems.append(str(error))
    return {
        "name": files.info.name,
        "file": str(files.path("auto")),
        "for_boards": {f"{w}x{h}": other.info.name for (w, h), other in files.for_boards.items()},
        "levels": levels,
        "is_builtin": default_name() == BUILTIN,
    }


def remove_compiled_code() -> str:
    """Remove the compiled code of all versions of the engine and of networks; return what was done.

    Folders that are empty then are removed, too.

    A folder that NUMBA_CACHE_DIR names may hold other programs' code: there only this version's is removed.  Raises
    TengenError for code that cannot be found or removed.
    """
    problems: list[str] = []
    directory = _kernels(problems)["directory"]
    if directory is None:
        raise TengenError("; ".join(problems))
    current = Path(directory)
    is_ours = current.parent.name == kernel_cache.CACHES_FOLDER
    found = current.parent.glob("*") if is_ours else [current]
    versions = [path for path in found if path.is_dir() and kernel_cache.CACHE_NAME.fullmatch(path.name)]
    if is_ours and (networks := current.parents[1] / kernel_cache.NETWORKS_FOLDER).is_dir():
        versions.append(networks)
    if not versions:
        return f"There is no compiled code in {current.parent}."
    size = sum(file.stat().st_size for path in versions for file in path.rglob("*") if file.is_file())
    try:
        for path in versions:
            shutil.rmtree(path)
    except OSError as error:
        raise TengenError(f"cannot remove {error.filename}: {error.strerror}") from error
    for folder in (current.parent, current.parents[1]) if is_ours else ():
        with suppress(OSError):  # it holds something else
            folder.rmdir()
    return f"Removed the compiled code in {current.parent if is_ours else current}, {size / 2**20:.1f} MiB."
