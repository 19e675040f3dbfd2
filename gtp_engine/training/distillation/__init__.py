"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Settings  distillation_settings           of generating and training
Data      generate                        a run of `gtp-engine generate`, its workers, and the folder that it fills
          labelled_games                  games and their labels, boards and their shares
          evaluation_server               one process runs networks for many
          shards                          files of positions
Training  run                             a run of `gtp-engine train`: what it learns, its first weights, its network
          batches                         samples from disk, or from the memory of a GPU
          losses                          how far a network is from its teacher
          module_files                    modules from files, as teachers too, and their network files
Chain     chain                           all commands from data to a match
"""
