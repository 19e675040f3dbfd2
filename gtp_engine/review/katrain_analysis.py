"""What was found in a position as KaTrain stores it in a record, in the property KT, so that it shows it at once.

KT has three values, each compressed and in base64: the ownership as 16-bit floats, the network's policy in the same way
(empty: none), and JSON with the moves and the root, winrates and leads Black's.  `GameNode.load_analysis` of KaTrain
1.20 reads them (https://github.com/sanderland/katrain, katrain/core/game_node.py).
"""

import base64
import gzip
import json
from typing import Final

import numpy as np

from gtp_engine.review.findings import Finding

VERSION: Final = "1.0"
"""The value of KTV in the root: the version of this format."""


def katrain_values(finding: Finding) -> list[str]:
    """Return the values of KT."""
    moves = {
        candidate.vertex: {
            "move": candidate.vertex,
            "order": order,
            "visits": candidate.visits,
            "winrate": candidate.winrate,
            "scoreLead": candidate.lead,
            "prior": candidate.prior,
            "pv": candidate.line,
        }
        for order, candidate in enumerate(finding.candidates)
    }
    root = {"visits": finding.visits, "winrate": finding.winrate, "scoreLead": finding.lead}
    main = json.dumps({"moves": moves, "root": root, "completed": True}, separators=(",", ":"))
    ownership = (np.array(finding.ownership) / 100).astype("<f2").tobytes()
    return [_packed(data) for data in (ownership, b"", main.encode("ascii"))]


def _packed(data: bytes) -> str:
    return base64.standard_b64encode(gzip.compress(data, mtime=0)).decode("ascii")
