"""The metadata of a network file: the `tengen.…` properties of an ONNX file.

    tengen.format         "1"
    tengen.kind           policy, value, rollout or policy+value
    tengen.encoder        katago-v7, katago-v7-human, alphago-48 or alphago-49: what its inputs are
    tengen.planes         number of planes of the input `spatial`
    tengen.globals        number of values of the input `globals`; "0" where there is none
    tengen.sizes          boards it plays: "2-25" for all widths and heights in between, "9x9" for that one only
    tengen.name           its name, for people
    tengen.precision      float32 or int8
    tengen.pass           policy if the policy has an entry for passing, else none
    tengen.model_version  KataGo's version of the outputs; "0" for other encoders
    tengen.scales         JSON object of output multipliers, with the names of `Scales`
    tengen.suicide_area   "1" if the encoder must treat suicide as legal in pass-alive areas, under all rules
    tengen.ownership      "1" if a value network that is not of KataGo's kind has an ownership output
    tengen.advantages     "1" if it was trained with playout doubling advantages; without this property, networks from
                          KataGo were
    tengen.origin         origin of the weights, for people
    tengen.license        their licence, for people
    tengen.source_sha256  hash of the file they were converted from
    tengen.quantization   how an int8 network was quantized and how it compares: a JSON object (`quantized_copy`)
    tengen.quantized_from SHA-256 of the float32 file that an int8 network was made from
    tengen.evaluation     what it found in a position of random stones when it was written: a JSON object (`loading`)

The last eleven may be missing.  Outputs are raw; their shapes are:

    katago-v7…      policy [B, P, H·W + 1] logits, P = 1 or 2 (the second is the optimistic policy), passing last;
                    value [B, 3] logits of win, loss, no result; misc [B, 6] score mean, score deviation, lead, time
                    left, short-term errors of win-loss and score; ownership [B, H·W] before tanh.  Before model
                    version 9 misc ends after the time left, or after the lead (networks trained here)
    alphago, policy and rollout   policy [B, H·W] or [B, H·W + 1] logits
    alphago, value                value [B, 1], −1 to 1; perhaps ownership [B, H·W] before tanh

all for the side to move.  B, H and W are free dimensions called batch, height and width.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from gtp_engine.base.errors import ModelError, shown, shown_path
from gtp_engine.base.files import json_of, read_regular, replacing, write_whole, writing
from gtp_engine.evaluation.evaluator_info import BoardSizes
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE

FORMAT: Final = "1"
KINDS: Final = ("policy", "value", "rollout", "policy+value")
KATAGO_ENCODER: Final = "katago-v7"
HUMAN_ENCODER: Final = "katago-v7-human"
ENCODERS: Final = (KATAGO_ENCODER, HUMAN_ENCODER, "alphago-48", "alphago-49")
PRECISIONS: Final = ("float32", "int8")
PASSES: Final = ("policy", "none")

_FIRST_WITH_ERRORS: Final = 9
"""KataGo's first model version with usable outputs for time left and errors (also in `decode`, for its kernels)."""

PROFILE_INPUTS: Final = 192
"""Global values that describe the players whom a network imitates (`nn.encoders`)."""

NETWORK_FILE: Final = "network file"
"""What messages call a file that is written."""

_PREFIX: Final = "tengen."
_HOW_TO_GET_ONE: Final = "import a KataGo network with `gtp-engine models import`"
_SIZES: Final = re.compile(r"(\d{1,2})([-x])(\d{1,2})")


@dataclass(frozen=True)
class Scales:
    """What KataGo's outputs are multiplied by; the defaults are those before model version 13.

    The unit is points for score_mean, score_stdev and lead, turns for time_left; the last two multiply squared errors.
    """

    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    time_left: float = 40.0
    winloss_error: float = 0.25
    score_error: float = 30.0


@dataclass(frozen=True)
class NetworkInfo:
    """The metadata of a network file, checked; the fields are explained above.

    For example:

        info = read_metadata("network.onnx")
        print(info.name, info.encoder, info.sizes)
    """

    kind: str
    encoder: str
    planes: int
    globals_: int
    sizes: BoardSizes
    name: str
    precision: str
    passes: str
    model_version: int = 0
    scales: Scales = Scales()
    suicide_area: bool = False
    ownership: bool = False
    advantages: bool = False
    origin: str = ""
    license: str = ""
    source_sha256: str = ""

    @property
    def has_ownership(self) -> bool:
        """Whether the network has an ownership output."""
        return self.ownership or (self.is_katago and "value" in self.kind)

    @property
    def is_katago(self) -> bool:
        """Whether inputs and outputs are those of KataGo's networks."""
        return self.encoder in (KATAGO_ENCODER, HUMAN_ENCODER)

    @property
    def knows_cleanup(self) -> bool:
        """Whether it was trained on the clean-up phases of KataGo's territory rules: converted networks were."""
        return self.is_katago and bool(self.source_sha256)

    @property
    def has_errors(self) -> bool:
        """Whether its output `misc` has usable values for time left and short-term errors."""
        return self.model_version >= _FIRST_WITH_ERRORS

    @property
    def needs_profile(self) -> bool:
        """Whether a profile of players is among its inputs (`config.human`)."""
        return self.encoder == HUMAN_ENCODER

    def is_interchangeable(self, other: "NetworkInfo") -> bool:
        """Return whether another network has the same inputs and outputs, so that either may evaluate a position."""
        ours = replace(self, sizes=other.sizes, name=other.name, precision=other.precision, origin=other.origin)
        ours = replace(ours, license=other.license, source_sha256=other.source_sha256)
        return ours == other and self.knows_cleanup == other.knows_cleanup

    def properties(self) -> dict[str, str]:
        """Return the metadata as the properties of a file."""
        values = {"format": FORMAT} | {_KEYS[name]: _text_of(value) for name, value in vars(self).items()}
        return {_PREFIX + key: value for key, value in values.items()}


_KEYS: Final = {field.name: field.name for field in fields(NetworkInfo)} | {"globals_": "globals", "passes": "pass"}
"""The properties without their prefix, by the names of the fields."""

_REQUIRED: Final = tuple(_KEYS[field.name] for field in fields(NetworkInfo) if field.default is MISSING)


def info_of(properties: Mapping[str, str]) -> NetworkInfo:
    """Return the metadata in the properties of a file; raises ModelError naming what is missing or wrong."""
    values = {key.removeprefix(_PREFIX): text for key, text in properties.items() if key.startswith(_PREFIX)}
    if "format" not in values:
        raise ModelError("not a network of this engine: it has no tengen metadata", advice=_HOW_TO_GET_ONE)
    if values["format"] != FORMAT:
        raise ModelError(
            f"network format {shown(values['format'])}", expected=FORMAT, advice="another version of Tengen wrote it"
        )
    if missing := [_PREFIX + key for key in _REQUIRED if key not in values]:
        raise ModelError(f"the network's metadata lacks {', '.join(missing)}", advice=_HOW_TO_GET_ONE)
    is_from_katago = values["encoder"] == KATAGO_ENCODER and bool(values.get("source_sha256"))
    return NetworkInfo(
        kind=_choice(values, "kind", KINDS),
        encoder=_choice(values, "encoder", ENCODERS),
        planes=_count(values, "planes", least=1),
        globals_=_count(values, "globals"),
        sizes=_sizes(values["sizes"]),
        name=values["name"],
        precision=_choice(values, "precision", PRECISIONS),
        passes=_choice(values, "pass", PASSES),
        model_version=_count(values, "model_version"),
        scales=_scales(values.get("scales", "{}")),
        suicide_area=_count(values, "suicide_area") == 1,
        ownership=_count(values, "ownership") == 1,
        advantages=_count(values, "advantages") == 1 if "advantages" in values else is_from_katago,
        origin=values.get("origin", ""),
        license=values.get("license", ""),
        source_sha256=values.get("source_sha256", ""),
    )


def read_metadata(path: Path | str) -> NetworkInfo:
    """Return the metadata of a network file; raises ModelError with the file's name.

    For example:

        sizes = read_metadata("network.onnx").sizes
    """
    properties = read_properties(path)
    try:
        return info_of(properties)
    except ModelError as error:
        raise ModelError(f"{shown(Path(path).name)}: {error}") from error


def _text_of(value: object) -> str:
    """Return the text of a property for the value of a field."""
    if isinstance(value, Scales):
        return json.dumps(asdict(value))
    return str(int(value) if isinstance(value, bool) else value)


def _wrong(key: str, text: str, expected: str) -> ModelError:
    return ModelError(f"the network's metadata {_PREFIX}{key} {shown(text)}", expected=expected)


def _choice(values: Mapping[str, str], key: str, choices: tuple[str, ...]) -> str:
    if values[key] not in choices:
        raise _wrong(key, values[key], f"one of {', '.join(choices)}")
    return values[key]


def _count(values: Mapping[str, str], key: str, least: int = 0) -> int:
    text = values.get(key, "0")
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII) or int(text) < least:
        raise _wrong(key, text, f"a whole number from {least} up")
    return int(text)


def _sizes(text: str) -> BoardSizes:
    if found := _SIZES.fullmatch(text):
        first, second = int(found[1]), int(found[3])
        if found[2] == "x" and all(MIN_SIZE <= side <= MAX_SIZE for side in (first, second)):
            return BoardSizes((first, first), (second, second))
        if found[2] == "-" and MIN_SIZE <= first <= second <= MAX_SIZE:
            return BoardSizes((first, second), (first, second))
    raise _wrong("sizes", text, f"a range such as {MIN_SIZE}-{MAX_SIZE} or one size such as 9x9")


def _scales(text: str) -> Scales:
    names = {field.name for field in fields(Scales)}
    try:
        values = json_of(text)
        if not isinstance(values, dict) or not values.keys() <= names:
            raise ValueError
        return Scales(**{name: float(value) for name, value in values.items()})
    except (ValueError, TypeError) as error:
        raise _wrong("scales", text, f"a JSON object of numbers with the names {', '.join(sorted(names))}") from error


_SHAPES: Final = {
    KATAGO_ENCODER: ("policy+value", 22, 19, "policy"),
    HUMAN_ENCODER: ("policy+value", 22, 19 + PROFILE_INPUTS, "policy"),
    "alphago-48": ("policy", 48, 0, "none"),
    "alphago-49": ("value", 49, 0, "none"),
}
"""The usual kind, planes, globals and pass of a network, by its encoder."""


def write_metadata(path: Path | str, *, encoder: str, name: str, sizes: str, **more: str | float | bool) -> NetworkInfo:
    """Write the metadata of an ONNX file into it, so that the engine plays with it; return what was written.

    `sizes` are the boards it plays: "9x9", or "2-25" for all widths and heights in between.  `more` are the other
    fields that this module's docstring lists, without "tengen.": kind, planes, globals, precision, pass (spelled
    `passes`), model_version, origin, license …; by default those that networks with this encoder have.  They replace
    all that the file had; other properties stay.  Raises ModelError for values that do not fit, for what is not an
    ONNX file, and for one that cannot be written.

        write_metadata("network.onnx", encoder="katago-v7", name="mine", sizes="9x9")
    """
    kind, planes, globals_, passes = _SHAPES.get(encoder, _SHAPES[KATAGO_ENCODER])
    values: dict[str, object] = {"format": FORMAT, "kind": kind, "encoder": encoder, "planes": planes}
    values |= {"globals": globals_, "sizes": sizes, "name": name, "precision": "float32", "pass": passes}
    values |= {_KEYS.get(key, key): value for key, value in more.items()}
    if unknown := values.keys() - {"format", *_KEYS.values()}:
        optional = [key for key in _KEYS.values() if key not in _REQUIRED]
        raise ModelError(f"metadata {', '.join(sorted(unknown))}", expected=", ".join(optional))
    texts = {_PREFIX + key: _text_of(value) for key, value in values.items()}
    info, file = info_of(texts), Path(path)
    others = {key: text for key, text in read_properties(file).items() if not key.startswith(_PREFIX)}
    model = _onnx().ModelProto()
    try:
        model.ParseFromString(read_network_file(file))
    except Exception as error:  # protobuf's own, whose class depends on how it was built
        raise _no_network(file) from error
    _check_inputs(info, model.graph, file)
    _onnx().helper.set_model_props(model, others | texts)
    with writing(file, ModelError, "network"):
        write_whole(file, model.SerializeToString())
    return info


def write_model(model: Any, target: Path, check: Callable[[Path], None]) -> None:
    """Write an `onnx.ModelProto` to `target`, replacing an older file once the new one has passed `check`.

    Raises ModelError if it cannot be written, and what `check` raises.
    """
    with writing(target, ModelError, NETWORK_FILE):
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as unfinished:
            unfinished.write_bytes(model.SerializeToString())
            check(unfinished)


def add_property(path: Path, key: str, text: str) -> None:
    """Add a property to an ONNX file that does not have it yet; raises OSError."""
    more = _onnx().ModelProto()
    more.metadata_props.add(key=key, value=text)
    with path.open("ab") as file:  # fields of a protocol buffer may come in any order
        file.write(more.SerializeToString())


def _onnx() -> Any:
    import onnx  # here: playing does not need it

    return onnx


def _check_inputs(info: NetworkInfo, graph: Any, file: Path) -> None:
    """Raise ModelError for a graph whose inputs are not those that the metadata declares, as far as it says."""
    if not graph.input:
        raise _no_network(file)
    shapes = {entry.name: entry.type.tensor_type.shape.dim for entry in graph.input}
    found = {name: shape[1].dim_value if len(shape) > 1 else 0 for name, shape in shapes.items()}  # 0: it may vary
    wanted = {"spatial": info.planes} | ({"globals": info.globals_} if info.globals_ else {})
    if any(found.get(name) not in (0, channels) for name, channels in wanted.items()):
        given = f"inputs {found} of {shown(file.name)}"
        raise ModelError(given, expected=f"{wanted} for {info.encoder}", advice="name another encoder")


# An ONNX file is a protocol buffer: fields, each a number and a value.  Reading only the metadata needs no library and
# skips the weights, so that a folder of networks is listed quickly.

MAX_NETWORK_BYTES: Final = 2**31 - 1
"""Longest protocol buffer; the largest networks have half a gigabyte."""

_GRAPH_FIELD: Final = 7
_METADATA_FIELD: Final = 14
"""`graph` and `metadata_props` of ONNX's ModelProto; the latter holds a key in field 1 and a value in field 2."""
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def read_network_file(path: str | Path) -> bytes:
    """Return what a network file of any format holds; raises ModelError."""
    try:
        return read_regular(path, MAX_NETWORK_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise ModelError(f"network file {shown_path(path)} cannot be read ({reason})") from error


def read_properties(path: str | Path) -> dict[str, str]:
    """Return the metadata properties of an ONNX file, without parsing its graph; raises ModelError."""
    data = read_network_file(path)
    try:
        parts = [(number, message if number == _METADATA_FIELD else b"") for number, message in _fields(data)]
        if _GRAPH_FIELD not in dict(parts):
            raise ValueError("no graph")
        texts = [{key: text.decode() for key, text in _fields(part)} for _, part in parts if part]
        return {text[1]: text.get(2, "") for text in texts}
    except (IndexError, KeyError, ValueError) as error:
        raise _no_network(Path(path)) from error


def _no_network(path: Path) -> ModelError:
    return ModelError(f"{shown(path.name)} is damaged or no ONNX file", advice=_HOW_TO_GET_ONE)


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of those fields of a message that hold bytes; raises ValueError or IndexError."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind, start = tag & 7, position
        if kind == _VARINT:
            _, position = _varint(data, position)
        elif kind == _BYTES:
            length, start = _varint(data, position)
            position = start + length
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            position += 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"field of kind {kind}")
        if position > len(data):
            raise ValueError("cut off")
        if kind == _BYTES:
            yield tag >> 3, data[start:position]


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a number that has seven bits in each byte, the lowest first, and the position after it."""
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return number, position
        if shift > 63:
            raise ValueError("number too long")
