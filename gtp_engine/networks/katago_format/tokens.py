"""Splits the bytes of a KataGo network file into words, numbers and arrays of floats.

A file consists of words separated by white space.  An array is written either as words, or as `@BIN@` and little-endian
float32; both forms may occur in one file.
"""

import gzip
import re
import zlib
from typing import Final

import numpy as np

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.networks.katago_format.description import Floats

_WORD: Final = re.compile(rb"\s*(\S+)")
_BINARY_MARK: Final = re.compile(rb"\s*@BIN@")
_LONGEST_WORD: Final = 1000
"""Bytes; names are shorter, and error messages must not show binary data without white space."""
_BYTES_PER_TEXT_FLOAT: Final = 16
"""First guess of a float's length in text, including white space; it only affects speed."""
_GZIP_MARK: Final = b"\x1f\x8b"


def uncompressed(data: bytes) -> bytes:
    """Return `data`, decompressed if it is gzipped; raises ModelError if it is damaged."""
    if not data.startswith(_GZIP_MARK):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise ModelError(problem(f"damaged gzip data ({error})", advice="download the file again")) from error


class Source:
    """Reads uncompressed `data` from start to end.

    Every method raises ModelError, naming `what` it should have read, when it finds something else.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def word(self, what: str) -> str:
        """Return the next word."""
        found = _WORD.match(self._data, self._position, self._position + _LONGEST_WORD)
        if not found:
            raise ModelError(problem("the file ends too early", expected=what, advice="download it again"))
        self._position = found.end()
        return found[1].decode("ascii", errors="replace")

    def integer(self, what: str, *, least: int = 0, most: int = 1 << 20) -> int:
        """Return the next word as an integer between `least` and `most`."""
        word = self.word(what)
        try:
            number = int(word)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise ModelError(problem(f"{what} {shown(word)}", expected=f"an integer from {least} to {most}"))
        return number

    def flag(self, what: str) -> bool:
        """Return the next word, 0 or 1, as a truth value."""
        return self.integer(what, most=1) == 1

    def positive(self, what: str) -> float:
        """Return the next word as a positive finite number."""
        word = self.word(what)
        try:
            number = float(word)
        except ValueError:
            number = 0.0
        if not (number > 0 and np.isfinite(number)):
            raise ModelError(problem(f"{what} {shown(word)}", expected="a positive number"))
        return number

    def unused(self, what: str, count: int) -> None:
        """Skip `count` reserved numbers, which must be zero."""
        for _ in range(count):
            if (word := self.word(what)) != "0":
                raise ModelError(problem(f"{what} {shown(word)}", expected="0", advice="a newer Tengen may support it"))

    def floats(self, what: str, shape: tuple[int, ...]) -> Floats:
        """Return the next array, of `shape`."""
        count = int(np.prod(shape, dtype=np.int64))
        mark = _BINARY_MARK.match(self._data, self._position)
        array = self._binary_floats(what, count, mark.end()) if mark else self._text_floats(what, count)
        if not np.isfinite(array).all():
            raise ModelError(problem(f"{what} holds a weight that is not a finite number", advice="download it again"))
        return array.reshape(shape)

    def _binary_floats(self, what: str, count: int, start: int) -> Floats:
        end = start + 4 * count
        if end > len(self._data):
            raise ModelError(problem(f"the file ends within {what}", advice="download it again"))
        self._position = end
        return np.frombuffer(self._data, "<f4", count, start).astype(np.float32)

    def _text_floats(self, what: str, count: int) -> Floats:
        size = _BYTES_PER_TEXT_FLOAT * (count + 1)
        while True:
            chunk = self._data[self._position : self._position + size]
            words = chunk.split(None, count)
            at_end = self._position + size >= len(self._data)
            if len(words) > count or at_end:  # one word more than needed, so the last needed one is complete
                break
            size *= 2
        if len(words) < count:
            raise ModelError(problem(f"the file ends within {what}", advice="download it again"))
        self._position += len(chunk) - (len(words[count]) if len(words) > count else 0)
        try:
            return np.array(words[:count], dtype=np.bytes_).astype(np.float32)
        except ValueError as error:
            raise ModelError(problem(f"{what} holds a weight that is not a number")) from error
