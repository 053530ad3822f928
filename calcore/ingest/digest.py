"""The SHA-256 of a file, worked out beside everything else that is done with it."""

from __future__ import annotations

import hashlib
import threading
from typing import Any


class Digest:
    """The SHA-256 of some bytes, hashed in a thread of its own.

    Parsing keeps all cores busy and interpreting only one, so most of the bytes wait until `release` says
    that the parser is done: that is a tenth faster on two cores than hashing everything at once.
    """

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self._released = threading.Event()
        self._value = ""
        self._thread: threading.Thread | None = threading.Thread(target=self._hash, daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Let the rest be hashed now."""
        self._released.set()

    @property
    def value(self) -> str:
        """The digest in hexadecimal; waits for it."""
        self.release()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._content = memoryview(b"")
        return self._value

    def _hash(self) -> None:
        first = len(self._content) // 4
        sha = hashlib.sha256(self._content[:first])
        self._released.wait()
        sha.update(self._content[first:])
        self._value = sha.hexdigest()

    def __reduce__(self) -> tuple[Any, ...]:
        return _finished, (self.value,)


def joined_digest(*parts: str) -> Digest:
    """The digest of a file that was made from others: of their digests, and of how they were put together."""
    return _finished(hashlib.sha256("\0".join(parts).encode()).hexdigest())


def _finished(value: str) -> Digest:
    digest = Digest.__new__(Digest)
    digest._released = threading.Event()
    digest._thread, digest._content, digest._value = None, memoryview(b""), value
    return digest
