"""What kind of document a ZIP archive is, told by what it says of itself inside."""

from __future__ import annotations

from typing import Literal
from zipfile import ZipFile

from corpus.errors import NotExtractable
from corpus.extract.xml_parts import attribute, parse

PackageKind = Literal["docx", "xlsx", "pptx", "odt", "ods", "odp", "epub"]

_TYPES = "[Content_Types].xml"
_LONGEST_TYPES = 4 * 1024 * 1024
# A main part's content type, lower case, from its end: macro-enabled files, templates and slide
# shows differ only in what stands before.
_MAIN: tuple[tuple[str, str], ...] = (
    ("wordprocessingml.document.main+xml", "docx"),
    ("wordprocessingml.template.main+xml", "docx"),
    ("ms-word.document.macroenabled.main+xml", "docx"),
    ("ms-word.template.macroenabledtemplate.main+xml", "docx"),
    ("spreadsheetml.sheet.main+xml", "xlsx"),
    ("spreadsheetml.template.main+xml", "xlsx"),
    ("ms-excel.sheet.macroenabled.main+xml", "xlsx"),
    ("ms-excel.template.macroenabled.main+xml", "xlsx"),
    ("ms-excel.addin.macroenabled.main+xml", "xlsx"),
    ("presentationml.presentation.main+xml", "pptx"),
    ("presentationml.template.main+xml", "pptx"),
    ("presentationml.slideshow.main+xml", "pptx"),
    ("ms-powerpoint.presentation.macroenabled.main+xml", "pptx"),
    ("ms-powerpoint.template.macroenabled.main+xml", "pptx"),
    ("ms-powerpoint.slideshow.macroenabled.main+xml", "pptx"),
)
_PARTS: tuple[tuple[str, PackageKind], ...] = (
    ("word/document.xml", "docx"),
    ("xl/workbook.xml", "xlsx"),
    ("ppt/presentation.xml", "pptx"),
)
_ODF = "application/vnd.oasis.opendocument."
_ODF_KINDS: dict[str, PackageKind] = {
    "text": "odt",
    "text-template": "odt",
    "text-master": "odt",
    "spreadsheet": "ods",
    "spreadsheet-template": "ods",
    "presentation": "odp",
    "presentation-template": "odp",
}
_READABLE: dict[str, PackageKind] = {kind: kind for _, kind in _PARTS}


def kind_of(package: ZipFile) -> PackageKind:
    """Tell the kind of document in ``package``; raises NotExtractable where there is none."""
    mimetype = _mimetype(package)
    if mimetype.startswith(_ODF):
        return _open_document(package, mimetype.removeprefix(_ODF))
    names = set(package.namelist())
    if mimetype == "application/epub+zip" or "META-INF/container.xml" in names:
        return "epub"
    declared = _declared(package, names)
    if declared:
        return declared
    for part, kind in _PARTS:
        if part in names:
            return kind
    raise NotExtractable("it is a ZIP archive; unpack it to have its files searched", stage="type")


def _mimetype(package: ZipFile) -> str:
    try:
        with package.open("mimetype") as stream:
            return stream.read(256).decode("ascii", errors="replace").strip().lower()
    except KeyError:
        return ""


def _open_document(package: ZipFile, subtype: str) -> PackageKind:
    kind = _ODF_KINDS.get(subtype)
    if kind is None:
        raise NotExtractable(
            f"it is an OpenDocument file of the kind {subtype!r}, which has no reader here; "
            "save it as PDF",
            stage="type",
        )
    try:
        manifest = package.read("META-INF/manifest.xml")
    except KeyError:
        manifest = b""
    if b"encryption-data" in manifest:
        raise NotExtractable(
            "the OpenDocument file is encrypted with a password; save it without one"
        )
    return kind


def _declared(package: ZipFile, names: set[str]) -> PackageKind | None:
    """Return the kind that the list of content types gives the main part, or None."""
    if _TYPES not in names or package.getinfo(_TYPES).file_size > _LONGEST_TYPES:
        return None
    types = {
        attribute(entry, "ContentType").lower() for entry in parse(package.read(_TYPES), _TYPES)
    }
    if any("ms-excel.sheet.binary" in stated for stated in types):
        raise NotExtractable(
            "it is a binary spreadsheet (XLSB), which has no reader here; save it as XLSX",
            stage="type",
        )
    for ending, kind in _MAIN:
        if any(stated.endswith(ending) for stated in types):
            return _READABLE[kind]
    if any("ms-visio" in stated for stated in types):
        raise NotExtractable(
            "it is a drawing (Visio), which has no reader here; save it as PDF", stage="type"
        )
    return None
