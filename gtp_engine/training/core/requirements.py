"""Whether the packages that only training needs are installed.  Imports none of them."""

from importlib.util import find_spec

from gtp_engine.errors import ConfigError, problem


def check_torch() -> None:
    """Raise ConfigError, with one sentence, if PyTorch is missing."""
    if find_spec("torch") is None:
        raise ConfigError(problem("training needs PyTorch", advice='install it: pip install "gtp-engine[train]"'))
