"""Configurations of the programs and servers that start the engine: `gtp-engine setup`.

    front_end        what a module below says of its program
    engine_command   the command line that starts this engine, quoted as each program reads it
    changes          the files to change: their difference, backups, writing
    json_file        settings in JSON that keep everything else
    java_properties  values in Java's format of properties
    sabaki_settings, gogui_programs, katrain_settings, lizzie_settings    programs whose settings get an entry
    gtp2ogs_config, kgs_properties, cgos_client                           clients of servers, which get a file

Nothing here writes a file but `changes.apply`.  The formats are those of the programs' public sources; each module
names them.
"""

from gtp_engine.front_ends.cgos_client import Cgos
from gtp_engine.front_ends.changes import Change, apply, difference
from gtp_engine.front_ends.engine_command import EngineCommand, engine_program
from gtp_engine.front_ends.front_end import FrontEnd, Place
from gtp_engine.front_ends.gogui_programs import GoGui
from gtp_engine.front_ends.gtp2ogs_config import Ogs
from gtp_engine.front_ends.katrain_settings import KaTrain
from gtp_engine.front_ends.kgs_properties import Kgs
from gtp_engine.front_ends.lizzie_settings import Lizzie
from gtp_engine.front_ends.sabaki_settings import Sabaki

FRONT_ENDS: dict[str, FrontEnd] = {
    "sabaki": Sabaki(),
    "gogui": GoGui(),
    "katrain": KaTrain(),
    "lizzie": Lizzie(),
    "ogs": Ogs(),
    "kgs": Kgs(),
    "cgos": Cgos(),
}
"""Every program and server by its name on the command line."""

__all__ = [
    "FRONT_ENDS",
    "Change",
    "EngineCommand",
    "FrontEnd",
    "Place",
    "apply",
    "difference",
    "engine_program",
]
