"""Distillation: a teacher plays and labels games, a smaller network learns its evaluations.

Settings  distillation_settings           of generating and training
Data      generate                        a run of `gtp-engine generate`, its workers, and the folder that it fills
          labelled_games                  games and their labels, boards and their shares
          human_data                      games between people, whose moves a network is to imitate
          rank_fit                        the table by which ranks are told, from such games
          evaluation_server               one process runs networks for many
          shards                          files of positions
Training  run                             a run of `gtp-engine train`, its task for `core.loop`, its first weights
          batches                         samples from disk, or from the memory of a GPU
          losses                          how far a network is from its teacher
          module_files                    modules from files, as teachers too, and their network files
Chain     chain                           all commands from data to a match
"""
