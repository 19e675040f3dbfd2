"""The training chain of AlphaGo on one machine: from game records to a policy, a rollout policy and a value network.

Silver et al., "Mastering the game of Go with deep neural networks and tree search", Nature 529 (2016); Pumperla and
Ferguson, "Deep Learning and the Game of Go" (2019), chapter 13.  Each stage is a command of `gtp-engine alphago`:

    records         games that a network plays against itself, as SGF files (`play_records`)
    policy          a policy network that predicts the moves of records (`supervised`)
    rollout-policy  a linear policy, fast enough for rollouts (`rollout_policy`)
    reinforce       the policy network, improved by games against its earlier versions (`reinforce`)
    value           a value network, trained on games of the reinforced policy (`value`)
    chain           all stages, and a round robin with an Elo table (`stage_chain`)

`game_records` holds games, recorded or played in training; a `game_positions.GameStore` has many of them, from which
positions are replayed (`replay`) and encoded when they are needed.  `nets` has the networks and their files,
`policy_players` what plays games with them.

All stages share `stage_settings` and, where torch trains on examples, the loop in `supervised`.  The rollout policy is
trained by kernels instead (`rollout_gradient`).

The files are `policy.onnx`, `rollout-policy.npz` and `value.onnx`, side by side in one folder for `gtp-engine --model`.
"""
