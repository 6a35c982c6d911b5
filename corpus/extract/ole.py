"""Files of the old Office kind (OLE2): none has a reader here, but each is told what it is."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from corpus.errors import NotExtractable

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_CONVERT = "an old {} file ({}); open it in an office program and save it as {}"
_STREAMS: tuple[tuple[str, str], ...] = (
    ("WordDocument", _CONVERT.format("Word", "DOC", "DOCX")),
    ("Workbook", _CONVERT.format("Excel", "XLS", "XLSX")),
    ("Book", _CONVERT.format("Excel", "XLS", "XLSX")),
    ("PowerPoint Document", _CONVERT.format("PowerPoint", "PPT", "PPTX")),
    ("__properties_version1.0", "an Outlook message (MSG); save it as EML"),
    ("VisioDocument", "an old Visio drawing (VSD); save it as PDF"),
)
_UNKNOWN = (
    "an old Office file (DOC, XLS or PPT); open it in an office program and save it as DOCX, XLSX "
    "or PPTX"
)
_ENCRYPTED = "EncryptedPackage"
_ENTRY = 128
_HEADER = 512
_MOST_SECTORS = 4096


def refuse(path: Path) -> NotExtractable:
    """Return the reason why the OLE2 file at ``path`` is not read, naming what it is."""
    with path.open("rb") as stream:
        names = list(_names(stream))
    if _ENCRYPTED in names:
        return NotExtractable(
            "it is an Office file (DOCX, XLSX or PPTX) encrypted with a password; "
            "save it without one"
        )
    # Streams of embedded objects come behind those of the document itself.
    known = dict(_STREAMS)
    what = next((known[name] for name in names if name in known), _UNKNOWN)
    return NotExtractable(f"it is {what}", stage="type")


def _names(stream: IO[bytes]) -> Iterator[str]:
    """Yield the names in the directory of an OLE2 file, as far as it is whole."""
    header = stream.read(_HEADER)
    if len(header) < _HEADER:
        return
    (shift,) = struct.unpack_from("<H", header, 30)
    if shift not in (9, 12):
        return
    size = 1 << shift
    tables = struct.unpack_from("<109I", header, 76)
    (sector,) = struct.unpack_from("<I", header, 48)
    per_table = size // 4
    for _ in range(_MOST_SECTORS):
        data = _sector(stream, sector, size)
        for start in range(0, len(data) - _ENTRY + 1, _ENTRY):
            (length,) = struct.unpack_from("<H", data, start + 64)
            if 2 <= length <= 64:
                yield data[start : start + length - 2].decode("utf-16-le", errors="replace")
        if len(data) < size or sector // per_table >= len(tables):
            return
        table = _sector(stream, tables[sector // per_table], size)
        if len(table) < size:
            return
        (sector,) = struct.unpack_from("<I", table, sector % per_table * 4)


def _sector(stream: IO[bytes], number: int, size: int) -> bytes:
    """Return a sector, shorter than ``size`` where the file ends before it does."""
    stream.seek((number + 1) * size)
    return stream.read(size)
