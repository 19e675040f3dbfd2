"""How Python functions become kernels, and where compiled code is kept.

    arrays        structures of arrays, which kernels work on
    jit           the decorators `kernel` and its kin; what a kernel may do; interpreting until the code is loaded
    jit_linking   what of numba is changed: kernels that call kernels, the index of the cache
    kernel_cache  the folder of this version's compiled code, named by a hash of the kernels' sources

When kernels are compiled and loaded beside a game is the engine's (`engine.kernels`).
"""
