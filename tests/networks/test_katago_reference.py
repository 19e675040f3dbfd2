"""The whole path from a network file and a position to an evaluation, against KataGo's own evaluations.

A mistake in the parser, the graph, the inputs or the evaluator shows here, if nowhere else.
"""

from pathlib import Path
from typing import Any

import pytest
from networks.katago_records import assert_equal
from shared_files import reference_records, shared_file, shared_records

from gtp_engine.config.sections import NetworkConfig

NETWORKS = {
    "g170-b6c96": "g170-b6c96-s175395328-d26788732.bin.gz",
    "b7c96h3tfrs": "b7c96h3tfrs-test5-cnorm.bin.gz",
    "b7c96h6kv3qk32v16tflrs": "b7c96h6kv3qk32v16tflrs-fson-bnh.bin.gz",
}
HUMAN_NETWORKS = ("hum-b3c24nbt-mish", "hum-b2c16-relu")


def evaluate_records(file: Path, network: str, records: list[dict[str, Any]], folder: Path) -> None:
    """Assert that a network, imported from a file of KataGo's, evaluates as recorded."""
    from gtp_engine.nn.loading import load_evaluator
    from gtp_engine.nn.onnx_export.convert import convert_file

    path = folder / f"{network}.onnx"
    convert_file(file, path)
    config = NetworkConfig(model=str(path), provider="cpu", precision="float32", cache_positions=0)
    evaluator = load_evaluator(config, log=lambda text: None)
    for record in records:
        assert_equal(record, network, evaluator)
    evaluator.close()


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_evaluate_as_in_katago(name: str, tmp_path: Path):
    """The first one all positions, the larger ones a few: their inputs are the same."""
    records = reference_records()
    assert len(records) == 72
    few = records[:: 1 if name == "g170-b6c96" else 6]
    evaluate_records(shared_file(f"nets/{NETWORKS[name]}"), name, few, tmp_path)


@pytest.mark.parametrize("name", HUMAN_NETWORKS)
def test_human_like_networks_evaluate_as_in_katago(name: str, tmp_path: Path):
    records = shared_records("human-sl-reference/records.jsonl.gz")
    assert len(records) == 52
    evaluate_records(shared_file(f"human-sl-reference/{name}.bin.gz"), name, records, tmp_path)
