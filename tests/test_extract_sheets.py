"""Spreadsheets: cells as they are shown, rows that can be cited, and no work without end."""

from __future__ import annotations

import re
import time
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from odf.opendocument import OpenDocumentSpreadsheet
from odf.style import Style, TableProperties
from odf.table import Table, TableCell, TableRow
from odf.text import P

from corpus.document import Extracted
from corpus.errors import NotExtractable
from corpus.extract import extract
from corpus.extract.number_format import shown
from corpus.extract.sheet_rows import MAX_CELL_CHARACTERS
from tests.test_extract_archive import assert_sound


def blocks(extracted: Extracted) -> list[tuple[str, str]]:
    assert_sound(extracted, False)
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def test_leading_zeros_and_dates_are_read_as_shown(shared: Path) -> None:
    """lab-08 (reading): ids that look like numbers stay what they are."""
    extracted = extract(shared / "cases/files/xlsx_leading_zero.xlsx")
    assert blocks(extracted) == [
        ("heading", "Sheet"),
        ("row", "Row 1 | code | qty | date"),
        ("row", "Row 2 | code: 00742 | qty: 3 | date: 2024-02-29"),
        ("row", "Row 3 | code: 1E5 | qty: 1"),
    ]
    assert extracted.title == "xlsx_leading_zero"
    assert extracted.media_type.endswith("spreadsheetml.sheet")


def test_numbers_are_shown_by_their_formats(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Parts"
    sheet.append(["part", "price", "share", "made", "hours"])
    sheet.append([742, 1234.5, 0.125, datetime(2024, 2, 29, 13, 5), 1.5])
    for column, code in zip(
        "ABCDE", ("00000", '#,##0.00 "€"', "0.0%", "dd/mm/yyyy hh:mm", "[h]:mm"), strict=True
    ):
        sheet[f"{column}2"].number_format = code
    book.save(tmp_path / "a.xlsx")
    assert blocks(extract(tmp_path / "a.xlsx"))[2] == (
        "row",
        "Row 2 | part: 00742 | price: 1,234.50 € | share: 12.5% | "
        "made: 29/02/2024 13:05 | hours: 36:00",
    )


def test_formulas_are_read_by_the_value_that_was_stored(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("Sums")
    sheet.write_row(0, 0, ["name", "total", "found"])
    sheet.write(1, 0, "valve")
    sheet.write_formula(1, 1, "=SUM(2,3)", None, 5)
    sheet.write_formula(1, 2, "=NA()", None, "#N/A")
    sheet.write_string(2, 0, "=1+1")
    sheet.write_boolean(2, 1, True)
    book.close()
    assert [text for _, text in blocks(extract(tmp_path / "a.xlsx"))][2:] == [
        "Row 2 | name: valve | total: 5 | found: #N/A",
        "Row 3 | name: =1+1 | total: TRUE",
    ]


def test_formulas_that_nobody_calculated_are_noted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["total", "=SUM(1,2)"])
    book.save(tmp_path / "a.xlsx")
    extracted = extract(tmp_path / "a.xlsx")
    assert "SUM" not in extracted.text
    assert "1 formula has no stored value" in extracted.notes[0]


def test_every_sheet_is_a_heading_and_hidden_ones_are_noted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Pumps"
    book.active["B7"] = "HX-204"
    book.active["B8"] = "HX-205"
    hidden = book.create_sheet("Old prices")
    hidden["A1"] = "00001"
    hidden.sheet_state = "hidden"
    book.create_sheet("Nothing")
    book.properties.title = "Spare parts"
    book.save(tmp_path / "a.xlsx")
    extracted = extract(tmp_path / "a.xlsx")
    assert [(b.headings, extracted.text[b.start : b.end]) for b in extracted.blocks] == [
        (("Pumps",), "Pumps"),
        (("Pumps",), "Row 7 | HX-204"),
        (("Pumps",), "Row 8 | HX-205"),
        (("Old prices",), "Old prices"),
        (("Old prices",), "Row 1 | 00001"),
    ]
    assert extracted.notes == ("the sheet 'Old prices' is hidden in the file and was read",)
    assert extracted.title == "Spare parts"


def test_a_title_above_the_header_does_not_take_its_place(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Bill of materials"], [], ["part", "torque"], ["AX-2041", "45 N·m"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert [text for _, text in blocks(extract(tmp_path / "a.xlsx"))] == [
        "Sheet",
        "Row 1 | Bill of materials",
        "Row 3 | part | torque",
        "Row 4 | part: AX-2041 | torque: 45 N·m",
    ]


def test_rich_text_line_ends_and_escapes_are_text(tmp_path: Path) -> None:
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet()
    bold = book.add_format({"bold": True})
    sheet.write_rich_string(0, 0, "AX-", bold, "2041", "/B")
    sheet.write_string(1, 0, "one\ntwo\x07three")
    book.close()
    text = extract(tmp_path / "a.xlsx").text
    assert "AX-2041/B" in text
    assert "one two three" in text


def sheet_of(tmp_path: Path, name: str, rows: str, strings: str = "") -> Path:
    """A workbook whose one sheet and shared strings are given as markup."""
    made = tmp_path / "made.xlsx"
    book = xlsxwriter.Workbook(str(made))
    book.add_worksheet("S").write(0, 0, "x")
    book.close()
    path = tmp_path / name
    with (
        zipfile.ZipFile(made) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for entry in source.namelist():
            data = source.read(entry).decode()
            if entry.endswith("sheet1.xml"):
                data = re.sub(r"<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData>", data)
            elif entry.endswith("sharedStrings.xml") and strings:
                data = re.sub(r"<si>.*</si>", strings, data)
            target.writestr(entry, data)
    return path


def test_a_million_empty_rows_are_quick(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}"/>' for n in range(1, 300_000)) + (
        '<row r="1048576"><c r="XFD1048576" t="str"><v>far away</v></c></row>'
    )
    path = sheet_of(tmp_path, "a.xlsx", rows)
    started = time.process_time()
    assert extract(path).text == "S\n\nRow 1048576 | far away"
    assert time.process_time() - started < 10


def test_one_long_text_repeated_without_end_is_refused(tmp_path: Path) -> None:
    cells = "<row>" + '<c t="s"><v>0</v></c>' * 100 + "</row>"
    count = MAX_CELL_CHARACTERS // (100 * 30_000) + 2
    path = sheet_of(tmp_path, "a.xlsx", cells * count, f"<si><t>{'x' * 30_000}</t></si>")
    with pytest.raises(NotExtractable, match="million characters"):
        extract(path)


def test_an_entity_in_a_part_that_is_not_called_xml_is_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret")
    path = sheet_of(tmp_path, "a.xlsx", '<row r="1"><c t="str"><v>plain</v></c></row>')
    evil = tmp_path / "evil.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(evil, "w") as target:
        for entry in source.namelist():
            data = source.read(entry).decode()
            if entry.endswith("workbook.xml.rels"):
                data = data.replace("sheet1.xml", "sheet1.bin")
            if entry.endswith("sheet1.xml"):
                entry = entry.replace(".xml", ".bin")
                declared = f'<!DOCTYPE w [<!ENTITY x SYSTEM "{secret.as_uri()}"><!ENTITY y "yy">]>'
                data = data.replace("?>", f"?>{declared}", 1).replace("plain", "plain&x;&y;")
            target.writestr(entry, data)
    assert extract(evil).text == "S\n\nRow 1 | plain"


@pytest.mark.parametrize(
    ("raw", "code", "text"),
    [
        ("742", "General", "742"),
        ("0.30000000000000004", "General", "0.3"),
        ("9007199254740993", "General", "9007199254740993"),
        ("1E+25", "General", "1E+25"),
        ("0.000012", "General", "0.000012"),
        ("-5", "#,##0;(#,##0)", "(5)"),
        ("-5.5", "0.00", "-5.50"),
        ("12.5", ".00", "12.50"),
        ("2.675", "0.00", "2.68"),
        ("1234567", '0.0,,"M"', "1.2M"),
        ("123456789", "000-00-0000", "123-45-6789"),
        ("12345", "0.00E+00", "1.23E+04"),
        ("9.999", "0.00E+00", "1.00E+01"),
        ("12345", "##0.0E+0", "12.3E+3"),
        ("1.375", "# ?/?", "1 3/8"),
        ("1.375", "# ??/16", "1 6/16"),
        ("150", '[>100]"over "0;0.0', "over 150"),
        ("-40", '0" °C"', "-40 °C"),
        ("5", "[$€-407] #,##0.00", "€ 5.00"),
        ("7", "[Red]0", "7"),
        ("5", ";;;", ""),
        ("45351", "dd.mm.yyyy", "29.02.2024"),
        ("45351", '[$-409]d mmm yyyy" AD"', "29 Feb 2024 AD"),
        ("45351.75", "h:mm AM/PM", "6:00 PM"),
        ("0.0007", "mm:ss.0", "01:00.5"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("-3", "dd/mm/yyyy", "-3"),
        ("2958465.9999999", "yyyy-mm-dd h:mm", "2958465.9999999"),
        ("not a number", "0.00", "not a number"),
        ("1E+400", "0", "1E+400"),
    ],
)
def test_a_number_looks_as_its_cell_does(raw: str, code: str, text: str) -> None:
    assert shown(raw, code) == text


def test_days_are_counted_from_1904_where_the_workbook_says_so(tmp_path: Path) -> None:
    assert shown("0", "yyyy-mm-dd", from_1904=True) == "1904-01-01"
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active["A1"] = date(2024, 2, 29)
    book.save(tmp_path / "a.xlsx")
    assert extract(tmp_path / "a.xlsx").text == "Sheet\n\nRow 1 | 2024-02-29"


@given(st.integers(min_value=1, max_value=2_958_000), st.integers(min_value=0, max_value=86_399))
def test_dates_agree_with_those_of_openpyxl(day: int, second: int) -> None:
    """An oracle: days from March 1900 on, to the second."""
    day += 60
    serial = repr(day + second / 86_400)
    expected = openpyxl.utils.datetime.from_excel(float(serial))
    assert shown(serial, "yyyy-mm-dd hh:mm:ss") == expected.strftime("%Y-%m-%d %H:%M:%S").rjust(
        19, "0"
    )


@given(
    st.decimals(allow_nan=True), st.text(alphabet='0#?.,%/E+-"\\_*[]$;@hmsydAMP >1', max_size=20)
)
def test_any_code_shows_any_number_somehow(number: object, code: str) -> None:
    assert isinstance(shown(str(number), code), str)


@given(st.integers(min_value=-(10**14), max_value=10**14), st.integers(min_value=0, max_value=4))
def test_thousands_and_decimals_agree_with_those_of_python(units: int, places: int) -> None:
    code = "#,##0" + ("." + "0" * places if places else "")
    value = units / 10**places
    if len(str(abs(units))) <= 15:
        assert shown(repr(value), code).lstrip("-") == f"{abs(value):,.{places}f}"


def open_document_cell(text: str, **attributes: object) -> TableCell:
    cell = TableCell(**attributes)
    cell.addElement(P(text=text))
    return cell


def test_an_open_document_sheet_is_read_like_any_other(tmp_path: Path) -> None:
    book = OpenDocumentSpreadsheet()
    hiding = Style(name="ta2", family="table")
    hiding.addElement(TableProperties(display="false"))
    book.automaticstyles.addElement(hiding)
    sheet = Table(name="Válvulas")
    header = TableRow()
    for text in ("code", "torque", "torque unit"):
        header.addElement(open_document_cell(text))
    sheet.addElement(header)
    sheet.addElement(TableRow(numberrowsrepeated=1_000_000))
    row = TableRow(numberrowsrepeated=3)
    row.addElement(open_document_cell("00742", valuetype="string"))
    row.addElement(TableCell(numbercolumnsrepeated=1))
    row.addElement(open_document_cell("45.00", valuetype="float", value="45"))
    row.addElement(TableCell(numbercolumnsrepeated=16_381))
    sheet.addElement(row)
    book.spreadsheet.addElement(sheet)
    hidden = Table(name="Old", stylename="ta2")
    one = TableRow()
    one.addElement(open_document_cell("AX-1"))
    hidden.addElement(one)
    book.spreadsheet.addElement(hidden)
    book.save(str(tmp_path / "a.ods"))
    extracted = extract(tmp_path / "a.ods")
    assert blocks(extracted) == [
        ("heading", "Válvulas"),
        ("row", "Row 1 | code | torque | torque unit"),
        ("row", "Rows 1000002-1000004 | code: 00742 | torque unit: 45.00"),
        ("heading", "Old"),
        ("row", "Row 1 | AX-1"),
    ]
    assert extracted.notes == ("the sheet 'Old' is hidden in the file and was read",)
