"""The configuration: every option declared once, as a field of a frozen dataclass.

    option     what an option is: type, default, unit, help, bounds, choices; parsing, checking, formatting
    sections   the options, section by section: add or change one here and nowhere else
    puct       the options of the search with a network
    human      the options of human-like play, and the players it imitates
    config     `Config`, all sections together: TOML files in and out, values set by name
    katago     KataGo's names of settings, and how it writes their values

Command line flags, the TOML file and the parameters that GTP may change are generated from `Config.options`.  Not here:
what the options do, and anything that needs the game (the engine parses `game.rules`).
"""

from gtp_engine.config.config import Config
from gtp_engine.config.human import HumanConfig
from gtp_engine.config.puct import PuctConfig
from gtp_engine.config.sections import GameConfig, NetworkConfig, SearchConfig, TimeConfig

__all__ = ["Config", "GameConfig", "HumanConfig", "NetworkConfig", "PuctConfig", "SearchConfig", "TimeConfig"]
