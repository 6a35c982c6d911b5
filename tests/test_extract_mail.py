"""Mail messages: told from other text, and read as their receiver sees them."""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.containers import MAX_DEPTH, container_kind, unpack
from corpus.errors import NotExtractable
from corpus.extract import eml, extract
from corpus.extract.attachments import SMALL_PICTURE_BYTES, attachments
from corpus.extract.sniff import sniff
from store.catalogue import Catalogue
from tests.conftest import Workplace
from tests.test_containers import zipped
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


def test_an_attached_message_is_named_in_the_text_and_no_part_of_it(tmp_path: Path) -> None:
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


def test_attachments_are_what_is_no_text_of_the_message() -> None:
    inner = message()
    inner.set_content("inner text")
    mail = message()
    mail.set_content("plain")
    mail.add_alternative("<p>HTML <img src='cid:logo'>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plano ñ.pdf")
    mail.add_attachment("notes", subtype="plain", filename="notes.txt")
    mail.add_attachment(inner)
    found = attachments(mail.as_bytes())
    assert [(entry.name, entry.left_out) for entry in found] == [
        ("plano ñ.pdf", ""),
        ("notes.txt", ""),
        ("Válvula AX-2041 — torque.eml", ""),
    ]
    assert found[0].data == b"%PDF-1.4"
    assert eml.read(found[2].data, "stem").text.endswith("inner text")


def test_names_of_attachments_are_safe_and_distinct() -> None:
    mail = message()
    mail.set_content("see below")
    stated = ["../../etc/passwd", "a/b\\c.txt", "a.pdf", "a.pdf", "a (2).pdf", "..", ".hidden"]
    for name in [*stated, "é" * 400 + ".docx"]:
        mail.add_attachment(b"x", maintype="application", subtype="pdf", filename=name)
    names = [entry.name for entry in attachments(mail.as_bytes())]
    assert names[:-1] == [
        "_.._etc_passwd",
        "a_b_c.txt",
        "a.pdf",
        "a (2).pdf",
        "a (2) (2).pdf",
        "attachment.pdf",
        "hidden",
    ]
    assert names[-1] == "é" * 72 + ".docx"


def test_signatures_and_small_pictures_in_the_text_are_no_documents() -> None:
    mail = message()
    mail.set_content("<img src='cid:logo'>", subtype="html")
    for size in (100, SMALL_PICTURE_BYTES):
        mail.add_related(bytes(size), "image", "png", cid=f"<{size}>")
    mail.add_attachment(bytes(100), maintype="image", subtype="png", filename="scan.png")
    mail.add_attachment(b"x", maintype="application", subtype="pgp-signature", filename="s.asc")
    mail.add_attachment(
        b"-----BEGIN PGP MESSAGE-----", maintype="application", subtype="octet-stream"
    )
    assert [(entry.name, entry.left_out) for entry in attachments(mail.as_bytes())] == [
        ("attachment.png", "a small picture in the text of a message"),
        ("attachment (2).png", ""),
        ("scan.png", ""),
        ("s.asc", "a digital signature"),
        ("attachment.bin", "encrypted"),
    ]


def test_a_message_that_was_wrapped_in_base64_is_unwrapped() -> None:
    inner = b"From: a@b\nDate: x\nSubject: inner\n\nthe seal\n"
    raw = (
        b"From: a@b\nDate: x\nSubject: y\nMIME-Version: 1.0\n"
        b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
    )
    (found,) = attachments(raw + b64encode(inner))
    assert found.data == inner


@given(st.binary(max_size=300), st.sampled_from(["multipart/mixed; boundary=b", "message/rfc822"]))
def test_any_parts_have_names_that_lead_nowhere(data: bytes, kind: str) -> None:
    raw = b"From: a@b\nMIME-Version: 1.0\nContent-Type: " + kind.encode() + b"\n\n--b\n" + data
    names = [entry.name for entry in attachments(raw)]
    assert len(set(names)) == len(names)
    assert not any("/" in name or name in ("", ".", "..") for name in names)


def test_an_attachment_is_found_and_cited_under_its_message(
    workplace: Workplace, shared: Path
) -> None:
    """The message stays one document, with what it brought beside it; what it lost is retired."""
    files = shared / "cases/files"
    mail = message()
    mail.set_content("The drawing of the anodizing bath is attached.")
    for name in ("pdf_plain.pdf", "docx_table_header_box.docx"):
        mail.add_attachment(
            (files / name).read_bytes(),
            maintype="application",
            subtype="octet-stream",
            filename=name,
        )
    bundle = zipped({"gasket.md": b"# Gasket\n\nThe quillwort gasket leaks."})
    mail.add_attachment(bundle, maintype="application", subtype="zip", filename="bundle.zip")
    bomb = zipped({"zeros": bytes(40 * 1024**2)})
    mail.add_attachment(bomb, maintype="application", subtype="zip", filename="bomb.zip")
    path = saved(workplace.files, mail, "mail.eml")
    workplace.write("other.txt", "Something else.")
    report = workplace.ingest()
    assert report.failed == []
    assert [(problem.path, problem.reason[:13]) for problem in report.skipped] == [
        ("mail.eml/bomb.zip", "it is refused")
    ]
    assert report.outcomes["added"] == 5
    assert workplace.ids("anodizing", "lexical") == ["mail.eml"]
    assert workplace.ids("quillwort", "lexical") == ["mail.eml/bundle.zip/gasket.md"]
    with Catalogue(workplace.archive) as catalogue:
        version = catalogue.version(1)
        word = max(catalogue.text(version, "mail.eml/pdf_plain.pdf").split(), key=len)
        kinds = {d.doc_id: d.media_type for d in catalogue.documents(1)}
    assert "mail.eml/pdf_plain.pdf" in workplace.ids(word, "lexical")
    assert kinds["mail.eml"] == "message/rfc822"
    assert kinds["mail.eml/pdf_plain.pdf"] == "application/pdf"
    assert "mail.eml/docx_table_header_box.docx" in kinds
    mail = message()
    mail.set_content("The anodizing bath has no drawing.")
    path.write_bytes(mail.as_bytes())
    report = workplace.ingest(allow_retire=True)
    assert report.outcomes["changed"] == 1
    assert len(report.retired) == 3
    assert workplace.ids("anodizing", "lexical") == ["mail.eml"]


def test_messages_are_followed_to_the_depth_of_containers(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("level 0")
    mail.add_attachment("deepest", filename="deep.txt")
    for level in range(1, MAX_DEPTH + 1):
        outer = message()
        outer.replace_header("Subject", f"level {level}")
        outer.set_content("see below")
        outer.add_attachment(mail)
        mail = outer
    path = saved(tmp_path, mail)
    into = tmp_path / "into"
    into.mkdir()
    assert container_kind(path) == "mail"
    held = unpack(path, into)
    assert [member.name.decode() for member in held.members] == [
        "",
        "level 2.eml",
        "level 2.eml/level 1.eml",
        "level 2.eml/level 1.eml/Válvula AX-2041 — torque.eml",
    ]
    assert held.members[0].path == path
    assert [name for name, _ in held.skipped] == [held.members[-1].name + b"/deep.txt"]
