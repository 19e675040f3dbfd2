"""The published networks that can be downloaded by name: where they are, how large, how strong.

`published_networks` gets them.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class PublishedNetwork:
    """A network in a release of KaTrain; sizes are in bytes."""

    name: str
    katrain: str
    """The release."""
    wheel_bytes: int
    wheel_sha256: str
    file_bytes: int
    """Size of KataGo's network file in the wheel."""
    file_sha256: str
    strength: str

    @property
    def requirement(self) -> str:
        """What pip calls the wheel."""
        return f"katrain=={self.katrain}"


PUBLISHED: Final = (
    PublishedNetwork(
        "b10c384h6nbttflrs",
        katrain="1.20.0",
        wheel_bytes=105_970_370,
        wheel_sha256="489caa966fa395a6ad459239641a927e4a2057963370e450109fe77120de662f",
        file_bytes=38_245_488,
        file_sha256="0ba27eced5180b3e3d0b898b280c541112989765e789d1eb6cd0d31b2b2c1229",
        strength="superhuman; the newest of them, a transformer",
    ),
    PublishedNetwork(
        "kata1-b18c384nbt",
        katrain="1.17.1",
        wheel_bytes=124_856_569,
        wheel_sha256="c70e9bc36cc4584b64febe9d1e2d85ae840d75a854997c2a4b3d097cc6ecbad2",
        file_bytes=97_898_094,
        file_sha256="9d7a6afed8ff5b74894727e156f04f0cd36060a24824892008fbb6e0cba51f1d",
        strength="superhuman; convolutions, a larger file; with 8 bits about as strong on 19x19 from 1 s a move",
    ),
    PublishedNetwork(
        "g170e-b15c192",
        katrain="1.13.0",
        wheel_bytes=63_562_523,
        wheel_sha256="1de70c26fa25d2692a29499dfc2e75c085eab8fe0e530b7be806ddea5ab98952",
        file_bytes=36_948_927,
        file_sha256="1579a64e6190c3a8d73eeb96feb4dee1879f9e5e114279b15d6c56dbab3b0f78",
        strength="superhuman with enough time; older and weaker, but several times as fast",
    ),
)
"""Best first."""

BEST: Final = "best"
"""The name that stands for the first of them."""

LICENSE: Final = "KataGo's, see https://katagotraining.org/network_license/; `get` keeps that of the wheel beside it"


def published_network(name: str) -> PublishedNetwork | None:
    """Return the network of that name, or the first for BEST; None if there is none."""
    return ({network.name: network for network in PUBLISHED} | {BEST: PUBLISHED[0]}).get(name)


def network_in_file(sha256: str) -> PublishedNetwork | None:
    """Return the network whose file has this hash, None if there is none."""
    return next((network for network in PUBLISHED if network.file_sha256 == sha256), None)
