from gtp_engine import GameTree

tree = GameTree.load("game.sgf")
for node in tree.nodes():
    if len(node.children) > 1:
        print(node.move_number, *(child.vertex for child in node.children))
added = tree.main_line()[3].add_move("E5")
added.comment = "Better."
added.set_mark("C3", "triangle")
tree.save("changed.sgf")
