"""The notebook of the documents runs, and its pictures are those of this version."""

import xml.etree.ElementTree as ET

from notebooks import cells, run


def test_the_notebook_runs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    found = run()
    kinds = [[sorted(output.get("data", ["text"])) for output in outputs] for outputs in found]
    assert kinds == [[sorted(output.get("data", ["text"])) for output in cell["outputs"]] for cell in code]
    pictures = [
        output["data"]["image/svg+xml"]
        for each in found
        for output in each
        if "image/svg+xml" in output.get("data", {})
    ]
    assert len(pictures) >= 2
    for picture in pictures:
        assert ET.fromstring("".join(picture)).get("role") == "img"
    assert found[0] == code[0]["outputs"], "a picture without a search is the same everywhere"
