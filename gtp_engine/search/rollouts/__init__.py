"""Tree search without a network: UCT or RAVE, with leaves played out to the end of the game.

One playout, in order, file by file:

rollout_select          walks down the tree to a leaf; a batch of such walks; later the backup of their results
rollout_tree            the arrays of the tree; expands a leaf: its moves, with prior knowledge as imaginary visits
rollout                 plays the leaf out and counts the result
patterns                3×3 patterns of MoGo, for the tactical policy and the priors

What runs them:

rollout_search          RolloutSearch: one game, position after position, on all cores; SearchReport and Progress
reusable_rollout_tree   the tree kept from move to move, with work arrays for each thread

A `LeafPlayer` can play the leaves out instead of `rollout`.  A search with a network can mix in the same rollouts
(`training.alphago.rollout_players`).  `compiled.jit` explains `wide` and the three kinds of kernels (called, inlined,
spliced).
"""
