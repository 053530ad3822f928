"""Files that a command writes: never over another one unasked, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from calcore.errors import InputError


def refuse_existing(out: str, force: bool, *read: str) -> None:
    """Raise InputError where ``out`` is a file already (unless ``force``), one of those read, or in no folder."""
    if out == "-":
        return
    path = Path(out)
    if any(os.path.exists(one) and os.path.exists(out) and os.path.samefile(one, out) for one in read):
        raise InputError(f"{out} is the file that is read; write to another one.")
    if path.is_dir():
        raise InputError(f"{out} is a folder; give the name of a file in it.")
    if path.exists() and not force:
        raise InputError(f"{out} is there already; give another name, or --force to replace it.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"There is no folder {path.absolute().parent}; make it, or choose another one.")


@contextmanager
def whole_file(out: str) -> Iterator[BinaryIO]:
    """A file that takes its name only when all of it is written: a run that fails leaves nothing behind."""
    path = Path(out).absolute()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); choose another folder.") from None
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
        # mkstemp lets nobody else read; a file that was asked for gets the usual rights
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
