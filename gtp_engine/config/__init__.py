"""The configuration: every option declared once, as a field of a frozen dataclass.

    sections   the options themselves, section by section: add or change one there and nowhere else
    puct       those of the search with a network
    option     what an option is: type, default, unit, help, bounds, choices; parsing, checking, formatting
    config     the sections together; TOML files in and out; values set by name

Command line flags, the TOML file and the values GTP may change are made from `Config.options`.  Not here: what
the options do, and anything that needs the game (the engine parses `game.rules`).  Pure Python and quick to
import: the GTP server reads the configuration before it loads numpy.
"""

from gtp_engine.config.config import Config
from gtp_engine.config.network import NetworkConfig
from gtp_engine.config.option import Option
from gtp_engine.config.puct import PuctConfig
from gtp_engine.config.sections import AnalysisConfig, GameConfig, GtpConfig, PlayConfig, SearchConfig, TimeConfig

__all__ = [
    "AnalysisConfig",
    "Config",
    "GameConfig",
    "GtpConfig",
    "NetworkConfig",
    "Option",
    "PlayConfig",
    "PuctConfig",
    "SearchConfig",
    "TimeConfig",
]
