"""What kind of file the bytes are, told by their first bytes and never by the name."""

from __future__ import annotations

import io
import zipfile

from calcore.errors import InputError

_NOT_TABLES = (
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file", "open it and save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip-compressed file", "unpack it first"),
    (b"BZh", "a bzip2-compressed file", "unpack it first"),
    (b"\xfd7zXZ\x00", "an xz-compressed file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd-compressed file", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"%PDF", "a PDF document", "save the table in it as CSV"),
    (b"\x89PNG", "a picture", "choose a CSV or Parquet file"),
    (b"\xff\xd8\xff", "a picture", "choose a CSV or Parquet file"),
    (b"GIF8", "a picture", "choose a CSV or Parquet file"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"ARROW1", "an Arrow (Feather) file", "save it as Parquet"),
    (b"FEA1", "a Feather file", "save it as Parquet"),
    (b"ORC", "an ORC file", "save it as Parquet"),
    (b"Obj\x01", "an Avro file", "save it as Parquet"),
    (b"\x93NUMPY", "a NumPy array", "save it as CSV with a header"),
    (b"\x89HDF", "an HDF5 file", "save the table in it as CSV or Parquet"),
    (b"\x80\x03", "a Python pickle", "save it as CSV or Parquet"),
    (b"\x80\x04", "a Python pickle", "save it as CSV or Parquet"),
    (b"\x80\x05", "a Python pickle", "save it as CSV or Parquet"),
    (b"\x7fELF", "a program", "choose a CSV or Parquet file"),
    (b"{\\rtf", "a rich-text document", "save the table in it as CSV"),
)
_TEXT_STARTS = (
    (b"<!doctype html", "a web page", "download the file itself and not the page that links to it"),
    (b"<html", "a web page", "download the file itself and not the page that links to it"),
    (b"<?xml", "an XML file", "save the table as CSV"),
    (b"{", "a JSON file", "save it as CSV or Parquet"),
    (b"[{", "a JSON file", "save it as CSV or Parquet"),
    (b"[[", "a JSON file", "save it as CSV or Parquet"),
)


def is_parquet(data: bytes) -> bool:
    """Whether the bytes are a Parquet file."""
    return data[:4] in (b"PAR1", b"PARE")


def refuse_other_kinds(data: bytes, filename: str) -> None:
    """Raise InputError when the bytes are a known kind of file that is no table of text."""
    if data[:4] == b"PK\x03\x04":
        what, remedy = _zip_kind(data)
        raise InputError(f"{filename} is {what}; {remedy} and load that.")
    for start, what, remedy in _NOT_TABLES:
        if data.startswith(start) and (len(start) > 3 or _looks_binary(data)):
            raise InputError(f"{filename} is {what}; {remedy}.")
    # Only the first bytes are looked at: lower-casing the whole file would cost as much as parsing it.
    begin = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for start, what, remedy in _TEXT_STARTS:
        if begin.startswith(start):
            raise InputError(f"{filename} is {what}; {remedy}.")


def _zip_kind(data: bytes) -> tuple[str, str]:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        names = []
    if any(n.startswith("xl/") for n in names) or b"xl/" in data[:4000]:
        return "an Excel file", "save the sheet as CSV"
    if any(n == "content.xml" for n in names):
        return "an OpenDocument file", "save the sheet as CSV"
    if any(n.startswith("word/") for n in names):
        return "a Word document", "save the table in it as CSV"
    return "a zip archive", "unpack it"


def _looks_binary(data: bytes) -> bool:
    head = data[:1024]
    return sum(b < 9 or 13 < b < 32 or b > 126 for b in head) > len(head) * 0.05
