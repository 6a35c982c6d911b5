"""Words: what an archive is made of, and how a file becomes passages."""

from corpus.document import Block, Document, Extracted, Passage, Span, passage_id
from corpus.judging import GRADES, Judgment, Topic, query_key
from corpus.scope import Scope

__all__ = [
    "GRADES",
    "Block",
    "Document",
    "Extracted",
    "Judgment",
    "Passage",
    "Scope",
    "Span",
    "Topic",
    "passage_id",
    "query_key",
]
