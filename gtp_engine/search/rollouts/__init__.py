"""Tree search without a network: UCT or RAVE, with leaves played out to the end of the game.

One playout, in order, file by file:

rollout_select          walks down the tree to a leaf; a batch of such walks; later the backup of their results
priors                  expands a leaf: its moves, with prior knowledge as imaginary visits
rollout                 plays the leaf out and counts the result
rollout_tree            the arrays of the tree, and the store that grows and re-roots them

What runs them:

rollout_search          RolloutSearch: one game, position after position
rollout_run             RolloutRun: one position, batches on all cores, until a limit is reached
reusable_rollout_tree   the tree kept from move to move, with work arrays for each thread
rollout_tree_report     SearchReport and Progress
rollout_calls           the calls of kernels from Python, to be compiled in advance
policy_choice           which policy plays, from the configuration

The policies that `rollout` plays with:

patterns                3×3 patterns of MoGo, for the tactical policy and the priors
linear                  AlphaGo's linear softmax policy: draws a move
linear_weights          its weights of all moves, kept up to date during a rollout
linear_tables           from a policy file's weights to the tables that its kernels read
neighborhoods           the stones around a point as a number, for these tables

The search with a network (`search.puct`) can mix in the same rollouts.  `_jit` explains `wide` and the three kinds of
kernels (called, inlined, spliced).
"""
