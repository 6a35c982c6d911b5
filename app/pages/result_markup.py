"""HTML of an answer: the fused rows, the lists side by side, the table of all parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape

from app.pages.markup import Link, anchor, folded_below, letter, marked, ocr_label, similar_to
from app.query.best_passages import Extract, place_of
from app.query.explain import part_in_words, share
from app.query.fuse import Contribution, FusedHit, Part, Reason
from app.query.highlight import Snippet
from app.query.present import Row, overlap
from app.query.search import SearchResult
from app.query.side_by_side import FUSED, Column, Entry
from app.query.systems import CODES, LEXICAL, PRIOR, TITLE
from corpus.document import Document
from corpus.judging import GRADES, Judgment
from store.similar import Similar

_NOT_MATCHED = {
    LEXICAL: "matches too little by words",
    CODES: "has no code of the query",
    TITLE: "matches too little in its title",
    PRIOR: "has nothing to be ranked by",
}

DAY = len("2024-02-29")


def sign_in_hint() -> str:
    """What a reader who is not signed in can do."""
    return '<p class="cp-hint">Sign in to label these documents.</p>'


def legend() -> str:
    """What the grades mean."""
    items = "".join(
        f"<span><b>{grade}</b> {escape(words)}</span>" for grade, words in sorted(GRADES.items())
    )
    return f'<p class="cp-hint cp-legend">{items}</p>'


def label_remark(label: Judgment | None, revision: int) -> str:
    """What is stored of a row, as the archive says it; the buttons only show what was clicked."""
    if label is None:
        return ""
    grade = " as unrateable" if label.grade is None else ""
    older = f" for rev {label.revision}" if label.revision != revision else ""
    return f'<p class="cp-remark">stored{grade}{older}</p>'


def exact_sum(hit: FusedHit) -> str:
    """The sum as it was computed, and its decimal.

    >>> part = Contribution("lexical", 1, Fraction(1), Fraction(1, 61))
    >>> exact_sum(FusedHit("a", 1, (part,)))
    '1/61 ≈ 0.0164'
    """
    terms = [str(part.value) for part in hit.parts if isinstance(part, Contribution)]
    total = f" = {hit.score}" if len(terms) > 1 else ""
    return f"{' + '.join(terms)}{total} ≈ {float(hit.score):.4f}"


def chip(part: Part) -> str:
    """One system's part of a score: its rank, or its absence in words."""
    name = letter(part.system)
    if isinstance(part, Contribution):
        return (
            f'<span class="cp-chip cp-{name}" title="{escape(part.system)} rank {part.rank}">'
            f"{name} {part.rank}</span>"
        )
    return f'<span class="cp-absent">— {name} {escape(absence(part))}</span>'


def absence(part: Part) -> str:
    """Why a system gives nothing, in words for a reader."""
    words = part_in_words(part)
    if words == str(Reason.NOT_MATCHED):
        return _NOT_MATCHED.get(part.system, words)
    return "could not answer" if words == str(Reason.UNAVAILABLE) else words


def bar(hit: FusedHit) -> str:
    """Each system's share of the score, as lengths."""
    shares = [(part.system, share(part, hit.score)) for part in hit.parts]
    words = escape(", ".join(f"{system} {percent(value)}" for system, value in shares))
    pieces = "".join(
        f'<i class="cp-{letter(system)}" style="flex-grow:{float(value):.4f}"></i>'
        for system, value in shares
        if value
    )
    return f'<span class="cp-bar" role="img" aria-label="{words}" title="{words}">{pieces}</span>'


def percent(value: Fraction) -> str:
    """A share from 0 to 1 in percent."""
    return f"{float(value * 100):.1f} %"


def row(entry: Row, address: Link) -> str:
    """One fused hit: where it stands, what it is, what matched, and why it is here."""
    document, passage = entry.document, entry.passage
    page = [f"p. {passage.page}"] if passage.page else []
    path = _path(passage.headings, document.title)
    if len(entry.extracts) > 1:  # each has its own page and heading
        page, path = [], ""
    meta = [*page, document.language, f"rev {document.revision}"]
    more = len(document.locations) - 1
    place = document.locations[0] if document.locations else ""
    places = f" and {more} more" if more > 0 else ""
    return (
        '<article class="cp-row"><div class="cp-head">'
        f'<span class="cp-rank">{entry.hit.rank}</span>'
        f"{anchor(document.title, address(document.doc_id, passage.passage_id))}"
        f'<span class="cp-meta">{ocr_label(passage.ocr)}'
        f"{' · '.join(escape(item) for item in meta if item)}</span></div>"
        f'<div class="cp-place" title="{escape(chr(10).join(document.locations))}">'
        f"{escape(place)}{places}{path}{_said(document)}</div>"
        f"{similar_to(document, _not_folded(entry), address)}"
        f"{folded_below(document, entry.folded, address)}"
        f"{_passages(entry, address)}"
        f'<div class="cp-parts">{"".join(chip(part) for part in entry.hit.parts)}{bar(entry.hit)}'
        f'<span class="cp-sum">{exact_sum(entry.hit)}</span></div></article>'
    )


def _not_folded(entry: Row) -> list[Similar]:
    below = {one.document.doc_id for one in entry.folded}
    return [one for one in entry.similar if one.document.doc_id not in below]


def _said(document: Document) -> str:
    """Who wrote a document, the day it states, as written, and its tags."""
    items = [document.author, document.dated[:DAY], ", ".join(document.tags)]
    return "".join(f" · {escape(item)}" for item in items if item)


def _path(headings: Sequence[str], title: str) -> str:
    """The headings above a passage, without the one that only repeats the title."""
    inner = headings[1:] if headings and headings[0] == title else headings
    return "".join(f" › {escape(heading)}" for heading in inner)


def _passages(entry: Row, address: Link) -> str:
    """What matched: one passage, or the best ones in reading order, each with its place."""
    if len(entry.extracts) < 2:
        return f'<p class="cp-snippet">{_snippet(entry.snippet, entry.passage.text)}</p>'
    items = "".join(_extract(extract, entry.document, address) for extract in entry.extracts)
    return f'<ol class="cp-passages">{items}</ol>'


def _extract(extract: Extract, document: Document, address: Link) -> str:
    passage = extract.passage
    link = anchor(
        place_of(passage, document.title), address(document.doc_id, passage.passage_id), ""
    )
    earned = (
        '<span class="cp-earned" title="the passage that earned the rank">earned rank</span> '
        if extract.earned
        else ""
    )
    first = ' class="cp-first"' if extract.first else ""
    return (
        f"<li{first}>{link}{ocr_label(passage.ocr)} {earned}"
        f"{_snippet(extract.snippet, passage.text)}</li>"
    )


def _snippet(piece: Snippet, text: str) -> str:
    before = "…" if piece.start else ""
    after = "…" if piece.start + len(piece.text) < len(text) else ""
    return f"{before}{marked(piece.text, piece.marks)}{after}"


def footer(result: SearchResult) -> str:
    """How many candidates came from where, and how long each step took."""
    record = result.record
    lists = ", ".join(f"{len(ranking.hits)} {ranking.system}" for ranking in record.rankings)
    steps = result.timings_ms
    detail = ", ".join(
        f"{step} {steps[step]:.0f}"
        for step in ("encode", *(ranking.system for ranking in record.rankings), "fuse")
        if step in steps
    )
    every = "both" if len(record.rankings) == 2 else "all"
    return (
        f'<p class="cp-foot">{len(record.fused)} candidates: {escape(lists)}, '
        f"{overlap(result)} in {every}"
        f" · {sum(steps.values()):.0f} ms ({escape(detail)})</p>"
    )


def side_by_side(columns: Sequence[Column], address: Link) -> str:
    """The lists next to each other; pointing at a document lights it up in all of them."""
    entries = {entry.id: entry for column in columns for entry in column.entries}
    number = {name: place for place, name in enumerate(entries)}
    titles = Counter(entry.document.title for entry in entries.values())
    systems = [column.name for column in columns if column.name != FUSED]
    lists = "".join(_list(column, systems, number, titles, address) for column in columns)
    rules = "".join(
        f".cp-lists:has(.cp-d{place}:hover) .cp-d{place}{{background:var(--cp-lit)}}"
        for place in number.values()
    )
    return f'<style>{rules}</style><div class="cp-lists">{lists}</div>'


def _list(
    column: Column,
    systems: Sequence[str],
    number: Mapping[str, int],
    titles: Mapping[str, int],
    address: Link,
) -> str:
    others = systems if column.name == FUSED else [FUSED]
    items = "".join(
        f'<li class="cp-d{number[entry.id]}{_lone(entry, systems)}">'
        f'<span class="cp-rank">{entry.ranks[column.name]}</span>'
        f"{_named(entry, titles, address)}"
        f'<span class="cp-went">{_ranks(entry, others)}</span></li>'
        for entry in column.entries
    )
    return (
        f'<section class="cp-list cp-list-{letter(column.name)}"><h3>{escape(column.name)}</h3>'
        f"<p>{escape(_extent(column))}</p><ol>{items}</ol></section>"
    )


def _named(entry: Entry, titles: Mapping[str, int], address: Link) -> str:
    """The title, with the place where two documents share it."""
    document = entry.document
    title = anchor(document.title, address(document.doc_id, entry.passage_id))
    place = document.locations[0] if document.locations and titles[document.title] > 1 else ""
    return f"<div>{title}{f'<small>{escape(place)}</small>' if place else ''}</div>"


def _lone(entry: Entry, systems: Sequence[str]) -> str:
    return "" if all(system in entry.ranks for system in systems) else " cp-lone"


def _ranks(entry: Entry, systems: Sequence[str]) -> str:
    return "".join(
        f'<span class="cp-chip cp-{letter(system)}">{letter(system)} {entry.ranks[system]}</span>'
        if system in entry.ranks
        else f'<span class="cp-absent">no {letter(system)}</span>'
        for system in systems
    )


def _extent(column: Column) -> str:
    """How far a list goes, in words."""
    if column.name == FUSED:
        return f"{column.length} candidates, {len(column.entries)} shown"
    if column.unavailable:
        return "could not answer"
    if column.not_asked:
        return f"not asked: {column.not_asked}"
    end = "exhausted: it has no more" if column.exhausted else "cut there: it has more"
    return f"depth {column.depth}, {column.length} found, {end}"


def why_table(rows: Sequence[Row], address: Link) -> str:
    """Every part of every row: what was summed, exactly."""
    heads = "".join(
        f"<th>{name}</th>" for name in ("system", "rank", "weight", "fraction", "decimal", "share")
    )
    lines = "".join(_why_lines(entry, address) for entry in rows)
    return (
        f'<div class="cp-scroll"><table class="cp-why"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def _why_lines(entry: Row, address: Link) -> str:
    hit, document = entry.hit, entry.document
    title = anchor(document.title, address(document.doc_id, entry.passage.passage_id))
    lines = [f'<tr class="cp-whose"><td colspan="6">{hit.rank}. {title}</td></tr>']
    for part in hit.parts:
        sign = letter(part.system)
        name = f'<td class="cp-{sign}">{sign} {escape(part.system)}</td>'
        if isinstance(part, Contribution):
            cells = (
                f"<td>{part.rank}</td><td>{part.weight}</td><td>{part.value}</td>"
                f"<td>{float(part.value):.6f}</td><td>{percent(share(part, hit.score))}</td>"
            )
        else:
            cells = f'<td colspan="5" class="cp-absent">{escape(absence(part))}</td>'
        lines.append(f"<tr>{name}{cells}</tr>")
    total = f"<td>{hit.score}</td><td>{float(hit.score):.6f}</td><td></td>"
    return "".join(lines) + f'<tr class="cp-total"><td>sum</td><td></td><td></td>{total}</tr>'
