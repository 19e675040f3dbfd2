"""Tree search with a network (PUCT): its policy says where to look, its value what a position is worth.

tree        the arrays of the tree, and the store that grows and re-roots them
utility     from what a network says to what the search maximises; the numbers a search is run with
leaves      a batch of paths to leaves, and their positions as rows for the evaluator
select      walking down to leaves: which move a playout takes
means       the means of a node from those of its children
expand      what an evaluation adds to the tree: moves, judgements, visits, ownership
rollouts    playing leaves out and mixing the results in, as AlphaGo did; off unless asked for
players     who plays them: a policy of kernels, or a quick network
settings    from the configuration to the numbers a search is run with
batches     the arrays that searching boards of one size needs
root        the root's moves: temperature, noise, restrictions, held-back moves at the end of a game
mirrors     moves that mirror each other in a symmetric position
choose      from visits and utilities to the order of the root's moves
report      SearchReport and Progress from a tree
thread      the thread that calls the evaluator
search      PuctSearch, which puts them together
"""
