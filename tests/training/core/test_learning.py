"""What training needs beside the engine is named in one sentence."""

import sys

import pytest

from gtp_engine.errors import ConfigError
from gtp_engine.training.core.learning import check_same, check_torch


def test_without_torch_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r'^training needs PyTorch; install it: pip install "gtp-engine\[train\]"$'):
        check_torch()


def test_a_run_from_before_an_option_can_be_resumed() -> None:
    """AlphaGo's stages and `train plan` said that it has the new option as None."""
    check_same({"batch": 256}, {"batch": 256, "clip": 1.0})
    with pytest.raises(ConfigError, match=r"^the run there has stage None, not value: expected the settings"):
        check_same({"batch": 256}, {"batch": 256, "stage": "value"}, needed=("stage",))
    with pytest.raises(ConfigError, match=r"^the run there has batch 256, not 128: expected the settings"):
        check_same({"batch": 256}, {"batch": 128, "clip": 1.0})
