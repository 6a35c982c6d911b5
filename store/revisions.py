"""The texts of revisions that are no longer in force."""

from __future__ import annotations

from store.catalogue import Catalogue, Version


def revision_text(catalogue: Catalogue, version: Version, doc_id: str, revision: int) -> str | None:
    """The text of one revision of a document, as the extractor of ``version`` reads it where it
    did, else as the last one did that read it. None where there is no such revision or text."""
    rows = catalogue.rows(
        "SELECT e.text FROM revisions AS r JOIN extractions AS e ON e.sha256 = r.sha256 "
        "WHERE r.doc_id = :doc_id AND r.revision = :revision "
        "ORDER BY e.extractor = :extractor DESC, e.rowid DESC LIMIT 1",
        doc_id=doc_id,
        revision=revision,
        extractor=version.shape.extractor,
    )
    found = next(rows, None)
    return None if found is None else str(found["text"])
