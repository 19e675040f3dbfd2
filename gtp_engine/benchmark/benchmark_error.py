"""The exception of the measurements."""

from gtp_engine.errors import TengenError


class BenchmarkError(TengenError):
    """A measurement failed; the message says which and why."""
