"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Data      generate  generate_settings     a run of `gtp-engine generate`
          teacher  torch_evaluator        the networks that label and play
          game_variety  labelled_games  labels  sgf_labels      games and their labels
          workers  cluster                processes, here or on a Ray cluster
          evaluation_server               one process runs networks for many
          data_folder  shards             where the positions are stored
Training  train_config  run  task  start  a run of `gtp-engine train`, its task for `core.loop`, and its first weights
          batches  resident_batches       samples from disk, or from the memory of a GPU
          losses  validation
Result    export  chain                   the network file, and all commands from data to a match
Plan      plan                            all of it in a fixed time on a machine with a GPU
"""
