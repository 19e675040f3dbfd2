"""The options of human-like play, which needs a network that imitates people; declared as in `sections`.

Defaults are KataGo 1.17's, with KataGo's name of the setting in parentheses.
"""

from dataclasses import dataclass

from gtp_engine.config.human_profile import HumanProfile, parse_profile
from gtp_engine.config.option import Section, option


@dataclass(frozen=True)
class HumanConfig(Section, name="human"):
    """Whom a human-like network imitates, and what its policy decides."""

    human_profile: str = option(
        "",
        "Players to imitate: rank_5k, rank_BLACK_WHITE, preaz_5k (openings before AlphaZero) or proyear_1950 "
        "(professionals of that year); empty: none (humanSLProfile).",
        normalize=lambda text: str(parse_profile(text)),
    )
    human_move_share: float = option(
        0.0,
        "Share of the human-like policy in the choice of a move, beside the search's (humanSLChosenMoveProp).",
        low=0,
        high=1,
    )
    human_ignore_pass: bool = option(False, "Leave to the search whether to pass (humanSLChosenMoveIgnorePass).")
    human_pikl_lambda: float = option(
        1e9,
        "Make a move e times less likely than people play it for each time that its utility is this much below the "
        "best move's; very large: as likely as people play it (humanSLChosenMovePiklLambda).",
        low=0,
        high=1e9,
    )

    @property
    def profile(self) -> HumanProfile:
        """The players to imitate, NO_PROFILE if there are none."""
        return parse_profile(self.human_profile)
