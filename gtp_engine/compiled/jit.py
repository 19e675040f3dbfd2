"""The decorators that compile kernels, and the cache on disk for the compiled code.

`kernel` is numba's `njit` with the options that every compiled function of the engine shares.  Kernels release the
GIL, are cached on disk, and divide like numpy (no exception on division by zero).

They are compiled without numba's reference counting, whose atomic increments took nearly half the time of a random
game (measured side by side: 8,300 against 14,200 games/s on 19×19).  Two rules follow.  A kernel cannot allocate:
`np.empty`, a list or the assignment of a slice to a slice fails to compile, so callers pass work arrays.  And a kernel
must not return an array to Python, which would get the array's reference count wrong; it writes into arrays it is
given and returns numbers.

Compiling all kernels takes the first start half a minute.  Most of that goes into numba's passes over each kernel and
LLVM's over each that Python calls.  Three rules keep it short.  A kernel is compiled without the wrapper that unpacks
Python arguments unless Python calls it.  A small kernel that is called from one place only is a `spliced_kernel`,
compiled only with its caller; large ones are not, as numba's passes slow down with a function's length.  And every
kernel should be called with one signature: numba compiles it once more for an int32 instead of an int64, and for a
literal 0 instead of a variable, hence `wide()`.

Until kernels have been compiled, a process can run their Python source instead (`interpret_until_loaded`), some hundred
times slower: fast enough for a board, and for a small search.  The results are the same but for the last digits of
floating-point numbers, because numpy keeps float32 where numba widens to float64.

The compiled code is cached on disk (`kernel_cache`).  numba is imported when the first kernel is compiled or loaded.
"""

import contextlib
import functools
import threading
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, ParamSpec, SupportsInt, TypeVar, cast

import numpy as np

from gtp_engine.compiled.kernel_cache import compiling

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}


class KernelCall(NamedTuple):
    """A call of a kernel from Python; what is compiled for it depends on the types of the arguments alone."""

    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The kernel's name, with that of its module before a colon."""
        return f"{self.kernel.__module__}:{self.kernel.__qualname__}"

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the arguments, numba's, which can be pickled."""
        return tuple(_numba().typeof(argument) for argument in self.arguments)


def load_kernel(name: str, types: tuple[Any, ...]) -> None:
    """Compile a kernel (`KernelCall.name`) for these types, or load it from the cache; Python calls run that code then.

    Nothing happens if it has been loaded.
    """
    module, _, function = name.partition(":")
    cast("_Kernel", getattr(import_module(module), function)).load(types)


def loaded_kernels() -> dict[str, tuple[Any, ...]]:
    """Return the names of the kernels that this process has loaded, with the types for which it has."""
    return dict(_Kernel.loaded)


def interpret_until_loaded(wanted: Callable[[KernelCall], None] | None) -> None:
    """Let calls from Python run the source of kernels that are not loaded (`load_kernel`).

    `wanted` gets the first call of each of these kernels from now on, before it runs.  With None, as at first, a call
    compiles the kernel or loads it from the cache.
    """
    _Kernel.called = set()
    _Kernel.wanted = staticmethod(wanted) if wanted is not None else None


class _Kernel:
    """A function and its two compiled versions: one that Python calls, one that kernels call.

    Each is compiled on its first call; the one for Python is cached, with the code of all kernels that it calls.  The
    version for kernels lacks the wrapper that unpacks Python's arguments, which for a few boards is larger than most
    kernels, and machine code of its own (`jit_linking`).  Three in four kernels are called by kernels only.
    """

    wanted: ClassVar[Any] = None
    """Gets the first call of each kernel that is interpreted; None if none is, see `interpret_until_loaded`."""

    called: ClassVar[set["_Kernel"]] = set()
    """The kernels of which it got a call."""

    loaded: ClassVar[dict[str, tuple[Any, ...]]] = {}

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Store the function; nothing is compiled yet."""
        functools.update_wrapper(self, function)
        # Both attributes have numba's names: numba reads them to decide whether to splice (`spliced_kernel`).
        self.py_func: Final = function
        self.targetoptions: Final = options
        self._is_loaded = False
        self._entry: Callable[..., Any] | None = None
        """The version for Python without numba's search for one that suits the types of the arguments, which for a few
        boards takes longer than most kernels do.  It is called for arguments of the same classes as those before: the
        arrays of one field or parameter are always of one type."""
        self._classes: tuple[type, ...] = ()
        self._is_called = True
        """Whether what is compiled now is for a call; who loads it says so himself."""

    def __call__(self, *args: Any) -> Any:
        """Run the version for Python, or the source."""
        wanted = _Kernel.wanted
        if wanted is not None and not self._is_loaded:
            if self not in _Kernel.called:
                _Kernel.called.add(self)
                wanted(KernelCall(self, args))
            with np.errstate(all="ignore"):  # hashes overflow on purpose
                result = self.interpreted(*args)
            return result.item() if isinstance(result, np.generic) else result
        classes = tuple(map(type, args))
        if self._entry is not None and classes == self._classes:
            return self._entry(*args)
        result = self._for_python(*args)
        versions = getattr(self._for_python, "overloads", {})  # none with NUMBA_DISABLE_JIT
        if _numba().config.BOUNDSCHECK:  # then every call comes here
            assert len(versions) == 1, f"arguments of {self.py_func.__qualname__} have two types: {[*versions]}"
        elif versions:
            # An OrderedDict looks its values up: Ctrl-C in the hash of a type would be a KeyError.
            self._entry, self._classes = next(iter(dict.values(versions))).entry_point, classes
        return result

    def load(self, types: tuple[Any, ...]) -> None:
        """Compile the version for Python for arguments of these types, or load it from the cache, unless it was."""
        if not self._is_loaded:
            version, self._is_called = self._for_python, False
            version.compile(types)
            _Kernel.loaded[KernelCall(self, ()).name] = types
            self._is_loaded, self._is_called = True, True

    @property
    def _numba_type_(self) -> Any:
        """Return the type of the callee where a kernel calls this one (numba's protocol for any object)."""
        return _numba().types.Dispatcher(self._for_kernels)

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as plain Python; the kernels it calls are plain functions too."""
        function = self.py_func
        names = _without_kernels(function.__globals__)
        return FunctionType(function.__code__, names, function.__name__, function.__defaults__)

    @functools.cached_property
    def _for_python(self) -> Any:
        from gtp_engine.compiled.jit_linking import LeanCompiler, TolerantCache  # here: it imports numba

        version = _numba().njit(**self.targetoptions, pipeline_class=LeanCompiler)(self.py_func)
        if hasattr(version, "_cache"):  # not with NUMBA_DISABLE_JIT, which leaves the function as it is
            version._cache = TolerantCache(self.py_func)  # type: ignore[no-untyped-call]  # numba has no types
            compile_ = version._compiler.compile

            def compile_and_tell(*arguments: Any) -> Any:
                """Compile, and say why a call takes long."""
                with compiling() if self._is_called else contextlib.nullcontext():
                    return compile_(*arguments)

            version._compiler.compile = compile_and_tell
        return version

    @functools.cached_property
    def _for_kernels(self) -> Any:
        function = self.py_func
        twin = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        twin.__qualname__ = f"{function.__qualname__}_for_kernels"
        from gtp_engine.compiled.jit_linking import LinkedCompiler  # here: it imports numba

        options = {**self.targetoptions, "no_cpython_wrapper": True, "pipeline_class": LinkedCompiler}
        return _numba().njit(**options)(twin)


_start_lock: Final = threading.Lock()
_START_ATTEMPTS: Final = 20


@functools.cache
def _numba() -> Any:
    """Return the module numba with the context that all compilers share, which it creates for the first kernel.

    It goes through the built-in names for that, and fails with RuntimeError if another thread adds one meanwhile, as
    the import of onnxruntime does; then it is tried again.
    """
    import numba  # here: it takes most of the time until an engine that interprets answers
    from numba.core.registry import cpu_target

    with _start_lock:
        for attempt in range(1, _START_ATTEMPTS + 1):
            try:
                cpu_target.target_context  # noqa: B018
                break
            except RuntimeError:
                if attempt == _START_ATTEMPTS:
                    raise
    return numba


_plain: Final[dict[int, dict[str, Any]]] = {}
_plain_lock: Final = threading.RLock()


def _without_kernels(names: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a module's globals in which every kernel is a plain function; the same one for every kernel."""
    with _plain_lock:
        plain = _plain.get(id(names))
        if plain is None:
            plain = _plain[id(names)] = dict(names)  # before it is complete: kernels of one module call each other
            for name, value in names.items():
                if isinstance(value, _Kernel):
                    plain[name] = value.interpreted
        return plain


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled by numba on its first call: no GIL, cached on disk, no allocation, numpy division."""
    return cast("Callable[P, R]", _Kernel(function, _OPTIONS))


def inlined_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel that LLVM inlines into each kernel that calls it.

    For small kernels in hot loops: passing a board copies the descriptors of its arrays, some 90 words, which takes
    longer than such a kernel runs.  Not for large kernels called from many places, whose code it would multiply.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "forceinline": True}))


def spliced_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel whose statements numba substitutes for the call when it compiles the calling kernel.

    For a small kernel that is called from one place only: it needs no compilation of its own.  Each further place would
    compile it again.
    """
    return cast("Callable[P, R]", _Kernel(function, {**_OPTIONS, "inline": "always"}))


if TYPE_CHECKING:

    def wide(value: SupportsInt) -> int:
        """Return an integer as int64, in which kernels calculate; array elements and literals have other types."""

else:
    wide = np.int64
