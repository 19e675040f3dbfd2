"""The options of the search with a network (`search.puct`); declared as in `sections`.

Defaults are those KataGo 1.17 plays with over GTP (`cpp/program/setup.cpp`, SETUP_FOR_GTP), its name of the setting
beside each.  They were tuned there in some hundred thousand games between networks like those played here.  What has
another source says so.
"""

from dataclasses import dataclass

from gtp_engine.config.option import Section, option


@dataclass(frozen=True)
class PuctConfig(Section, name="puct"):
    """How the engine searches with a network."""

    # --- batches; ours: KataGo searches with threads instead ---
    eval_batch: int = option(
        0,
        "Positions the network judges at once; 0: as many as suit this machine.  More are quicker in all, but each is "
        "chosen knowing less.",
        unit="positions",
        low=0,
        high=4096,
    )
    pipeline: int = option(
        0,
        "Batches on the way at once: with 2 the next is selected while the network judges the last, without knowing "
        "its answers.  0: 2 where the network takes large batches (a GPU), else 1, as selecting takes hardly any "
        "time.",
        unit="batches",
        low=0,
        high=4,
    )
    # An eighth: a search of 8 visits is one at a time, one of 100 by a dozen, as with a dozen threads.
    in_flight_share: float = option(
        0.125,
        "Most positions waiting for the network, as a share of the root's visits, so that small searches lose nothing "
        "by batches.",
        low=0,
        high=1,
    )
    virtual_weight: float = option(
        1.0,
        "Lost visits that a playout on its way stands for (numVirtualLossesPerThread).",
        unit="visits",
        low=0,
        high=1000,
    )
    # --- exploration ---
    c_puct: float = option(
        1.0, "Exploration: weight of the prior against what was found (cpuctExploration).", low=0, high=10
    )
    c_puct_log: float = option(0.45, "Growth of it with the logarithm of visits (cpuctExplorationLog).", low=0, high=10)
    c_puct_base: float = option(
        500.0, "Visits from which that growth counts (cpuctExplorationBase).", unit="visits", low=10, high=1e5
    )
    utility_stdev_prior: float = option(
        0.4,
        "Standard deviation of the utility below a position, before anything is known (cpuctUtilityStdevPrior).",
        low=1e-8,
        high=10,
    )
    utility_stdev_prior_weight: float = option(
        2.0,
        "Visits that assumption is worth (cpuctUtilityStdevPriorWeight).",
        unit="visits",
        low=0,
        high=100,
    )
    utility_stdev_scale: float = option(
        0.85,
        "How far exploration follows that deviation, 0: not at all, 1: in proportion (cpuctUtilityStdevScale).",
        low=0,
        high=1,
    )
    fpu_reduction: float = option(
        0.2,
        "Utility that a move not tried yet is taken to be worse than its position, once all likely ones were tried "
        "(fpuReductionMax).",
        low=0,
        high=2,
    )
    root_fpu_reduction: float = option(0.1, "The same at the root (rootFpuReductionMax).", low=0, high=2)
    fpu_parent_power: float = option(
        2.0,
        "That position is judged by the network's word, and by what was found below it with the share of the prior "
        "tried so far, to this power; 0: only by what was found (fpuParentWeightByVisitedPolicyPow).",
        low=0,
        high=5,
    )
    # --- utility ---
    static_score_weight: float = option(
        0.1, "Utility of the score, as seen from 0 (staticScoreUtilityFactor).", low=0, high=1
    )
    dynamic_score_weight: float = option(
        0.3, "Utility of the score, as seen from what the root expects (dynamicScoreUtilityFactor).", low=0, high=1
    )
    dynamic_score_zero_weight: float = option(
        0.2, "How far that expectation is drawn to 0 (dynamicScoreCenterZeroWeight).", low=0, high=1
    )
    dynamic_score_scale: float = option(
        0.75,
        "Points, per point of the board's side, by which a score has to change to count (dynamicScoreCenterScale).",
        low=0.2,
        high=5,
    )
    # --- averages ---
    value_weight_exponent: float = option(
        0.25,
        "How much less moves count in a position's average that look worse than others; 0: not (valueWeightExponent).",
        low=0,
        high=1,
    )
    noise_pruning_scale: float = option(
        0.15,
        "Utility by which a move must be worse than likelier ones for most visits beyond its share to be left out of "
        "the average; 0: none are (noisePruneUtilityScale).",
        low=0,
        high=10,
    )
    uncertainty: float = option(
        0.25,
        "Utility of error at which a judgement counts as one visit; surer ones count more, where the network tells; "
        "0: all count the same (uncertaintyCoeff).",
        low=0,
        high=1,
    )
    uncertainty_exponent: float = option(1.0, "Power of the error in that weight (uncertaintyExponent).", low=0, high=2)
    uncertainty_max_weight: float = option(
        8.0, "Most visits that one judgement counts for (uncertaintyMaxWeight).", unit="visits", low=1, high=100
    )
    # --- what the network is asked ---
    policy_optimism: float = option(
        1.0,
        "Share of the optimistic policy, for networks that have one; it points out surprises (policyOptimism).",
        low=0,
        high=1,
    )
    root_policy_optimism: float = option(0.2, "The same at the root (rootPolicyOptimism).", low=0, high=1)
    root_average: bool = option(
        False, "Judge the root in all eight orientations of the board (rootNumSymmetriesToSample 8)."
    )
    passing_hacks: bool = option(
        True,
        "Do not tell the network that a pass ends the game where that would lose or draw it (enablePassingHacks).",
    )
    # KataGo's networks learn from games in which one side has up to 2³ times the other's playouts (maxAsymmetricRatio).
    playout_doubling_advantage: float = option(
        0.0,
        "Have the network judge as if one side had 2 to the power of this times the other's playouts: above 0 it "
        "expects that side to outplay the other, below 0 to be outplayed (playoutDoublingAdvantage).",
        unit="doublings",
        low=-3,
        high=3,
    )
    playout_doubling_advantage_color: str = option(
        "sidetomove",
        "The side that has them: sidetomove is the one that a move is searched for (playoutDoublingAdvantagePla).",
        choices=("sidetomove", "black", "white"),
    )
    symmetry_pruning: bool = option(
        True, "Search only one of the moves that mirror each other in a symmetric position (rootSymmetryPruning)."
    )
    # --- choosing a move ---
    lcb: bool = option(True, "Prefer the move whose worst plausible utility is best (useLcbForSelection).")
    lcb_stdevs: float = option(
        5.0, "Standard deviations below the mean that are plausible (lcbStdevs).", low=1, high=12
    )
    lcb_min_share: float = option(
        0.15, "Visits such a move needs, as a share of the most visited one's (minVisitPropForLCB).", low=0, high=1
    )
    ending_bonus: float = option(
        0.5,
        "Points by which moves where everything is settled are held back, so that games end (rootEndingBonusPoints).",
        unit="points",
        low=-1,
        high=1,
    )
    # --- variety ---
    temperature: float = option(
        0.0,
        "Play a move with probability visits^(1/temperature); 0: always the best (chosenMoveTemperature, there 0.1).",
        low=0,
        high=5,
    )
    temperature_early: float = option(
        0.0, "The same at the first move (chosenMoveTemperatureEarly, there 0.5).", low=0, high=5
    )
    root_temperature: float = option(
        1.0,
        "Flatten the root's prior to prior^(1/temperature), for self-play (rootPolicyTemperature).",
        low=0.01,
        high=100,
    )
    root_temperature_early: float = option(
        1.0, "The same at the first move (rootPolicyTemperatureEarly).", low=0.01, high=100
    )
    temperature_halflife: float = option(
        19.0,
        "Moves on 19x19 after which half the difference to the early temperatures is left; fewer on smaller boards "
        "(chosenMoveTemperatureHalflife).",
        unit="moves",
        low=0.1,
        high=1e5,
    )
    noise: float = option(
        0.0,
        "Share of Dirichlet noise in the root's prior, for self-play, where KataGo has 0.25; 0: none "
        "(rootDirichletNoiseWeight).",
        low=0,
        high=1,
    )
    noise_concentration: float = option(
        10.83,
        "Sum of the noise's parameters over all moves (rootDirichletNoiseTotalConcentration).",
        low=0.001,
        high=1e4,
    )
    # --- the mixture of AlphaGo (Silver et al. 2016): leaf value (1 − λ) v + λ z ---
    rollout_share: float = option(
        0.0,
        "Share of a rollout's result in a leaf's value beside the network's; AlphaGo had 0.5; 0: no rollouts.",
        low=0,
        high=1,
    )
    rollout_limit: int = option(0, "Longest rollout; 0: to the end of the game.", unit="moves", low=0, high=10**6)
    playout_depth: int = option(
        0, "Most moves from the root to a leaf; 0: no limit but 500.", unit="moves", low=0, high=500
    )
