import re
from pathlib import Path

from sgfmill import sgf

Path("converted").mkdir(exist_ok=True)
for path in sorted(Path("records").iterdir()):
    data = path.read_bytes()
    if path.suffix == ".gib":
        text = data.decode("cp949", errors="replace")
        record = sgf.Sgf_game(19, encoding="UTF-8")
        for name, tag in (("PB", "GAMEBLACKNAME"), ("PW", "GAMEWHITENAME")):
            if match := re.search(rf"\\\[{tag}=(.*?)\\\]", text):
                record.root.set(name, match.group(1))
        for line in text.splitlines():
            words = line.split()
            if words[:1] == ["STO"]:
                column, row = int(words[4]), int(words[5])
                record.extend_main_sequence().set_move("bw"[int(words[3]) - 1], (18 - row, column))
    else:
        try:
            record = sgf.Sgf_game.from_bytes(data)
        except ValueError as error:
            print(path.name, error)
            continue
    Path("converted", path.stem + ".sgf").write_bytes(record.serialise())
    print(path.name, len(record.get_main_sequence()) - 1, "moves")
