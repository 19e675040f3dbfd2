"""Tree search with a network (PUCT): its policy directs the search, its value says how good the leaves are.

The loop, and what runs beside it:

puct_search         PuctSearch: one game, position after position; the loop of the four steps is `playouts`
evaluation_thread   the thread that calls the evaluator, and the players of rollouts
joint_search        JointSearch: several positions side by side, their leaves evaluated together

One playout, in order, file by file:

select              walks down the tree by the PUCT formula to a leaf, or as people play; fills a batch with such walks
leaves              the batch: paths, and the positions at their ends as rows for the evaluator
cleanup             the phases after two passes under territory rules, in which these paths go on
expand              writes the evaluations into the tree, gives the leaves edges with priors, backs up along the paths;
                    mixes results of rollouts in as AlphaGo does, if `puct.rollout_share` says so
transpositions      lets lines that lead to the same position share a node, if wanted
subtree_bias        corrects evaluations by the errors found in similar positions

What they work on:

tree                the arrays of the tree
tree_store          the tree kept from move to move, which grows, is pruned and re-rooted; batches and work arrays for
                    boards of one size
utility             what the search maximises: win, loss and score; the parameters of a search

The root, and the result:

root                position, parameters, temperature, noise, moves left out, bonuses late in a game, symmetric moves
anti_mirror         play against an opponent who mirrors every move
choose              the order of the root's moves, from visits and utilities; neutral points; the choice as people play
expected_line       the line that the search expects from any node
tree_ownership      the ownership that the search expects
tree_report         SearchReport and Progress

`compiled.jit` explains `wide` and the three kinds of kernels (called, inlined, spliced).
"""
