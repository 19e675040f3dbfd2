"""Whether the package that only the server needs is installed.  Does not import it."""

from importlib.util import find_spec

from gtp_engine.errors import ConfigError, problem


def check_aiohttp() -> None:
    """Raise ConfigError, with one sentence, if aiohttp is missing."""
    if find_spec("aiohttp") is None:
        raise ConfigError(problem("this command needs aiohttp", advice='install it: pip install "gtp-engine[web]"'))
