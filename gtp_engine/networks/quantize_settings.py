"""The settings of a quantization; apart from `quantization`, as the command line reads them without loading onnx."""

from dataclasses import dataclass
from typing import Final

from gtp_engine.config.option import Section, option

GOOD_ENOUGH: Final = 0.0005
"""Policy KL from float32, in nats, up to which all layers are quantized, measured on calibration positions.  On other
positions the KL is nearly twice that, which is no more than b6c96 and b15c192 lose (`quantization.quantize`)."""

GOOD_ENOUGH_WINRATE: Final = 0.003
"""The same limit for the winrate error, which may be large where the policy KL is small (`calibration`)."""


@dataclass(frozen=True)
class QuantizeSettings(Section, name="quantize"):
    """The settings of a quantization.

    `good_enough` and `good_enough_winrate` are the losses up to which all layers are quantized, without measuring each.
    """

    positions: int = option(
        768,
        "Positions to take from games: two thirds for calibration, one third for validation.",
        low=48,
        high=100_000,
    )
    seed: int = option(1, "Seed of the games.", low=0)
    # If the network is accurate, `sensitivity.OUTLIER_SHARE` is the limit where that is smaller.
    float_share: float = option(
        0.4,
        "Largest share of the work left in floating point, for the layers that lose most accuracy; at most 0.1 if the "
        "network is accurate in 8 bits.",
        low=0,
        high=1,
    )
    provider: str = option(
        "auto",
        "What runs the network for these measurements, as in `gtp-engine --provider`.",
        unit="name",
    )
    threads: int = option(0, "Threads of the network; 0: one for each core.", low=0)
    good_enough: float = GOOD_ENOUGH
    good_enough_winrate: float = GOOD_ENOUGH_WINRATE
