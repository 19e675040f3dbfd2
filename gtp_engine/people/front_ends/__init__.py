"""Configurations of the programs and servers that start the engine: `gtp-engine setup`.

    front_end   what a program is asked for, the engine's command line, the file to change and how it is written
    programs    Sabaki, GoGui, KaTrain and Lizzie, whose settings get an entry; the clients of OGS, KGS and CGOS

Nothing here writes a file but `front_end.apply`.  The formats are those of the programs' public sources; the class of
each program names them.
"""

from gtp_engine.people.front_ends.front_end import Change, EngineCommand, FrontEnd, apply, difference, engine_program
from gtp_engine.people.front_ends.programs import Cgos, GoGui, KaTrain, Kgs, Lizzie, Ogs, Sabaki

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

__all__ = ["FRONT_ENDS", "Change", "EngineCommand", "FrontEnd", "apply", "difference", "engine_program"]
