"""What is attached to a mail message: files and messages, each under a name of its own.

The texts of a message are no attachments; :mod:`corpus.extract.eml` reads those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from mimetypes import MimeTypes

from corpus.extract.eml import MEDIA_TYPE, children, filename, payload, subject

SMALL_PICTURE_BYTES = 64 * 1024
"""A picture set in the text of a message is left out below this size: a logo, not a scan."""

_LONGEST_NAME = 150
_TEXTS = ("text/plain", "text/html")
_LEFT_OUT = {
    "application/pgp-signature": "a digital signature",
    "application/pkcs7-signature": "a digital signature",
    "application/x-pkcs7-signature": "a digital signature",
    "application/pgp-keys": "a key for signatures",
    "application/pgp-encrypted": "encrypted",
    "application/pkcs7-mime": "encrypted or signed as a whole (S/MIME)",
    "application/x-pkcs7-mime": "encrypted or signed as a whole (S/MIME)",
}
_ARMOUR = {
    b"-----BEGIN PGP MESSAGE": "encrypted",
    b"-----BEGIN PGP SIGNATURE": "a digital signature",
    b"-----BEGIN PGP PUBLIC KEY": "a key for signatures",
}
# The types that Python knows, whatever the machine adds to them.
_TYPES = MimeTypes(filenames=())


@dataclass(frozen=True, slots=True)
class Attachment:
    """One attached file: a name that no other has, without separators; and its bytes.

    ``left_out`` is the reason why it is no document, or empty.
    """

    name: str
    data: bytes = field(repr=False)
    left_out: str = ""


def attachments(data: bytes) -> list[Attachment]:
    """What is attached to a message, in the order of its parts.

    None for a message whose parts are nested beyond all sense, which reading it reports.
    """
    try:
        found = list(_parts(message_from_bytes(data.removeprefix(b"\xef\xbb\xbf"))))
    except RecursionError:
        return []
    names = _Names()
    return [
        Attachment(names.give(stated, kind), content, left_out)
        for stated, kind, content, left_out in found
    ]


def _parts(
    part: Message, *, alternative: bool = False, attached: bool = False
) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield (stated name, media type, bytes, reason to leave it out) of what is no text."""
    kind = part.get_content_type()
    attached = attached or part.get_content_disposition() == "attachment"
    if kind == MEDIA_TYPE:
        for child in children(part):
            yield filename(part) or subject(child), kind, _message(part, child), ""
        return
    if part.is_multipart():
        alternative = kind == "multipart/alternative"
        for child in children(part):
            yield from _parts(child, alternative=alternative, attached=attached)
        return
    name = filename(part)
    is_text = kind in _TEXTS or (alternative and part.get_content_maintype() == "text")
    if is_text and not name and not attached:
        return
    content = payload(part)
    yield name, kind, content, _left_out(part, kind, content, attached=attached)


def _left_out(part: Message, kind: str, content: bytes, *, attached: bool) -> str:
    if reason := _LEFT_OUT.get(kind):
        return reason
    if kind.startswith("image/") and not attached and len(content) < SMALL_PICTURE_BYTES:
        return "a small picture in the text of a message"
    return next((why for begin, why in _ARMOUR.items() if content.startswith(begin)), "")


def _message(part: Message, child: Message) -> bytes:
    """Return an attached message as bytes, decoded where it was wrapped although it must not be."""
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() == "base64":
        wrapped = Message()
        wrapped["Content-Transfer-Encoding"] = "base64"
        wrapped.set_payload(child.get_payload())
        return payload(wrapped)
    return child.as_bytes()


class _Names:
    """Gives names that are safe in a path, and none of them twice."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._counts: dict[str, int] = {}

    def give(self, stated: str, kind: str) -> str:
        name = _bounded(re.sub(r"[/\\]", "_", stated).strip(". "))
        if kind == MEDIA_TYPE and not name.lower().endswith(".eml"):
            name = f"{name or 'message'}.eml"
        if not name:
            name = "attachment" + (_TYPES.guess_extension(kind) or "")
        stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
        given = name
        while given in self._given:
            number = self._counts[name] = self._counts.get(name, 1) + 1
            given = f"{stem} ({number}){dot}{suffix}"
        self._given.add(given)
        return given


def _bounded(name: str) -> str:
    """Shorten a long name in the middle, so that its suffix stays."""
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not 0 < len(suffix.encode()) <= 20:
        stem, dot, suffix = name, "", ""
    room = _LONGEST_NAME - len((dot + suffix).encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + dot + suffix
