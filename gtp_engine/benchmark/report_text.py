"""The measurements as lines of text."""

from collections.abc import Mapping
from typing import Any

from gtp_engine.errors import counted


def format_report(report: Mapping[str, Any]) -> str:
    """Return the measurements as lines of text."""
    machine = report["machine"]
    lines = [
        f"Tengen {report['version']} on {machine['processor']}, {counted(machine['cores']['usable'], 'core')}",
        *_rows("rollouts/s, one core", report["rollouts_per_s"]),
        *_rows("playouts/s, all cores", report["playouts_per_s"]),
        f"process start to name           {report['startup_s']['name']:8.2f} s",
        f"process start to first genmove  {report['startup_s']['first_genmove']:8.2f} s",
    ]
    if "network" in report:
        lines += _network_lines(report["network"])
    if "katago" in report:
        lines += _comparison(report["network"], report["katago"])
    return "\n".join(lines)


def _comparison(network: Mapping[str, Any], katago: Mapping[str, Any]) -> list[str]:
    """Return the best speeds of both engines, and how many times as fast this one is."""
    most = max(max(row.values()) for row in network["evaluations_per_s"].values())
    ours = (max(network["playouts_per_s"].values()), most)
    theirs = (katago["playouts_per_s"], katago["evaluations_per_s"])
    katago_label = f"KataGo on {katago['board']}, {_threads_text(str(katago['threads']))}"
    return [
        f"{'best of each':<28}{'playouts/s':>14}{'evaluations/s':>15}",
        *(
            f"{label:<28}{playouts:>14.1f}{evaluations:>15.1f}"
            for label, (playouts, evaluations) in ((f"Tengen on {network['board']}", ours), (katago_label, theirs))
        ),
        f"{'ratio':<28}{ours[0] / theirs[0]:>14.2f}{ours[1] / theirs[1]:>15.2f}",
    ]


def _network_lines(network: Mapping[str, Any]) -> list[str]:
    """Return the measurements of a network as lines of text: a column for each batch size."""
    evaluations, playouts = network["evaluations_per_s"], network["playouts_per_s"]
    rows = {"batch size": {batch: batch for batch in playouts}}
    rows |= {f"evaluations/s, {_threads_text(count)}": row for count, row in evaluations.items()}
    rows["playouts/s"] = playouts
    table = [
        f"{label:<28}" + "".join(f"{value if isinstance(value, str) else f'{value:.1f}':>9}" for value in row.values())
        for label, row in rows.items()
    ]
    best = network["recommended"]
    return [
        f"network {network['name']} on {network['board']}: {network['runtime']}",
        *table,
        f"best here: --network-threads {best['network_threads']} --eval-batch {best['eval_batch']}",
    ]


def _threads_text(count: str) -> str:
    return "all threads" if count == "0" else f"{count} thread{'s' if count != '1' else ''}"


def _rows(label: str, table: Mapping[str, Mapping[str, float]]) -> list[str]:
    return [
        f"{label:<22} {size:>6} {kind:<9} {value:>9,.0f}" for size, row in table.items() for kind, value in row.items()
    ]
