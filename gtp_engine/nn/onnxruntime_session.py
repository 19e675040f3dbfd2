"""A network in ONNX Runtime: on graphics cards, and on the processor where OpenVINO is missing or to compare it with.

The only module that imports onnxruntime.  Some providers are part of it; others come in a package of their own, a
plug-in (`Provider.plug_in`), which is registered when the providers are listed or the first session is created.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.providers import PROVIDERS, Provider, Runtime, thread_count

_FATAL_ONLY: Final = 4
"""ONNX Runtime's log level: warnings about the graph mean nothing to a user, and errors come as exceptions too."""

_VENDORS: Final = {0x1002: "AMD", 0x106B: "Apple", 0x10DE: "NVIDIA", 0x5143: "Qualcomm", 0x8086: "Intel"}
"""Makers of graphics cards by the number that PCI gives them."""


class Cards(NamedTuple):
    """The devices of a provider as ONNX Runtime lists them, and, if there are none, why (a sentence)."""

    devices: Sequence[Any]
    trouble: str

    def names(self) -> list[str]:
        """Return what each device is called."""
        return [_name(entry.device) for entry in self.devices]


def available_providers() -> Sequence[str]:
    """Return the execution providers that onnxruntime was built with; each of them may still fail to load.

    Raises whatever its import raises: ImportError where a library of the system is missing, anything if it is damaged.
    """
    return list(_onnxruntime().get_available_providers())


def is_plugged_in(provider: Provider) -> bool:
    """Return whether the package of a plug-in is installed."""
    return bool(provider.plug_in) and find_spec(provider.plug_in) is not None


@functools.cache
def cards_of(provider: Provider) -> Cards:
    """Return the devices of a provider; a plug-in is registered with ONNX Runtime, once.

    Discrete cards come first.  A provider that is part of ONNX Runtime may have devices that are not listed.  Raises
    what the import of onnxruntime raises.
    """
    onnxruntime = _onnxruntime()
    if provider.plug_in:
        try:
            library = import_module(provider.plug_in).get_library_path()
            onnxruntime.register_execution_provider_library(provider.plug_in, library)
        except Exception as error:  # a library of the system is missing, or onnxruntime is older than the plug-in
            why = shown(str(error).strip().split("\n")[0], length=300)
            return Cards([], f"{provider.title} cannot be used: {why}; {provider.driver}")
    list_devices = getattr(onnxruntime, "get_ep_devices", list)  # since 1.22
    found = [entry for entry in list_devices() if entry.ep_name == provider.onnx_name]
    found.sort(key=lambda entry: entry.device.metadata.get("Discrete") != "1")
    trouble = "" if found else f"{provider.title} is installed but finds no graphics card; {provider.driver}"
    return Cards(found, trouble)


def plug_in_troubles() -> dict[str, str]:
    """Return why plug-ins that are installed cannot be used, a sentence for each, by the name of the provider."""
    installed = {name: provider for name, provider in PROVIDERS.items() if is_plugged_in(provider)}
    return {name: trouble for name, provider in installed.items() if (trouble := cards_of(provider).trouble)}


class OnnxRuntimeSession:
    """A loaded network; one thread runs it at a time.

    `model` is an ONNX file or its bytes; `dimensions` fixes free axes by name.  Raises ModelError if the provider does
    not start; what ONNX Runtime raises otherwise is not translated.
    """

    def __init__(self, model: str | bytes, runtime: Runtime, dimensions: Mapping[str, int], *, threads: int) -> None:
        onnxruntime = _onnxruntime()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _FATAL_ONLY
        for name, size in dimensions.items():
            options.add_free_dimension_override_by_name(name, size)
        options.intra_op_num_threads = thread_count(threads)
        # Threads that wait by spinning take the processor from a front end or an opponent on the same machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Without VNNI, sums of two 8-bit products overflow in the faster of its algorithms.
        options.add_session_config_entry("session.x64quantprecision", "1")
        provider, number = runtime.provider, runtime.device - 1
        if provider.plug_in:
            cards = cards_of(provider)
            if cards.trouble:
                raise ModelError(cards.trouble)
            device = cards.devices[runtime.place_of_device(cards.names())]
            # WebGPU chooses the card itself, and takes no more than this wish.
            settings = {"powerPreference": "low-power"} if provider.name == "webgpu" and number > 0 else {}
            options.add_provider_for_devices([device], settings)
            session = onnxruntime.InferenceSession(model, options)
        else:
            how = {"device_id": str(number)} if number >= 0 else {}
            providers = [(provider.onnx_name, how)]
            session = onnxruntime.InferenceSession(model, options, providers=providers, enable_fallback=0)
        if provider.onnx_name not in session.get_providers():
            raise ModelError(f"{provider.title} could not be started", advice=provider.advice)
        self._session: Final = session
        self.inputs: Final = {entry.name: entry.shape[1] for entry in session.get_inputs() if len(entry.shape) > 1}
        """Values per position and point of each input, by its name."""
        self.outputs: Final = [entry.name for entry in session.get_outputs()]
        """The names of the outputs."""

    def run(self, feeds: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs by name, for inputs by name."""
        return dict(zip(self.outputs, self._session.run(self.outputs, feeds), strict=True))


def _onnxruntime() -> Any:
    """Return the module onnxruntime, which logs nothing and reports nothing.

    Since 1.29 it keeps an identifier of the machine, collects what is run, and sends it to its makers, without asking;
    its import decides whether it does.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # here: networks can be run without it

    onnxruntime.set_default_logger_severity(_FATAL_ONLY)
    return onnxruntime


def _name(device: Any) -> str:
    """Return what a device is called: its description where the system has one, else maker and numbers."""
    described = str(device.metadata.get("Description", ""))
    maker = _VENDORS.get(device.vendor_id) or device.vendor or "unknown maker"
    return described or f"{maker} {device.type.name} {device.vendor_id:04x}:{device.device_id:04x}"
