"""Try faults of commands and print what was found, as lines of JSON: `python -m faults.run_faults GROUP,… [MOST]`.

With `SIGTERM:NUMBER` in place of MOST each command gets a signal at so many random moments.
"""

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

from faults import miniatures
from faults.fault_runs import try_faults, try_signals
from faults.faulty_writes import Writes


def warm_up(group: str) -> None:
    """Import and load before the forks what the commands of a group need, without starting threads."""
    os.environ.setdefault("MPLCONFIGDIR", os.path.expanduser("~/.cache/matplotlib"))  # its fonts are no writes of ours
    os.environ.setdefault("POCL_CACHE_DIR", tempfile.gettempdir())  # a driver that OpenVINO asks for its cards
    for names in miniatures.MODULES[: [*miniatures.GROUPS].index(group) + 1]:
        for name in names:
            folders = getattr(import_module(name), "__path__", ()) if name.startswith("gtp_engine") else ()
            for each in walk_packages(folders, f"{name}."):
                if each.name not in miniatures.NOT_LOADED:
                    import_module(each.name)
    from gtp_engine.compiled.kernel_cache import cache_directory, cache_root

    Writes.ignored = os.path.realpath(cache_root())
    os.environ["NUMBA_CACHE_DIR"] = str(cache_directory().parent)  # not in the folders of the commands
    os.environ["TENGEN_CACHE_DIR"] = str(cache_root())
    if group != "PLAIN":
        from warm_cache import compile_once

        from gtp_engine.engine.kernels import load_noted

        for kind in ("network", "rollouts"):
            compile_once(kind)
            load_noted(kind)
    miniatures.network_bytes()  # which each fork would make again
    miniatures.katago_bytes()
    gc.collect()
    gc.freeze()  # else the forks copy what the collector looks at


def results(groups: str, most: str, *names: str) -> Iterator[dict[str, Any]]:
    """Yield what was found about each command of the groups, tried by a process that has loaded what they need."""
    folder = Path(__file__).parents[1]
    path = os.pathsep.join([str(folder), str(folder.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "faults.run_faults", groups, most, *names]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield from (json.loads(line) for line in process.stdout or () if line.startswith("{"))
    if process.returncode:
        sys.exit(f"{groups}: stopped before all commands were tried")


def main() -> None:
    wanted = (sys.argv[2:3] or ["all"])[0]
    moments = int(wanted.partition(":")[2] or 0)
    most = None if wanted == "all" or moments else int(wanted)
    for group in sys.argv[1].split(","):
        warm_up(group)
        cases = getattr(miniatures, group)
        for name in sys.argv[3:] or [name for name, case in cases.items() if most != 0 or not case.is_slow]:
            folder = tempfile.mkdtemp()  # not a TemporaryDirectory: the forks would remove it at their end
            try:
                if moments:
                    found = try_signals(name, cases[name], Path(folder), moments=moments)
                else:
                    found = try_faults(name, cases[name], Path(folder), most=most)
                print(json.dumps(vars(found)), flush=True)
            finally:
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
