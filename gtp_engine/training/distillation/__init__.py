"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Data      teacher  torch_evaluator  game_variety  labelled_games  sgf_labels  labels
          workers  cluster  generate  generate_report  data_folder  shards
Training  train_config  start  batches  losses  trainer  validation  checkpoint  training_log  train_progress  run
Result    export
"""
