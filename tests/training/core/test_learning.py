"""What training needs beside the engine is named in one sentence."""

import sys

import pytest

from gtp_engine.base.errors import ConfigError
from gtp_engine.training.core.learning import check_torch


def test_without_torch_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"^training needs PyTorch; install it: .*(torch>=2\.9|\[train\])"):
        check_torch()
