from pathlib import Path

from gtp_engine import GameTree, SgfError

Path("converted").mkdir(exist_ok=True)
for path in sorted(Path("records").iterdir()):
    try:
        tree = GameTree.load(path)
        tree.save(Path("converted", path.stem + ".sgf"))
        print(path.name, len(tree.main_line()) - 1, "moves")
    except SgfError as error:
        print(path.name, error)
