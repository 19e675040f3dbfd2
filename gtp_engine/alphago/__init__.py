"""AlphaGo's system, in one room (Silver et al., Nature 529, 2016): what it plays with here, its training in `stages`.

planes          the 48 feature planes of a policy network, and the 49 of a value network
planes_encoder  the encoder of these planes, which `nn.plug_ins` imports where a network's file names it

Nothing else depends on this room: a network is loaded and a game is played without it unless a file or an option asks
for AlphaGo's.
"""
