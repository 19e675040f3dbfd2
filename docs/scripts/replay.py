from gtp_engine import GameTree

tree = GameTree.load("game.sgf")
for node in tree.main_line()[1:]:
    print(node.move_number, node.vertex, node.comment)
print(tree.main_line()[-1].game())
