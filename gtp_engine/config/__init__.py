"""The configuration: every option declared once, as a field of a frozen dataclass.

    sections   the options themselves, section by section: add or change one there and nowhere else
    option     what an option is: type, default, unit, help, bounds, choices; parsing, checking, formatting
    config     the sections together; TOML files in and out; values set by name

Command line flags, the TOML file and the values GTP may change are made from `Config.options`.  Not here: what
the options do, and anything that needs the game (the engine parses `game.rules`).  Pure Python and quick to
import: the GTP server reads the configuration before it loads numpy.
"""

from gtp_engine.config.config import Config
from gtp_engine.config.option import Option
from gtp_engine.config.sections import GameConfig, GtpConfig, PlayConfig, SearchConfig, TimeConfig

__all__ = ["Config", "GameConfig", "GtpConfig", "Option", "PlayConfig", "SearchConfig", "TimeConfig"]
