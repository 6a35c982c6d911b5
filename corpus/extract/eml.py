"""Mail messages (EML): subject, who wrote to whom and when, the text, and names of attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import html
from corpus.extract.build import Builder, flow
from corpus.extract.charset import believable
from corpus.extract.plain import FALLBACK, decode
from corpus.text import clean

MEDIA_TYPE = "message/rfc822"

_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]*):(?:[ \t]|\r?$)")
_OF_MAIL = re.compile(
    rb"(?:from|to|cc|date|subject|message-id|received|return-path|delivered-to|reply-to|sender"
    rb"|mime-version|content-type|x-mailer|in-reply-to|references)$"
)
_FEWEST = 3
_SENT = frozenset((b"date", b"received", b"message-id"))
_ADDRESSES = ("From", "To", "Cc")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


def looks_like_mail(head: bytes) -> bool:
    """Say whether a file begins as a mail message does.

    Every line up to the first empty one must be a header or continue one, and among them must be
    From, one that only sent mail has, and three known names in all.
    """
    names: set[bytes] = set()
    lines = head.lstrip(b"\xef\xbb\xbf").split(b"\n")
    for line in lines:
        if not line.strip():
            break
        if line[:1] in (b" ", b"\t") and names:
            continue
        found = _HEADER.match(line)
        if found is None:
            return False
        names.add(found[1].lower())
    return (
        b"from" in names
        and bool(_SENT & names)
        and sum(map(bool, map(_OF_MAIL.match, names))) >= _FEWEST
    )


def read(data: bytes, stem: str, *, fallback: str = FALLBACK) -> Extracted:
    """Extract a message: its subject as heading, its sender and date, its text, its attachments.

    The text is the plain one where there is one, else that of the HTML. Attachments are named in
    one row; :mod:`corpus.extract.attachments` has what is in them. Raises NotExtractable for parts
    nested beyond all sense.
    """
    builder = Builder()
    try:
        message = message_from_bytes(data.lstrip(b"\xef\xbb\xbf"))
        bodies = list(_bodies(message))
        names = list(_attachments(message))
    except RecursionError as error:
        raise NotExtractable("its parts are nested too deeply to be a message") from error
    about = subject(message)
    builder.heading(about, 1)
    stated = [(name, _header(message, name)) for name in _ADDRESSES]
    builder.says(author=_person(stated[0][1]), date=_header(message, "Date"))
    stated.append(("Date", _date(_header(message, "Date"))))
    builder.paragraph(" | ".join(f"{name}: {value}" for name, value in stated if value))
    for body in bodies:
        _body(body, builder, fallback)
    if names:
        builder.row(["Attachments", *names])
    return builder.finish(about or stem, MEDIA_TYPE)


def subject(message: Message) -> str:
    """Return what a message says it is about, or nothing."""
    return _header(message, "Subject")


def _header(message: Message, name: str) -> str:
    """Return a header's text, its encoded words decoded as far as they can be."""
    return _decoded(message.get(name, ""))


def _decoded(value: object) -> str:
    raw = str(value)
    try:
        return flow(str(make_header(decode_header(raw))))
    except (LookupError, ValueError, HeaderParseError):
        return flow(raw)


def _person(sender: str) -> str:
    """Return the name of who wrote, or the address where there is no name."""
    name, address = parseaddr(sender)
    return name or address or sender


def _date(stated: str) -> str:
    """Return a date as ``2024-02-29 10:00 +0100``, or as it stands where it is no date."""
    try:
        return parsedate_to_datetime(stated).strftime("%Y-%m-%d %H:%M %z").strip()
    except (ValueError, IndexError, OverflowError):
        return stated


def _bodies(part: Message) -> Iterator[Message]:
    """Yield the text parts to read: of alternatives the plain one, unless it is blank."""
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or kind == "message/rfc822":
        return
    if not part.is_multipart():
        if kind in ("text/plain", "text/html") and not filename(part):
            yield part
        return
    readings = [list(_bodies(child)) for child in children(part)]
    if kind != "multipart/alternative":
        for reading in readings:
            yield from reading
        return
    filled = [reading for reading in readings if any(payload(body).strip() for body in reading)]
    plain = (
        reading
        for reading in filled
        if all(body.get_content_type() == "text/plain" for body in reading)
    )
    yield from next(plain, filled[-1] if filled else [])


def children(part: Message) -> list[Message]:
    """Return the parts that a part is made of, or the message that it holds."""
    held = part.get_payload()
    return [c for c in held if isinstance(c, Message)] if isinstance(held, list) else []


def payload(part: Message) -> bytes:
    """Return the bytes of a part, its transfer encoding undone."""
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _attachments(part: Message) -> Iterator[str]:
    """Yield the names of attached files, and the subjects of attached messages."""
    if part.get_content_type() == "message/rfc822":
        for child in children(part):
            yield filename(part) or subject(child) or "a message"
        return
    if part.is_multipart():
        for child in children(part):
            yield from _attachments(child)
    elif name := filename(part):
        yield name


def filename(part: Message) -> str:
    """Return the name that a part is to be saved under, its encoded words decoded, or nothing."""
    try:
        return _decoded(part.get_filename("") or "")
    except (LookupError, ValueError):
        return ""


def _body(part: Message, builder: Builder, fallback: str) -> None:
    data = payload(part)
    is_html = part.get_content_type() == "text/html"
    stated = part.get_param("charset")
    declared = believable(stated, data) if isinstance(stated, str) else None
    if is_html and not stated:
        declared = html.declared_charset(data)
    decoded = decode(data, declared=declared, fallback=fallback)
    builder.notes.extend(note for note in decoded.notes if note not in builder.notes)
    if is_html:
        html.fragment(decoded.text, builder)
        return
    text = clean(decoded.text)
    if str(part.get_param("format", "")).lower() == "flowed":
        text = _unflowed(text)
    for paragraph in _BLANK_LINES.split(text):
        lines = [line.rstrip() for line in paragraph.strip("\n").split("\n")]
        builder.add("paragraph", "\n".join(lines).strip())


def _unflowed(text: str) -> str:
    """Join the lines that only the width of a screen had parted: all but a signature's mark."""
    return re.sub(r"(?<!\n-- )(?<!^-- )(?<= )\n(?!\n|>)", "", text)
