"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Data      generate  generate_settings     a run of `gtp-engine generate`
          teacher  torch_evaluator        the network that labels
          game_variety  labelled_games  labels  sgf_labels      games and their labels
          workers  cluster                processes, here or on a Ray cluster
          data_folder  shards             where the positions are stored
Training  train_config  run  task  start  a run of `gtp-engine train`, its task for `core.loop`, and its first weights
          batches  losses  validation
Result    export  chain                   the network file, and all commands from data to a match
"""
