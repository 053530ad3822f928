"""Bytes of a text file to UTF-8 bytes, with the name of the encoding that was found."""

from __future__ import annotations

import codecs

from calcore.errors import InputError

HEAD = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16"),
)


def to_utf8(data: bytes, filename: str, encoding: str | None = None) -> tuple[bytes, str]:
    """The text as UTF-8 without a byte-order mark and with \\n or \\r\\n line ends, and its encoding.

    A file that looks like UTF-8 is not read to its end here: whoever parses it meets a stray byte and
    calls `legacy`. Raises InputError for bytes that are no text.
    """
    for mark, codec, family in _MARKS:
        if data.startswith(mark) and (encoding is None or _same(encoding, codec) or _same(encoding, family)):
            body = data[len(mark) :]
            return _line_ends(body if codec == "utf-8" else _decode(body, codec, filename)), codec
    if encoding is None:
        encoding = _guess(data, filename)
    if _same(encoding, "utf-8"):
        return _line_ends(data), "utf-8"
    return _line_ends(_decode(data, encoding, filename)), encoding


def mark_of(data: bytes, encoding: str) -> bytes:
    """The byte-order mark that the text begins with, b"" where there is none of this encoding."""
    return next((m for m, codec, _ in _MARKS if data.startswith(m) and _same(encoding, codec)), b"")


def legacy(data: bytes) -> tuple[bytes, str]:
    """Text that is not UTF-8, read as Windows-1252, or Latin-1 where a byte means nothing there."""
    for encoding in ("windows-1252", "latin-1"):
        try:
            return _line_ends(data.decode(encoding).encode()), encoding
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes everything")


def _guess(data: bytes, filename: str) -> str:
    head = data[:HEAD]
    zeros = head.count(0)
    if zeros:
        # Text of any script has zero bytes in UTF-16 (separators, digits, line ends), all on one side.
        even, odd = head[::2].count(0), head[1::2].count(0)
        for codec, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
            if high > 0.1 * len(head) and low <= high / 20 and _readable(head, codec):
                return codec
        line = head[: head.index(0)].count(b"\n") + 1
        raise InputError(
            f"{filename} holds null bytes (the first on line {line}), so it is not a text table; "
            "save it again as CSV or Parquet."
        )
    controls = sum(b < 9 or 13 < b < 32 for b in head[:4096])
    if controls > 0.02 * len(head[:4096]):
        raise InputError(f"{filename} is not a text table; save it as CSV or Parquet.")
    # A character cut in two at the end of the head is no reason to doubt the encoding.
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(data) <= HEAD)
    except UnicodeDecodeError:
        return legacy(data)[1]
    return "utf-8"


def _readable(head: bytes, codec: str) -> bool:
    text = head.decode(codec, "replace")
    odd = sum(not c.isprintable() and c not in "\t\r\n\ufeff" for c in text)
    return odd <= 0.02 * len(text)


def _decode(data: bytes, encoding: str, filename: str) -> bytes:
    try:
        text = data.decode(encoding)
    except LookupError:
        raise InputError(f'"{encoding}" is not an encoding; try utf-8, utf-16 or windows-1252.') from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{filename} cannot be read as {encoding} (line {line}); choose another encoding."
        ) from None
    return text.removeprefix("\ufeff").encode("utf-8", "replace")


def _line_ends(data: bytes) -> bytes:
    head = data[:HEAD]
    if b"\r" in head and b"\n" not in head:
        return data.replace(b"\r", b"\n")
    return data


def _same(a: str, b: str) -> bool:
    try:
        return codecs.lookup(a) == codecs.lookup(b)
    except LookupError:
        return False
