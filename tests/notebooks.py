"""Runs docs/notebook.ipynb as a notebook program does: the cells one after the other, with the value of the last line.

`python -m notebooks` writes what the cells show into the file; `test_examples.py` runs them.
"""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent
NOTEBOOK: Final = ROOT / "docs" / "notebook.ipynb"


def cells() -> list[dict[str, Any]]:
    """Return the cells of the notebook."""
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell and return its outputs: what it prints, and the value of its last line, as a picture if it has one."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines_of(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines_of(repr(value))}
        if hasattr(value, "_repr_svg_"):
            data["image/svg+xml"] = lines_of(value._repr_svg_())
        outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return outputs


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends, as notebooks hold them."""
    return text.splitlines(keepends=True)


def run() -> list[list[dict[str, Any]]]:
    """Run all cells of code; return the outputs of each."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [run_cell("".join(cell["source"]), names) for cell in cells() if cell["cell_type"] == "code"]


def main() -> None:
    """Write the outputs into the notebook."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(code, run(), strict=True), 1):
        cell["outputs"], cell["execution_count"] = outputs, number
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
