"""The options of the search with a network (`search.puct`); declared as in `sections`.

Defaults are KataGo 1.17's for GTP (`cpp/program/setup.cpp`, SETUP_FOR_GTP).  They were tuned there in some hundred
thousand games between networks like those used here.  A comment names the source of every other default.
"""

from dataclasses import dataclass

from gtp_engine.config.option import Section, option


@dataclass(frozen=True)
class PuctConfig(Section, name="puct"):
    """How the engine searches with a network."""

    # --- batches: not in KataGo, which searches with threads instead ---
    eval_batch: int = option(
        0,
        "Positions the network evaluates at once; 0: the fewest that are nearly as fast as any, as measured once on "
        "this machine, or 8 with a seed.  Each position is selected without the results of the others.",
        unit="positions",
        bounds=(0, 4096),
    )
    pipeline: int = option(
        0,
        "Batches pending at once: with 2 the next batch is selected while the network evaluates the last, without "
        "knowing its results.  0: as many as suit this machine, as for --eval-batch; 1 with a seed or if that is set.",
        unit="batches",
        bounds=(0, 4),
    )
    # Both by measurement: how far the visits of searches in batches of 8 are from those of searches without batches, on
    # 9×9 and 19×19 (docs/notes/2026-11-28-strength.md, "Batches").
    in_flight_share: float = option(
        0.08,
        "Limit on positions that wait for the network, as a share of the root's visits, so that batches do not weaken "
        "short searches.",
        bounds=(0, 1),
    )
    virtual_weight: float = option(
        0.25,
        "Lost visits that a playout in flight counts as ({katago}, in KataGo 1).",
        unit="visits",
        bounds=(0, 1000),
        katago="numVirtualLossesPerThread",
    )
    # --- exploration ---
    c_puct: float = option(
        1.0,
        "Exploration: weight of the prior against the results of the search.",
        bounds=(0, 10),
        katago="cpuctExploration",
    )
    c_puct_log: float = option(
        0.45, "Growth of --c-puct with the logarithm of visits.", bounds=(0, 10), katago="cpuctExplorationLog"
    )
    c_puct_base: float = option(
        500.0, "Visits from which that growth counts.", unit="visits", bounds=(10, 1e5), katago="cpuctExplorationBase"
    )
    utility_stdev_prior: float = option(
        0.4,
        "Assumed standard deviation of the utility below a position before its first visits.",
        bounds=(1e-8, 10),
        katago="cpuctUtilityStdevPrior",
    )
    utility_stdev_prior_weight: float = option(
        2.0,
        "Visits that this assumption counts as.",
        unit="visits",
        bounds=(0, 100),
        katago="cpuctUtilityStdevPriorWeight",
    )
    utility_stdev_scale: float = option(
        0.85,
        "How much exploration grows with that deviation; 0: not at all, 1: in proportion.",
        bounds=(0, 1),
        katago="cpuctUtilityStdevScale",
    )
    fpu_reduction: float = option(
        0.2,
        "How much worse than its position, in utility, a move without visits is assumed to be once all likely moves "
        "have visits.",
        bounds=(0, 2),
        katago="fpuReductionMax",
    )
    root_fpu_reduction: float = option(0.1, "The same at the root.", bounds=(0, 2), katago="rootFpuReductionMax")
    fpu_parent_by_policy: bool = option(
        True,
        "The utility of that position mixes the network's evaluation with the mean of its subtree by the prior visited "
        "so far, see --fpu-parent-power; else by --fpu-parent-weight.",
        katago="fpuParentWeightByVisitedPolicy",
    )
    fpu_parent_power: float = option(
        2.0,
        "That mean has the weight of the prior visited so far, to this power; 0: only the mean.",
        bounds=(0, 5),
        katago="fpuParentWeightByVisitedPolicyPow",
    )
    fpu_parent_weight: float = option(
        0.0, "Weight of the network's evaluation otherwise.", bounds=(0, 1), katago="fpuParentWeight"
    )
    fpu_loss: float = option(
        0.0,
        "How far the utility of a move without visits is moved towards that of a loss.",
        bounds=(0, 1),
        katago="fpuLossProp",
    )
    root_fpu_loss: float | None = option(
        None, "The same at the root; not set: as elsewhere.", bounds=(0, 1), katago="rootFpuLossProp"
    )
    root_child_visits: float = option(
        0.0,
        "Once tried, visit a move of the root until it has √(this × its prior × all visits) visits; 0: no minimum.",
        bounds=(0, 100),
        katago="rootDesiredPerChildVisitsCoeff",
    )
    futile_visits: float = option(
        0.0,
        "With --visits, leave a move of the root once its visits + those left < this × the best move's visits.  With "
        "--early-stop a clock, too, ends a search in which that holds for all others.  0: off.",
        bounds=(0, 1),
        katago="futileVisitsThreshold",
    )
    # --- utility ---
    win_weight: float = option(
        1.0, "Weight in the utility of winning or losing.", bounds=(0, 1), katago="winLossUtilityFactor"
    )
    no_result_utility_white: float = option(
        0.0,
        "Utility, for White, of a game that ends without result, as by a triple ko under simple ko.",
        bounds=(-1, 1),
        katago="noResultUtilityForWhite",
    )
    draw_wins_white: float = option(
        0.5,
        "Share of a win that a draw is for White; the rest of it is Black's.",
        bounds=(0, 1),
        katago="drawEquivalentWinsForWhite",
    )
    static_score_weight: float = option(
        0.1, "Weight in the utility of the score relative to 0.", bounds=(0, 1), katago="staticScoreUtilityFactor"
    )
    dynamic_score_weight: float = option(
        0.3,
        "Weight in the utility of the score relative to the score expected at the root.",
        bounds=(0, 1),
        katago="dynamicScoreUtilityFactor",
    )
    dynamic_score_zero_weight: float = option(
        0.2, "How far that expected score is moved towards 0.", bounds=(0, 1), katago="dynamicScoreCenterZeroWeight"
    )
    dynamic_score_scale: float = option(
        0.75,
        "Scale of score differences, in points per line of the board: much smaller ones hardly count.",
        bounds=(0.2, 5),
        katago="dynamicScoreCenterScale",
    )
    # --- averages ---
    value_weight_exponent: float = option(
        0.25,
        "How much less the worse moves count in a position's average; 0: all count by their visits.",
        bounds=(0, 1),
        katago="valueWeightExponent",
    )
    use_noise_pruning: bool = option(
        True, "Leave visits spent in vain out of averages, see --noise-pruning-scale.", katago="useNoisePruning"
    )
    noise_pruning_scale: float = option(
        0.15,
        "Deficit in utility against likelier moves at which the average leaves out most of a move's visits beyond its "
        "prior's share; 0: none are left out.",
        bounds=(0, 10),
        katago="noisePruneUtilityScale",
    )
    noise_pruning_cap: float = option(
        1e50, "Most visits of a move that are left out in this way.", low=0, katago="noisePruningCap"
    )
    graph_search: bool = option(
        True, "Share what the search finds between lines that lead to the same position.", katago="useGraphSearch"
    )
    graph_search_bound: int = option(
        11,
        "Lines with different histories share a position only if no earlier position can recur within this many moves.",
        unit="moves",
        bounds=(3, 50),
        katago="graphSearchRepBound",
    )
    graph_search_leak: float = option(
        0.0,
        "Probability that a line goes on at a position that already has more visits than the line.",
        bounds=(0, 1),
        katago="graphSearchCatchUpLeakProb",
    )
    remember: bool = option(
        False,
        "Use what earlier searches found in positions that come up again, until clear_cache; needs --graph-search.",
        katago="useEvalCache",
    )
    remember_visits: int = option(
        100,
        "Visits from which on a position is remembered.",
        unit="visits",
        bounds=(1, 1_000_000_000),
        katago="evalCacheMinVisits",
    )
    subtree_bias: float = option(
        0.45,
        "How much the network's evaluations are corrected by the errors that the search found in positions with the "
        "same stones around the last move; 0: not at all.",
        bounds=(0, 1),
        katago="subtreeValueBiasFactor",
    )
    subtree_bias_exponent: float = option(
        0.85,
        "The error of a position counts in that correction by the visits below it, to this power.",
        bounds=(0, 1),
        katago="subtreeValueBiasWeightExponent",
    )
    subtree_bias_free_share: float = option(
        0.8,
        "Share of its error that is forgotten when a position leaves the search tree.",
        bounds=(0, 1),
        katago="subtreeValueBiasFreeProp",
    )
    use_uncertainty: bool = option(
        True, "Give evaluations the weight of their certainty, see uncertainty.", katago="useUncertainty"
    )
    uncertainty: float = option(
        0.25,
        "Error in utility at which an evaluation counts as one visit; more certain ones count more, where the network "
        "predicts its error; 0: all count the same.",
        bounds=(0, 1),
        katago="uncertaintyCoeff",
    )
    uncertainty_exponent: float = option(
        1.0, "That weight falls with the error to this power.", bounds=(0, 2), katago="uncertaintyExponent"
    )
    uncertainty_max_weight: float = option(
        8.0, "Most visits that one evaluation counts as.", unit="visits", bounds=(1, 100), katago="uncertaintyMaxWeight"
    )
    wide_noise: float = option(
        0.0,
        "Make searches for a move to play search more moves less deeply ({katago_gtp} in GTP); for analyses see "
        "--wide-root-noise.",
        bounds=(0, 5),
        katago_gtp="wideRootNoise",
    )
    # --- evaluation ---
    policy_optimism: float = option(
        1.0,
        "Share of the optimistic policy, for networks that have one; it finds surprising moves.",
        bounds=(0, 1),
        katago="policyOptimism",
    )
    root_policy_optimism: float = option(0.2, "The same at the root.", bounds=(0, 1), katago="rootPolicyOptimism")
    policy_temperature: float = option(
        1.0,
        "Temperature of the network's policy: above 1 flattens it, below 1 sharpens it.",
        bounds=(0.01, 5),
        katago="nnPolicyTemperature",
    )
    ignore_all_history: bool = option(
        False,
        "Never tell the network the moves that led to a position, in the search either.",
        katago="ignoreAllHistory",
    )
    suicide_area: str = option(
        "auto",
        "Whether the network is told which areas live unconditionally as if suicide were legal under all rules; auto: "
        "as it was trained.",
        choices=("auto", "true", "false"),
        katago="alwaysComputePassAliveUnderSuicideRules",
    )
    # Off: with it the shipped network's policy alone won 62% of 120 games on 19x19, but only 48% of 100 on 9x9, at
    # eight times the evaluations; with 200 visits a move it won 50% of 100 (docs/notes/2026-11-28-strength.md).
    root_average: bool = option(
        False,
        "Evaluate the root in all eight orientations of the board ({katago} 8).",
        katago="rootNumSymmetriesToSample",
    )
    passing_hacks: bool = option(
        True,
        "Hide from the network that a pass ends the game where that would lose or draw it.",
        katago="enablePassingHacks",
    )
    more_passing_hacks: bool = option(
        True,
        "Where a pass ends the game, search both the pass and another move after two visits.",
        katago="enableMorePassingHacks",
    )
    conservative_pass: bool = option(
        True,
        "Never rely on ending the game by a pass now, even where the rules would count it as won: the opponent may "
        "play on.",
        katago="conservativePass",
    )
    anti_mirror: bool = option(
        True,
        "Against an opponent who mirrors every move, expect this to go on and look for moves around the centre; not in "
        "analyses ({katago_gtp}).",
        katago_gtp="genmoveAntiMirror",
    )
    # KataGo's networks learn from games in which one side has up to 2³ times the other's playouts (maxAsymmetricRatio).
    playout_doubling_advantage: float = option(
        0.0,
        "Have the network evaluate as if one side had 2 to the power of this times the other's playouts.  Above 0 it "
        "expects that side to outplay the other, below 0 to be outplayed.",
        unit="doublings",
        bounds=(-3, 3),
        katago="playoutDoublingAdvantage",
    )
    playout_doubling_advantage_color: str = option(
        "sidetomove",
        "The side with that advantage: sidetomove is the side that a move is searched for.",
        choices=("sidetomove", "black", "white"),
        katago="playoutDoublingAdvantagePla",
    )
    # KataGo's default too; its config file promises greatly improved strength in handicap games.
    dynamic_advantage: float = option(
        0.045,
        "With handicap or an unusual komi, play as if the side that starts behind had such an advantage.  It is up to "
        "this for each point, at most 2.75, and less as its winrate rises.  Not in analyses, not with "
        "--playout-doubling-advantage, and only with networks trained for it, as KataGo's are; 0: never.",
        unit="doublings per point",
        bounds=(0, 0.5),
        katago="dynamicPlayoutDoublingAdvantageCapPerOppLead",
    )
    symmetry_pruning: bool = option(
        True,
        "Search only one of the moves that mirror each other in a symmetric position.",
        katago="rootSymmetryPruning",
    )
    useless_pruning: bool = option(
        True,
        "When the opponent's last four moves were passes, leave out moves in pass-alive territory, as they change "
        "nothing.",
        katago="rootPruneUselessMoves",
    )
    # --- choosing a move ---
    lcb: bool = option(
        True, "Prefer the move with the best lower confidence bound of utility.", katago="useLcbForSelection"
    )
    lcb_stdevs: float = option(
        5.0, "Standard deviations from the mean to that bound.", bounds=(1, 12), katago="lcbStdevs"
    )
    lcb_min_share: float = option(
        0.15,
        "Visits that a move needs to be preferred in this way, as a share of the most visited move's.",
        bounds=(0, 1),
        katago="minVisitPropForLCB",
    )
    ending_bonus: float = option(
        0.5,
        "Penalty for moves in settled areas, so that games end.",
        unit="points",
        bounds=(-1, 1),
        katago="rootEndingBonusPoints",
    )
    fill_dame: bool = option(
        True,
        "Under territory rules, do not pass while another move, such as filling a neutral point, is as good.",
        katago="fillDameBeforePass",
    )
    # --- variety ---
    temperature: float = option(
        0.0,
        "Play a move with a probability in proportion to visits^(1/temperature); 0: always the best "
        "({katago}, in KataGo 0.1).",
        bounds=(0, 5),
        katago="chosenMoveTemperature",
    )
    temperature_early: float = option(
        0.0, "The same at the first move ({katago}, in KataGo 0.5).", bounds=(0, 5), katago="chosenMoveTemperatureEarly"
    )
    temperature_below: float = option(
        1.0,
        "Apply the temperature only to moves with less than this share of the visits; likelier moves keep their share "
        "among themselves.",
        bounds=(0, 1),
        katago="chosenMoveTemperatureOnlyBelowProb",
    )
    choice_prune: float = option(
        1.0,
        "Never play a move with fewer visits than this or than a 64th of the best move's, whichever is less.",
        unit="visits",
        bounds=(0, 1e10),
        katago="chosenMovePrune",
    )
    choice_subtract: float = option(
        0.0,
        "Subtract this from the visits of each move before a temperature applies, but at most a 64th of the best "
        "move's visits.",
        unit="visits",
        bounds=(0, 1e10),
        katago="chosenMoveSubtract",
    )
    root_temperature: float = option(
        1.0,
        "Flatten the root's prior to prior^(1/temperature), for self-play.",
        bounds=(0.01, 100),
        katago="rootPolicyTemperature",
    )
    root_temperature_early: float | None = option(
        None, "The same at the first move; not set: as later.", bounds=(0.01, 100), katago="rootPolicyTemperatureEarly"
    )
    temperature_halflife: float = option(
        19.0,
        "Moves on 19x19 after which the difference to the early temperatures has halved; fewer on smaller boards.",
        unit="moves",
        bounds=(0.1, 1e5),
        katago="chosenMoveTemperatureHalflife",
    )
    root_noise: bool = option(
        False, "Add Dirichlet noise to the root's prior, for self-play.", katago="rootNoiseEnabled"
    )
    noise: float = option(0.25, "Share of this noise.", bounds=(0, 1), katago="rootDirichletNoiseWeight")
    noise_concentration: float = option(
        10.83,
        "Sum of the noise's parameters over all moves.",
        bounds=(0.001, 1e4),
        katago="rootDirichletNoiseTotalConcentration",
    )
    # --- the mixture of AlphaGo (Silver et al. 2016): leaf value (1 − λ) v + λ z ---
    rollout_share: float = option(
        0.0,
        "Share of a rollout's result in a leaf's value beside the network's; AlphaGo used 0.5; 0: no rollouts.",
        bounds=(0, 1),
    )
    rollout_limit: int = option(
        0,
        "Longest rollout; one that is cut off has no opinion, and its leaf keeps the network's value; 0: to the end of "
        "the game.",
        unit="moves",
        bounds=(0, 10**6),
    )
    playout_depth: int = option(
        0, "Most moves from the root to a leaf; 0: the general limit of 500.", unit="moves", bounds=(0, 500)
    )
