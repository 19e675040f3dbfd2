"""Compiles kernels that only kernels call: to LLVM's intermediate code, which is linked into each caller.

numba generates machine code for every function that it compiles.  A function without a wrapper for Python is never
run on its own, so for these it is left out, and nothing is cached: their callers' files have all the code.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes


class _WithoutMachineCode:
    """numba's code generator, which leaves a function's optimized intermediate code as it is."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def _add_module(self, module: object) -> None:
        """Do nothing instead of passing the code to the generator."""

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: only code that raises or calls Python reads an environment, and kernels do neither."""


class _LinkedLibrary(JITCodeLibrary):
    """The code of a function, to be linked into callers."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(_WithoutMachineCode(codegen), name)

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, numba's address of a function that has no machine code."""
        self._ensure_finalized()
        return 0

    def _finalize_specific(self) -> None:
        """Do nothing instead of completing machine code."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _UseLinkedLibrary(LoweringPass):
    """Makes the lowering that follows write to a `_LinkedLibrary`."""

    _name = "use_linked_library"

    def __init__(self) -> None:
        """Do what numba's base class requires; there is nothing to set."""
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Create the library; return False, as the function is unchanged."""
        state.library = _LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class LinkedCompiler(CompilerBase):
    """numba's compiler, without machine code."""

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's passes with one of our own."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_UseLinkedLibrary, AnnotateTypes)
        passes.finalize()
        return [passes]
