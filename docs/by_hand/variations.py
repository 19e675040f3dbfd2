from sgfmill import common, sgf

with open("game.sgf", "rb") as file:
    record = sgf.Sgf_game.from_bytes(file.read())
size = record.get_size()


def walk(node, number):
    number += node.get_move()[0] is not None
    if len(node) > 1:
        moves = [common.format_vertex(child.get_move()[1]) for child in node]
        print(number, *moves)
    for child in node:
        walk(child, number)


walk(record.get_root(), 0)
node = record.get_main_sequence()[3]
color, _ = node.get_move()
child = node.new_child()
child.set_move("w" if color == "b" else "b", common.move_from_vertex("E5", size))
child.set("C", "Better.")
child.set("TR", [common.move_from_vertex("C3", size)])
with open("changed.sgf", "wb") as file:
    file.write(record.serialise())
