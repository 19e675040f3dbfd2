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
        "Difference of utility that makes a worse move e times less likely than people play it: low values avoid "
        "mistakes, very high ones play as people do (humanSLChosenMovePiklLambda).",
        low=0,
        high=1e9,
    )

    human_root_weightless: float = option(
        0.0,
        "Share of playouts whose first move is selected by the human-like policy, to evaluate it without changing the "
        "evaluation of the position (humanSLRootExploreProbWeightless).",
        low=0,
        high=1,
    )
    human_root_weightful: float = option(
        0.0,
        "Share of playouts whose first move is selected by the human-like policy and counts like any other "
        "(humanSLRootExploreProbWeightful).",
        low=0,
        high=1,
    )
    human_own_weightless: float = option(
        0.0,
        "As human_root_weightless, for the player's own moves deeper in the tree, where the human-like network then "
        "evaluates every position too (humanSLPlaExploreProbWeightless).",
        low=0,
        high=1,
    )
    human_own_weightful: float = option(
        0.0,
        "As human_root_weightful, for the player's own moves deeper in the tree (humanSLPlaExploreProbWeightful).",
        low=0,
        high=1,
    )
    human_opponent_weightless: float = option(
        0.0,
        "As human_own_weightless, for the opponent's moves (humanSLOppExploreProbWeightless).",
        low=0,
        high=1,
    )
    human_opponent_weightful: float = option(
        0.0,
        "As human_own_weightful, for the opponent's moves (humanSLOppExploreProbWeightful).",
        low=0,
        high=1,
    )
    human_c_puct: float = option(
        1.0,
        "Exploration constant where the human-like policy selects (humanSLCpuctExploration).",
        low=0,
        high=1000,
    )
    human_c_puct_permanent: float = option(
        0.0,
        "Added to human_c_puct, times the square root of the visits, so that moves that people play stay explored "
        "even if they are bad (humanSLCpuctPermanent).",
        low=0,
        high=1000,
    )

    @property
    def explores(self) -> bool:
        """Whether the human-like policy selects moves of the search."""
        return self.explores_tree or self.human_root_weightless + self.human_root_weightful > 0.0

    @property
    def explores_tree(self) -> bool:
        """Whether it does so elsewhere than at the root."""
        own = self.human_own_weightless + self.human_own_weightful
        return own + self.human_opponent_weightless + self.human_opponent_weightful > 0.0

    @property
    def explores_unevenly(self) -> bool:
        """Whether it does so otherwise for the side to play at the root than for its opponent."""
        shares = {
            (self.human_root_weightless, self.human_root_weightful),
            (self.human_own_weightless, self.human_own_weightful),
            (self.human_opponent_weightless, self.human_opponent_weightful),
        }
        return len(shares) > 1

    @property
    def profile(self) -> HumanProfile:
        """The players to imitate, NO_PROFILE if there are none."""
        return parse_profile(self.human_profile)
