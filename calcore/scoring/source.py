"""Where a file is read from: a path, or bytes that are in memory anyway. It can be opened any number of times."""

from __future__ import annotations

import codecs
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from calcore.errors import InputError

#: Bytes that are read at a time.
PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Source:
    """``name`` is for messages; ``data`` a path or the bytes themselves, of which no copy is made."""

    name: str
    data: str | bytes

    @classmethod
    def of(cls, data: str | bytes, name: str | None = None) -> Source:
        return cls(name or (Path(data).name if isinstance(data, str) else "The file"), data)

    def open(self) -> BinaryIO:
        """Raises InputError where there is nothing to be read."""
        if isinstance(self.data, bytes):
            return io.BytesIO(self.data)
        try:
            return open(self.data, "rb")
        except FileNotFoundError:
            raise InputError(f"There is no file {self.data}; check the path.") from None

    @property
    def size(self) -> int:
        return len(self.data) if isinstance(self.data, bytes) else Path(self.data).stat().st_size

    def start(self, length: int) -> bytes:
        """The first bytes."""
        with self.open() as file:
            return file.read(length)

    def decodes(self, encoding: str) -> bool:
        """Whether all bytes mean something in an encoding; in pieces, for files that fit into no memory."""
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            with self.open() as file:
                while piece := file.read(PIECE):
                    decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True
