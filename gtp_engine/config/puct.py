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
    eval_batch: int = option(0, unit="positions", bounds=(0, 4096))
    """Positions the network evaluates at once; 0: the fewest that are nearly as fast as any, as measured once on this
    machine, or 8 with a seed.  Each position is selected without the results of the others."""
    pipeline: int = option(0, unit="batches", bounds=(0, 4))
    """Batches pending at once: with 2 the next batch is selected while the network evaluates the last, without knowing
    its results.  0: as many as suit this machine, as for --eval-batch; 1 with a seed or if that is set."""
    # Both by measurement: how far the visits of searches in batches of 8 are from those of searches without batches, on
    # 9×9 and 19×19 (docs/notes/2026-11-28-strength.md, "Batches").
    in_flight_share: float = option(0.08, bounds=(0, 1))
    """Limit on positions that wait for the network, as a share of the root's visits, so that batches do not weaken
    short searches."""
    virtual_weight: float = option(0.25, unit="visits", bounds=(0, 1000), katago="numVirtualLossesPerThread")
    """Lost visits that a playout in flight counts as ({katago}, in KataGo 1)."""
    # --- exploration ---
    c_puct: float = option(1.0, bounds=(0, 10), katago="cpuctExploration")
    """Exploration: weight of the prior against the results of the search."""
    c_puct_log: float = option(0.45, bounds=(0, 10), katago="cpuctExplorationLog")
    """Growth of --c-puct with the logarithm of visits."""
    c_puct_base: float = option(500.0, unit="visits", bounds=(10, 1e5), katago="cpuctExplorationBase")
    """Visits from which that growth counts."""
    utility_stdev_prior: float = option(0.4, bounds=(1e-8, 10), katago="cpuctUtilityStdevPrior")
    """Assumed standard deviation of the utility below a position before its first visits."""
    utility_stdev_prior_weight: float = option(
        2.0, unit="visits", bounds=(0, 100), katago="cpuctUtilityStdevPriorWeight"
    )
    """Visits that this assumption counts as."""
    utility_stdev_scale: float = option(0.85, bounds=(0, 1), katago="cpuctUtilityStdevScale")
    """How much exploration grows with that deviation; 0: not at all, 1: in proportion."""
    fpu_reduction: float = option(0.2, bounds=(0, 2), katago="fpuReductionMax")
    """How much worse than its position, in utility, a move without visits is assumed to be once all likely moves have
    visits."""
    root_fpu_reduction: float = option(0.1, bounds=(0, 2), katago="rootFpuReductionMax")
    """The same at the root."""
    fpu_parent_by_policy: bool = option(True, katago="fpuParentWeightByVisitedPolicy")
    """The utility of that position mixes the network's evaluation with the mean of its subtree by the prior visited so
    far, see --fpu-parent-power; else by --fpu-parent-weight."""
    fpu_parent_power: float = option(2.0, bounds=(0, 5), katago="fpuParentWeightByVisitedPolicyPow")
    """That mean has the weight of the prior visited so far, to this power; 0: only the mean."""
    fpu_parent_weight: float = option(0.0, bounds=(0, 1), katago="fpuParentWeight")
    """Weight of the network's evaluation otherwise."""
    fpu_loss: float = option(0.0, bounds=(0, 1), katago="fpuLossProp")
    """How far the utility of a move without visits is moved towards that of a loss."""
    root_fpu_loss: float | None = option(None, bounds=(0, 1), katago="rootFpuLossProp")
    """The same at the root; not set: as elsewhere."""
    root_child_visits: float = option(0.0, bounds=(0, 100), katago="rootDesiredPerChildVisitsCoeff")
    """Once tried, visit a move of the root until it has √(this × its prior × all visits) visits; 0: no minimum."""
    futile_visits: float = option(0.0, bounds=(0, 1), katago="futileVisitsThreshold")
    """With --visits, leave a move of the root once its visits + those left < this × the best move's visits.  With
    --early-stop a clock, too, ends a search in which that holds for all others.  0: off."""
    # --- utility ---
    win_weight: float = option(1.0, bounds=(0, 1), katago="winLossUtilityFactor")
    """Weight in the utility of winning or losing."""
    no_result_utility_white: float = option(0.0, bounds=(-1, 1), katago="noResultUtilityForWhite")
    """Utility, for White, of a game that ends without result, as by a triple ko under simple ko."""
    draw_wins_white: float = option(0.5, bounds=(0, 1), katago="drawEquivalentWinsForWhite")
    """Share of a win that a draw is for White; the rest of it is Black's."""
    static_score_weight: float = option(0.1, bounds=(0, 1), katago="staticScoreUtilityFactor")
    """Weight in the utility of the score relative to 0."""
    dynamic_score_weight: float = option(0.3, bounds=(0, 1), katago="dynamicScoreUtilityFactor")
    """Weight in the utility of the score relative to the score expected at the root."""
    dynamic_score_zero_weight: float = option(0.2, bounds=(0, 1), katago="dynamicScoreCenterZeroWeight")
    """How far that expected score is moved towards 0."""
    dynamic_score_scale: float = option(0.75, bounds=(0.2, 5), katago="dynamicScoreCenterScale")
    """Scale of score differences, in points per line of the board: much smaller ones hardly count."""
    # --- averages ---
    value_weight_exponent: float = option(0.25, bounds=(0, 1), katago="valueWeightExponent")
    """How much less the worse moves count in a position's average; 0: all count by their visits."""
    use_noise_pruning: bool = option(True, katago="useNoisePruning")
    """Leave visits spent in vain out of averages, see --noise-pruning-scale."""
    noise_pruning_scale: float = option(0.15, bounds=(0, 10), katago="noisePruneUtilityScale")
    """Deficit in utility against likelier moves at which the average leaves out most of a move's visits beyond its
    prior's share; 0: none are left out."""
    noise_pruning_cap: float = option(1e50, low=0, katago="noisePruningCap")
    """Most visits of a move that are left out in this way."""
    graph_search: bool = option(True, katago="useGraphSearch")
    """Share what the search finds between lines that lead to the same position."""
    graph_search_bound: int = option(11, unit="moves", bounds=(3, 50), katago="graphSearchRepBound")
    """Lines with different histories share a position only if no earlier position can recur within this many moves."""
    graph_search_leak: float = option(0.0, bounds=(0, 1), katago="graphSearchCatchUpLeakProb")
    """Probability that a line goes on at a position that already has more visits than the line."""
    remember: bool = option(False, katago="useEvalCache")
    """Use what earlier searches found in positions that come up again, until clear_cache; needs --graph-search."""
    remember_visits: int = option(100, unit="visits", bounds=(1, 1_000_000_000), katago="evalCacheMinVisits")
    """Visits from which on a position is remembered."""
    subtree_bias: float = option(0.45, bounds=(0, 1), katago="subtreeValueBiasFactor")
    """How much the network's evaluations are corrected by the errors that the search found in positions with the same
    stones around the last move; 0: not at all."""
    subtree_bias_exponent: float = option(0.85, bounds=(0, 1), katago="subtreeValueBiasWeightExponent")
    """The error of a position counts in that correction by the visits below it, to this power."""
    subtree_bias_free_share: float = option(0.8, bounds=(0, 1), katago="subtreeValueBiasFreeProp")
    """Share of its error that is forgotten when a position leaves the search tree."""
    use_uncertainty: bool = option(True, katago="useUncertainty")
    """Give evaluations the weight of their certainty, see uncertainty."""
    uncertainty: float = option(0.25, bounds=(0, 1), katago="uncertaintyCoeff")
    """Error in utility at which an evaluation counts as one visit; more certain ones count more, where the network
    predicts its error; 0: all count the same."""
    uncertainty_exponent: float = option(1.0, bounds=(0, 2), katago="uncertaintyExponent")
    """That weight falls with the error to this power."""
    uncertainty_max_weight: float = option(8.0, unit="visits", bounds=(1, 100), katago="uncertaintyMaxWeight")
    """Most visits that one evaluation counts as."""
    wide_noise: float = option(0.0, bounds=(0, 5), katago_gtp="wideRootNoise")
    """Make searches for a move to play search more moves less deeply ({katago_gtp} in GTP); for analyses see
    --wide-root-noise."""
    # --- evaluation ---
    policy_optimism: float = option(1.0, bounds=(0, 1), katago="policyOptimism")
    """Share of the optimistic policy, for networks that have one; it finds surprising moves."""
    root_policy_optimism: float = option(0.2, bounds=(0, 1), katago="rootPolicyOptimism")
    """The same at the root."""
    policy_temperature: float = option(1.0, bounds=(0.01, 5), katago="nnPolicyTemperature")
    """Temperature of the network's policy: above 1 flattens it, below 1 sharpens it."""
    ignore_all_history: bool = option(False, katago="ignoreAllHistory")
    """Never tell the network the moves that led to a position, in the search either."""
    suicide_area: str = option(
        "auto", choices=("auto", "true", "false"), katago="alwaysComputePassAliveUnderSuicideRules"
    )
    """Whether the network is told which areas live unconditionally as if suicide were legal under all rules; auto: as
    it was trained."""
    # Off: with it the shipped network's policy alone won 62% of 120 games on 19x19, but only 48% of 100 on 9x9, at
    # eight times the evaluations; with 200 visits a move it won 50% of 100 (docs/notes/2026-11-28-strength.md).
    root_average: bool = option(False, katago="rootNumSymmetriesToSample")
    """Evaluate the root in all eight orientations of the board ({katago} 8)."""
    passing_hacks: bool = option(True, katago="enablePassingHacks")
    """Hide from the network that a pass ends the game where that would lose or draw it."""
    more_passing_hacks: bool = option(True, katago="enableMorePassingHacks")
    """Where a pass ends the game, search both the pass and another move after two visits."""
    conservative_pass: bool = option(True, katago="conservativePass")
    """Never rely on ending the game by a pass now, even where the rules would count it as won: the opponent may play
    on."""
    anti_mirror: bool = option(True, katago_gtp="genmoveAntiMirror")
    """Against an opponent who mirrors every move, expect this to go on and look for moves around the centre; not in
    analyses ({katago_gtp})."""
    # KataGo's networks learn from games in which one side has up to 2³ times the other's playouts (maxAsymmetricRatio).
    playout_doubling_advantage: float = option(0.0, unit="doublings", bounds=(-3, 3), katago="playoutDoublingAdvantage")
    """Have the network evaluate as if one side had 2 to the power of this times the other's playouts.  Above 0 it
    expects that side to outplay the other, below 0 to be outplayed."""
    playout_doubling_advantage_color: str = option(
        "sidetomove", choices=("sidetomove", "black", "white"), katago="playoutDoublingAdvantagePla"
    )
    """The side with that advantage: sidetomove is the side that a move is searched for."""
    # KataGo's default too; its config file promises greatly improved strength in handicap games.
    dynamic_advantage: float = option(
        0.045, unit="doublings per point", bounds=(0, 0.5), katago="dynamicPlayoutDoublingAdvantageCapPerOppLead"
    )
    """With handicap or an unusual komi, play as if the side that starts behind had such an advantage.  It is up to this
    for each point, at most 2.75, and less as its winrate rises.  Not in analyses, not with
    --playout-doubling-advantage, and only with networks trained for it, as KataGo's are; 0: never."""
    symmetry_pruning: bool = option(True, katago="rootSymmetryPruning")
    """Search only one of the moves that mirror each other in a symmetric position."""
    useless_pruning: bool = option(True, katago="rootPruneUselessMoves")
    """When the opponent's last four moves were passes, leave out moves in pass-alive territory, as they change
    nothing."""
    # --- choosing a move ---
    lcb: bool = option(True, katago="useLcbForSelection")
    """Prefer the move with the best lower confidence bound of utility."""
    lcb_stdevs: float = option(5.0, bounds=(1, 12), katago="lcbStdevs")
    """Standard deviations from the mean to that bound."""
    lcb_min_share: float = option(0.15, bounds=(0, 1), katago="minVisitPropForLCB")
    """Visits that a move needs to be preferred in this way, as a share of the most visited move's."""
    ending_bonus: float = option(0.5, unit="points", bounds=(-1, 1), katago="rootEndingBonusPoints")
    """Penalty for moves in settled areas, so that games end."""
    fill_dame: bool = option(True, katago="fillDameBeforePass")
    """Under territory rules, do not pass while another move, such as filling a neutral point, is as good."""
    # --- variety ---
    temperature: float = option(0.0, bounds=(0, 5), katago="chosenMoveTemperature")
    """Play a move with a probability in proportion to visits^(1/temperature); 0: always the best ({katago}, in KataGo
    0.1)."""
    temperature_early: float = option(0.0, bounds=(0, 5), katago="chosenMoveTemperatureEarly")
    """The same at the first move ({katago}, in KataGo 0.5)."""
    temperature_below: float = option(1.0, bounds=(0, 1), katago="chosenMoveTemperatureOnlyBelowProb")
    """Apply the temperature only to moves with less than this share of the visits; likelier moves keep their share
    among themselves."""
    choice_prune: float = option(1.0, unit="visits", bounds=(0, 1e10), katago="chosenMovePrune")
    """Never play a move with fewer visits than this or than a 64th of the best move's, whichever is less."""
    choice_subtract: float = option(0.0, unit="visits", bounds=(0, 1e10), katago="chosenMoveSubtract")
    """Subtract this from the visits of each move before a temperature applies, but at most a 64th of the best move's
    visits."""
    root_temperature: float = option(1.0, bounds=(0.01, 100), katago="rootPolicyTemperature")
    """Flatten the root's prior to prior^(1/temperature), for self-play."""
    root_temperature_early: float | None = option(None, bounds=(0.01, 100), katago="rootPolicyTemperatureEarly")
    """The same at the first move; not set: as later."""
    temperature_halflife: float = option(19.0, unit="moves", bounds=(0.1, 1e5), katago="chosenMoveTemperatureHalflife")
    """Moves on 19x19 after which the difference to the early temperatures has halved; fewer on smaller boards."""
    root_noise: bool = option(False, katago="rootNoiseEnabled")
    """Add Dirichlet noise to the root's prior, for self-play."""
    noise: float = option(0.25, bounds=(0, 1), katago="rootDirichletNoiseWeight")
    """Share of this noise."""
    noise_concentration: float = option(10.83, bounds=(0.001, 1e4), katago="rootDirichletNoiseTotalConcentration")
    """Sum of the noise's parameters over all moves."""
    # --- the mixture of AlphaGo (Silver et al. 2016): leaf value (1 − λ) v + λ z ---
    rollout_share: float = option(0.0, bounds=(0, 1))
    """Share of a rollout's result in a leaf's value beside the network's; AlphaGo used 0.5; 0: no rollouts."""
    rollout_limit: int = option(0, unit="moves", bounds=(0, 10**6))
    """Longest rollout; one that is cut off has no opinion, and its leaf keeps the network's value; 0: to the end of the
    game."""
    playout_depth: int = option(0, unit="moves", bounds=(0, 500))
    """Most moves from the root to a leaf; 0: the general limit of 500."""
