"""The AlphaGo chain on one machine: networks that learn from records, from playing, and from what became of games.

Silver et al., "Mastering the game of Go with deep neural networks and tree search", Nature 529 (2016); Pumperla and
Ferguson, "Deep Learning and the Game of Go" (2019), chapter 13.  `scripts/alphago` has a script for each stage:

    play_records        games that a network plays by sampling, as SGF files
    supervised_policy   a policy network that foretells the moves of records
    rollout_policy      a linear one, quick enough to play games out
    reinforce           the policy network, made better at playing by games against its earlier versions
    value_network       who wins where that one plays on, judged without a search
    chain               all of them, and a round robin that says what each is worth (`contest`)

Every stage reads games as `records.RecordedGame`s, puts them on a `positions.Shelf` and has positions played up again
and encoded when it needs them.  Networks are `nets`, what learns from examples is `learner`, and games are played by
`policy_rows` (any logits) and `self_play` (torch).

Files are `policy.onnx`, `rollout-policy.npz` and `value.onnx`, side by side in one folder for `gtp-engine --model`.
"""
