"""AlphaGo's system, in one room (Silver et al., Nature 529, 2016): what it plays with here, its training in `stages`.

planes          the 48 feature planes of a policy network, and the 49 of a value network
planes_encoder  the encoder of these planes, which `nn.plug_ins` imports where a network's file names it
linear_policy   the weights of the linear rollout policy, their file and tables, read by `nn.plug_ins` too
linear_rollouts its rollouts: draws moves and keeps the weights of all moves up to date (kernels)
neighborhoods   the stones around a point as a number, for its tables
rollout_batches rollouts from a batch of leaves, by kernels' policies or a network's (kernels)
rollout_players the players of rollouts that a search finds (`search.players`)

Nothing else depends on this room: a network is loaded and a game is played without it unless a file or an option asks
for AlphaGo's.
"""
