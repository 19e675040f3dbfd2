"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Settings  distillation_settings           of generating, training and planning
Data      generate                        a run of `gtp-engine generate`
          teacher  torch_evaluator        the networks that label and play
          game_variety  labelled_games  labels  sgf_labels      games and their labels
          workers  cluster                processes, here or on a Ray cluster
          evaluation_server               one process runs networks for many
          data_folder  shards             where the positions are stored
Training  run                             a run of `gtp-engine train`, its task for `core.loop`, its first weights
          batches                         samples from disk, or from the memory of a GPU
          losses                          how far a network is from its teacher
          module_files                    networks from files, and the network file
Chain     chain                           all commands from data to a match
Plan      plan                            all of it in a fixed time on a machine with a GPU
"""
