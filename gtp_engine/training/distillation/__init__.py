"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Settings  distillation_settings           of generating, training and planning
Data      generate                        a run of `gtp-engine generate`
          labelled_games                  games and their labels, boards and their shares
          workers                         the networks of workers, which run here or on a Ray cluster
          torch_evaluator                 networks that torch runs
          evaluation_server               one process runs networks for many
          data_folder  shards             where the positions are stored
Training  run                             a run of `gtp-engine train`, its task for `core.loop`, its first weights
          batches                         samples from disk, or from the memory of a GPU
          losses                          how far a network is from its teacher
          module_files                    networks from files, and the network file
Chain     chain                           all commands from data to a match
Plan      plan                            all of it in a fixed time on a machine with a GPU
"""
