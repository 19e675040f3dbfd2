"""The speed of this installation on this machine: `gtp-engine benchmark`.

Modules, one for each kind of measurement:

    speed_report        all of them; start reading here
    network_speed       evaluations and playouts with a network
    katago_speed        KataGo's own `katago benchmark`, to compare with
    without_network     rollouts, and playouts of a search that plays them
    startup             the start of a process
    report_text         the report for people
    benchmark_error     what is raised when a measurement fails

Compare only numbers of one machine and one run.
"""

from gtp_engine.benchmark.benchmark_error import BenchmarkError
from gtp_engine.benchmark.report_text import format_report
from gtp_engine.benchmark.speed_report import run_benchmark

__all__ = ["BenchmarkError", "format_report", "run_benchmark"]
