"""The running text of Word files: what of a paragraph's markup is seen on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement

from corpus.extract.docx_styles import value

_P, _TBL = qn("w:p"), qn("w:tbl")
_R, _SDT = qn("w:r"), qn("w:sdt")
_PROMPTING = f"{qn('w:sdtPr')}/{qn('w:showingPlcHdr')}"
_HIDDEN = f"{qn('w:rPr')}/{qn('w:vanish')}"
_TEXT = frozenset({qn("w:t"), qn("m:t")})
_BREAKS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:noBreakHyphen"): "-",
}
_FIELD = qn("w:fldChar")
_BOX = qn("w:txbxContent")
_ALTERNATES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
# Deleted text, properties and the phonetic guides above a line are not on the page.
UNSEEN = frozenset({qn("w:del"), qn("w:moveFrom"), qn("w:rt"), qn("w:pPr")})
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES|STYLEREF)\b", re.I)


def within(parent: BaseOxmlElement, tag: str) -> Iterator[BaseOxmlElement]:
    """Yield the nearest descendants called ``tag``, through content controls and the like."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in (_P, _TBL, _BOX, *UNSEEN) and not is_prompt(child):
            yield from within(child, tag)


def _pieces(parent: BaseOxmlElement, with_boxes: bool, fields: list[str]) -> Iterator[str]:
    """Yield the visible text below ``parent``; ``fields`` are the instructions of open fields."""
    for child in parent:
        tag = child.tag
        if is_prompt(child) or (tag == _R and _is_hidden(child)):
            continue
        if tag == _FIELD:
            kind = child.get(qn("w:fldCharType"))
            if kind == "begin":
                fields.append("")
            elif kind == "end" and fields:
                fields.pop()
        elif tag == qn("w:instrText"):
            if fields:
                fields[-1] += child.text or ""
        elif tag == qn("w:fldSimple") and _PAGE_FIELD.match(child.get(qn("w:instr")) or ""):
            continue
        elif tag in _TEXT:
            if not any(map(_PAGE_FIELD.match, fields)):
                yield child.text or ""
        elif tag in _BREAKS:
            yield _BREAKS[tag]
        elif tag == qn("w:sym"):
            yield _symbol(child)
        elif tag == _ALTERNATES:
            yield from _pieces(_chosen(child), with_boxes, fields)
        elif tag not in UNSEEN and (with_boxes or tag != _BOX):
            yield " " if tag == _P else ""
            yield from _pieces(child, with_boxes, fields)


def words(parent: BaseOxmlElement, with_boxes: bool = False) -> str:
    """Return the text of a paragraph; that of text boxes anchored in it only on demand."""
    return "".join(_pieces(parent, with_boxes, []))


def cell_words(cell: BaseOxmlElement) -> str:
    """Return the text of a cell without that of tables nested in it."""
    return " ".join(words(paragraph) for paragraph in within(cell, _P))


def is_prompt(element: BaseOxmlElement) -> bool:
    """Say whether a content control still shows the prompt to fill it in."""
    return bool(element.tag == _SDT and element.find(_PROMPTING) is not None)


def _is_hidden(run: BaseOxmlElement) -> bool:
    """Say whether a run is formatted to be hidden; marks of fields are followed all the same."""
    vanish = run.find(_HIDDEN)
    if vanish is None or value(vanish).lower() in ("0", "false", "off"):
        return False
    return run.find(_FIELD) is None and run.find(qn("w:instrText")) is None


def _symbol(element: BaseOxmlElement) -> str:
    """Return a symbol given by number; those of symbol fonts have no character of their own."""
    try:
        code = int(element.get(qn("w:char")) or "", 16)
    except ValueError:
        return ""
    return "" if 0xE000 <= code <= 0xF8FF or not 0 < code < 0x110000 else chr(code)


def _chosen(alternates: BaseOxmlElement) -> BaseOxmlElement:
    """Return the one branch of alternate content that is read: the first choice."""
    choice = alternates.find(_CHOICE)
    fallback = alternates.find(_FALLBACK)
    return next((branch for branch in (choice, fallback) if branch is not None), alternates)


def boxes(parent: BaseOxmlElement) -> Iterator[BaseOxmlElement]:
    """Yield the text boxes anchored in a paragraph or cell, once each."""
    for child in parent:
        if child.tag == _BOX:
            yield child
        elif child.tag == _ALTERNATES:
            yield from boxes(_chosen(child))
        elif child.tag not in UNSEEN and child.tag != _TBL:
            yield from boxes(child)
