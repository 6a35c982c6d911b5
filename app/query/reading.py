"""A document as it is read: the passage that was found, and the text around it.

The text is the whole text of the revision in force, in pieces that join to what was extracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.document import Document, Passage
from corpus.scope import Scope
from store.catalogue import Catalogue, Version
from store.errors import UnknownDocument
from store.scope import permitted_documents
from store.similar import Similar, similar_documents

WHOLE = 12_000
"""A text of at most this many characters is always shown whole."""

AROUND = 4
"""How many passages of a longer text are shown before and after the one that was found."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One document opened at one passage.

    ``before + shown + after`` is the text shown, where ``shown`` is the passage's own text, empty
    without a passage; ``left_out`` are the numbers of characters not shown before and after.
    ``number`` counts passages from 1, and is 0 without one. ``ocr`` says that the passage, or
    without one any of the document, was recognised in a picture. ``note`` is a sentence for the
    reader where the address asked for something that is no longer in force. ``similar`` are
    documents nearly the same as this one that the reader may see.
    """

    document: Document
    version: int
    passage: Passage | None
    number: int
    passages: int
    before: str
    after: str
    left_out: tuple[int, int]
    previous: str
    following: str
    note: str = ""
    similar: tuple[Similar, ...] = ()
    ocr: bool = False

    @property
    def shown(self) -> str:
        return self.passage.text if self.passage else ""

    @property
    def citation(self) -> str:
        """One line that names the place: title, revision, page, version, passage or document."""
        page = [f"p. {self.passage.page}"] if self.passage and self.passage.page else []
        name = self.passage.passage_id if self.passage else self.document.doc_id
        return ", ".join(
            [
                self.document.title,
                f"revision {self.document.revision}",
                *page,
                f"corpus version {self.version}",
                name,
            ]
        )


def read_document(
    catalogue: Catalogue,
    version: Version,
    doc_id: str,
    passage_id: str = "",
    *,
    whole: bool = False,
    groups: tuple[str, ...] = (),
) -> Reading:
    """Open ``doc_id`` as it stands in ``version``, at ``passage_id`` where one is given, for a
    member of ``groups``.

    :raises UnknownDocument: it is not live in that version, or this reader may not see it
    """
    permitted = permitted_documents(catalogue, version, Scope(groups=groups))
    if permitted is not None and doc_id not in permitted:
        raise UnknownDocument(f"version {version.number} has no document {doc_id!r}")
    document = catalogue.document(version.number, doc_id)
    text = catalogue.text(version, doc_id)
    passages = catalogue.passages(version, doc_id)
    place = next((i for i, entry in enumerate(passages) if entry.passage_id == passage_id), None)
    note = ""
    if passage_id and place is None:
        note = (
            f"The passage {passage_id} is not in force any more: version {version.number} has "
            f"revision {document.revision} of this document, shown from its beginning."
        )
    start, end = _window(text, passages, place, whole)
    passage = passages[place] if place is not None else None
    return Reading(
        document=document,
        version=version.number,
        passage=passage,
        number=0 if place is None else place + 1,
        passages=len(passages),
        before=text[start : passage.start] if passage else "",
        after=text[passage.end if passage else start : end],
        left_out=(start, len(text) - end),
        previous=passages[place - 1].passage_id if place else "",
        following=_following(passages, place),
        note=note,
        similar=similar_documents(catalogue, version, [doc_id], permitted).get(doc_id, ()),
        ocr=any(entry.ocr for entry in ([passage] if passage else passages)),
    )


def _window(
    text: str, passages: Sequence[Passage], place: int | None, whole: bool
) -> tuple[int, int]:
    """The half-open stretch of ``text`` to show."""
    if whole or len(text) <= WHOLE or not passages:
        return 0, len(text)
    middle = place or 0
    first, last = middle - AROUND, middle + AROUND
    return (
        passages[first].start if first > 0 else 0,
        passages[last].end if last < len(passages) - 1 else len(text),
    )


def _following(passages: Sequence[Passage], place: int | None) -> str:
    following = 0 if place is None else place + 1
    return passages[following].passage_id if following < len(passages) else ""
