"""Mail messages: told from other text, and read as their receiver sees them."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.errors import NotExtractable
from corpus.extract import eml, extract
from corpus.extract.sniff import sniff
from tests.test_extract_archive import assert_sound


def message() -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ana Núñez <ana@example.org>"
    mail["To"] = "Workshop <workshop@example.org>"
    mail["Subject"] = "Válvula AX-2041 — torque"
    mail["Date"] = "Thu, 29 Feb 2024 10:05:00 +0100"
    mail["Message-ID"] = "<1@example.org>"
    return mail


def blocks(path: Path) -> list[tuple[str, str]]:
    extracted = extract(path)
    assert_sound(extracted, False)
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def saved(folder: Path, mail: EmailMessage, name: str = "a.eml") -> Path:
    path = folder / name
    path.write_bytes(mail.as_bytes())
    return path


def test_a_message_has_its_subject_people_text_and_attachments(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("Tighten to 45 N·m.\n\nThen check\nthe seal.\n")
    mail.add_alternative("<p>HTML that repeats it</p>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plano ñ.pdf")
    mail.add_attachment("a,b\n", subtype="csv", filename="parts.csv")
    path = saved(tmp_path, mail, "no-suffix")
    assert blocks(path) == [
        ("heading", "Válvula AX-2041 — torque"),
        (
            "paragraph",
            "From: Ana Núñez <ana@example.org> | To: Workshop <workshop@example.org> | "
            "Date: 2024-02-29 10:05 +0100",
        ),
        ("paragraph", "Tighten to 45 N·m."),
        ("paragraph", "Then check\nthe seal."),
        ("row", "Attachments | plano ñ.pdf | parts.csv"),
    ]
    extracted = extract(path)
    assert extracted.title == "Válvula AX-2041 — torque"
    assert extracted.media_type == "message/rfc822"


@pytest.mark.parametrize("plain", ["", " \n"])
def test_html_is_read_where_there_is_no_plain_text(tmp_path: Path, plain: str) -> None:
    mail = message()
    mail.set_content(plain)
    mail.add_alternative("<style>p{}</style><h2>Check</h2><p>the <b>seal</b>", subtype="html")
    assert blocks(saved(tmp_path, mail))[2:] == [("heading", "Check"), ("paragraph", "the seal")]


def test_an_attached_message_is_named_and_not_read(tmp_path: Path) -> None:
    inner = message()
    inner.set_content("inner text")
    mail = message()
    mail.set_content("see below")
    mail.add_attachment(inner)
    found = blocks(saved(tmp_path, mail))
    assert found[2:] == [
        ("paragraph", "see below"),
        ("row", "Attachments | Válvula AX-2041 — torque"),
    ]


def test_a_body_in_another_encoding_than_it_says_is_read_as_it_is(tmp_path: Path) -> None:
    head = b"From: a@b\nDate: x\nSubject: Torque\nContent-Type: text/plain; charset=%s\n\n%s"
    for declared, body, text in (
        (b"iso-8859-1", "año €".encode("cp1252"), "año €"),
        (b"iso-8859-1", "año ñandú".encode(), "año ñandú"),
        (b"no-such-thing", "año".encode(), "año"),
        (b"idna", b"x" * 100, "x" * 100),
    ):
        path = tmp_path / "a.eml"
        path.write_bytes(head % (declared, body))
        assert blocks(path)[-1] == ("paragraph", text)


def test_flowed_lines_are_joined(tmp_path: Path) -> None:
    raw = (
        b"From: a@b\nDate: x\nSubject: y\nContent-Type: text/plain; format=flowed\n\n"
        b"one \ntwo\nthree\n\n-- \nAna\n"
    )
    (tmp_path / "a.eml").write_bytes(raw)
    assert [text for _, text in blocks(tmp_path / "a.eml")][2:] == ["one two\nthree", "--\nAna"]


@pytest.mark.parametrize(
    "text",
    [
        "From: the manual\nSubject: pumps\n\ntext",
        "Title: x\nDate: y\nAuthor: z\n\ntext",
        "From: a\nTo: b\nwhich is prose\nDate: c\n\n",
        "From 0123abc Mon Sep 17 00:00:00 2001\nFrom: a\nDate: b\nSubject: [PATCH] c\n\n",
        "Note: one\nDate: two\nSubject: three\n",
    ],
)
def test_text_that_only_resembles_mail_stays_text(text: str) -> None:
    assert sniff(text.encode(), "a.txt") == "plain"


def test_parts_nested_beyond_sense_are_a_reason() -> None:
    raw = b"From: a\nDate: b\nSubject: c\n"
    for number in range(3_000):
        raw += b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number)
    with pytest.raises(NotExtractable, match="nested too deeply"):
        eml.read(raw + b"\n\ntext", "stem")


@given(st.binary(max_size=300))
def test_any_headers_and_body_are_text(data: bytes) -> None:
    extracted = eml.read(b"From: a@b\nSubject: " + data, "stem")
    assert_sound(extracted, False)
