"""What of numba is changed: how kernels are optimized and linked into others, and where compiled code is kept.

Kernels that only kernels call become LLVM's intermediate code, as numba writes it.  A kernel that Python calls is
linked with all that it needs, each once, and LLVM optimizes the whole once.  numba links, optimizes and generates
machine code for every function that it compiles, so that LLVM goes through a kernel again for each level of callers
above it.  A kernel without a wrapper for Python never runs on its own, and nothing of it is cached: its callers' files
have all.
"""

import contextlib
import hashlib
from pathlib import Path
from typing import Any, ClassVar, Final

from llvmlite.binding import Linkage, parse_assembly
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

from gtp_engine.compiled.kernel_cache import PACKAGE, cache_directory, is_in_wing, note_damaged, note_unsaved, wing_hash


class _WithoutMachineCode:
    """numba's code generator for functions that never run on their own."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: only code that raises or calls Python reads an environment, and kernels do neither."""


class _LeanLibrary(JITCodeLibrary):
    """The code of a function, optimized only once it is complete, and kept without its intermediate code."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do the rest of what numba's method does."""
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Link the kernels that this one calls, and those that they call, and complete the code."""
        needed = self._linking_libraries
        for library in needed:  # the list grows meanwhile
            needed += [callee for callee in library._linking_libraries if callee not in needed]
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return what numba keeps of the code, with empty functions in place of the intermediate code.

        Of that code numba reads the functions' names alone: it is for linking into callers, which have a version of
        their own (`jit.kernel`).  Reading it took a third of the time in which kernels are loaded.
        """
        functions = [function for function in self.get_defined_functions() if function.linkage == Linkage.external]
        stubs = "".join(f'define void @"{function.name}"() {{ unreachable }}\n' for function in functions)
        return self.name, "object", (self._get_compiled_object(), parse_assembly(stubs).as_bitcode())


class _LinkedLibrary(_LeanLibrary):
    """The intermediate code of a function without those that it calls, to be linked into kernels that Python calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(_WithoutMachineCode(codegen), name)

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, numba's address of a function that has no machine code."""
        self._ensure_finalized()
        return 0

    def finalize(self) -> None:
        """Do nothing instead of linking, optimizing and generating machine code."""


class LeanCompiler(Compiler):
    """numba's compiler, for a kernel that Python calls."""

    library: ClassVar[type[_LeanLibrary]] = _LeanLibrary

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's passes, which write to a library of ours."""
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        passes: list[PassManager] = super().define_pipelines()
        return passes


class LinkedCompiler(LeanCompiler):
    """The same for a kernel that kernels call, without machine code."""

    library = _LinkedLibrary


class _Locator(_CacheLocator):
    """Keeps the code of a source in the package by its path there, and of any other by its whole path and its text.

    The path of the package does not matter: the folder of the cache is named by all the sources that kernels depend on.
    """

    def __init__(self, function: Any, source: Path) -> None:
        self._line: Final = function.__code__.co_firstlineno
        self._py_file: Final = str(source)  # read by numba's warnings
        package = PACKAGE.resolve()
        if source.is_relative_to(package):
            inside = source.relative_to(package)
            name, stamp = inside.as_posix(), wing_hash() if is_in_wing(inside) else ""
        else:
            name, stamp = str(source), hashlib.sha256(source.read_bytes()).hexdigest()
        self._stamp: Final = stamp
        folder = f"{source.stem}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
        self._cache_path: Final = str(cache_directory() / folder)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        """Return the locator for a function of a source; its folder exists if it can be created."""
        locator = cls(py_func, Path(py_file).resolve())
        with contextlib.suppress(OSError):  # `TolerantCache` reports what cannot be written
            Path(locator._cache_path).mkdir(exist_ok=True)
        return locator

    def get_cache_path(self) -> str:
        """Return the folder for the code."""
        return self._cache_path

    def get_source_stamp(self) -> str:
        """Return what changes with a source that the name of the cache's folder does not depend on."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """Return what distinguishes functions of one name in a source."""
        return str(self._line)


class _SharedCacheImpl(CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Locator]  # type: ignore[misc]  # numba declares no ClassVar


class TolerantCache(FunctionCache):
    """numba's cache on disk for a function's code, which installations of equal sources share.

    Damaged code is compiled again, code that cannot be written runs all the same.
    """

    _impl_class = _SharedCacheImpl

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """Return the code for a signature, None if there is none, or it was cut off as the machine went down.

        numba's method first makes ready to compile, which took nearly half of the time in which kernels are loaded;
        compiling does so anyway.
        """
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # unpickling damaged data raises almost anything
            note_damaged()
            with contextlib.suppress(OSError):
                self.flush()
        return None

    def save_overload(self, sig: object, data: object) -> None:
        """Write the code for a signature."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            note_unsaved(error)
